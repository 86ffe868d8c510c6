//! One macro for closed sets of values with stable texts. Each value is one line with its name,
//! text and documentation; the list, the parser and the serde implementations follow from it.

use std::fmt;

/// A closed set of values with stable texts. [`closed_set!`](crate::closed_set) implements it.
pub trait ClosedSet: Copy + PartialEq + 'static {
    /// The name of the type, as schemas call it.
    const NAME: &'static str;
    /// Every value, in the order of the definition.
    const ALL: &'static [Self];
    /// The texts, in the same order.
    const TEXTS: &'static [&'static str];

    /// The stable text.
    fn as_str(self) -> &'static str;
}

/// The error for a text that is not in a closed set. Holds the allowed texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotInSet(pub &'static [&'static str]);

impl fmt::Display for NotInSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not one of ")?;
        for (index, text) in self.0.iter().enumerate() {
            write!(f, "{}{text}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for NotInSet {}

/// Defines an enum whose values have stable texts: the enum, `ALL`, `TEXTS`, `as_str`, `named`,
/// `Display`, `FromStr` and [`ClosedSet`]. Derives `Clone`, `Copy`, `PartialEq`, `Eq` and `Debug`.
///
/// ```
/// model::closed_set! {
///     /// A colour of a traffic light.
///     #[derive(PartialOrd, Ord)]
///     pub enum Light {
///         /// Stop.
///         Red = "red",
///         /// Go.
///         Green = "green",
///     }
/// }
/// assert_eq!(Light::ALL, [Light::Red, Light::Green]);
/// assert_eq!("green".parse(), Ok(Light::Green));
/// assert_eq!(Light::Red.to_string(), "red");
/// ```
///
/// `Red = "red": "Stop."` adds the documentation as a second column, which `meaning` returns.
///
/// `Code(u8: 1) = "code"` is a value that carries another one. `ALL` lists it with the value after
/// the colon. Such a set has no parser, because its texts do not contain the carried value.
#[macro_export]
macro_rules! closed_set {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $value:ident = $text:literal,)+
    }) => {
        $crate::closed_set! { @set $(#[$about])* $vis enum $name {
            $($(#[$doc])* $value = $text,)+
        } }
        $crate::closed_set! { @parse $vis enum $name }
    };
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($value:ident = $text:literal: $meaning:literal,)+
    }) => {
        $crate::closed_set! { @set $(#[$about])* $vis enum $name {
            $(#[doc = $meaning] $value = $text,)+
        } }
        $crate::closed_set! { @parse $vis enum $name }

        impl $name {
            /// Returns the meaning in one sentence.
            #[must_use]
            $vis fn meaning(self) -> &'static str {
                match self { $(Self::$value => $meaning,)+ }
            }
        }
    };
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $value:ident $(($carried:ty: $listed:expr))? = $text:literal,)+
    }) => {
        $crate::closed_set! { @set $(#[$about])* $vis enum $name {
            $($(#[$doc])* $value $(($carried: $listed))? = $text,)+
        } }
    };
    (@set $(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $value:ident $(($carried:ty: $listed:expr))? = $text:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name {
            $($(#[$doc])* $value $(($carried))?,)+
        }

        #[allow(dead_code, reason = "every set has all of these, used or not")]
        impl $name {
            /// Every value, in the order of the definition.
            $vis const ALL: &'static [Self] = &[$(Self::$value $(($listed))?,)+];
            /// The texts, in the same order.
            $vis const TEXTS: &'static [&'static str] = &[$($text,)+];

            /// The stable text.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value { .. } => $text,)+
                }
            }
        }

        impl $crate::ClosedSet for $name {
            const NAME: &'static str = stringify!($name);
            const ALL: &'static [Self] = Self::ALL;
            const TEXTS: &'static [&'static str] = Self::TEXTS;

            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
    (@parse $vis:vis enum $name:ident) => {
        #[allow(dead_code, reason = "every set has all of these, used or not")]
        impl $name {
            /// The value with exactly this text.
            #[must_use]
            $vis fn named(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::NotInSet;

            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::NotInSet> {
                Self::named(text).ok_or($crate::NotInSet(Self::TEXTS))
            }
        }
    };
}

/// Implements `serde::Serialize` for closed sets, as their texts. The caller's crate needs `serde`.
/// This crate does not depend on it, because the launcher links this crate.
#[macro_export]
macro_rules! serialize_closed_set {
    ($($name:ty),+ $(,)?) => {$(
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    )+};
}

/// Implements `serde::Deserialize`, which accepts only the texts. The caller's crate needs `serde`.
#[macro_export]
macro_rules! deserialize_closed_set {
    ($($name:ty),+ $(,)?) => {$(
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                <$name>::named(&text).ok_or_else(|| {
                    <D::Error as ::serde::de::Error>::unknown_variant(&text, <$name>::TEXTS)
                })
            }
        }
    )+};
}
