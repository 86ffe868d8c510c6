//! Code that the crates' tests of their messages share: a list of errors that the compiler checks for
//! completeness, and the comparison with a file. Crates include it by path, for none may depend on `tests/`.

#![allow(dead_code, reason = "not every crate has an error of each form")]

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// A text and what it is the text of.
pub(crate) type Named = (&'static str, String);

/// `Type::Variant` and its text, for each of these values. A missing variant does not compile; one that a test
/// cannot make is named after `without`.
macro_rules! every {
    ($type:ident:
        $($variant:ident $({ $($field:ident: $value:expr),* $(,)? })? $(( $($part:expr),* $(,)? ))?),* $(,)?
        $(; without $($other:ident),+)?
    ) => {{
        #[allow(unreachable_patterns, reason = "a variant may come twice, with other values")]
        let _complete = |it: &$type| match it {
            $($type::$variant { .. } => {})*
            $($($type::$other { .. } => {})+)?
        };
        vec![$((
            concat!(stringify!($type), "::", stringify!($variant)),
            $type::$variant $({ $($field: $value),* })? $(( $($part),* ))?.to_string(),
        )),*]
    }};
}
pub(crate) use every;

/// The text of an error that only its own module can make.
///
/// # Panics
/// The answer is not an error.
#[track_caller]
pub(crate) fn refused<T>(name: &'static str, answer: Result<T, impl Display>) -> Named {
    match answer {
        Ok(_) => panic!("{name}: was not refused"),
        Err(error) => (name, error.to_string()),
    }
}

/// A path for messages.
pub(crate) fn path() -> PathBuf {
    PathBuf::from("/some/path")
}

/// An answer of the kernel for messages.
pub(crate) fn denied() -> io::Error {
    io::Error::from_raw_os_error(13)
}

/// Compares the texts with `tests/snapshots/messages/<crate>.txt`.
#[track_caller]
pub(crate) fn assert_texts(crate_name: &str, texts: Vec<Vec<Named>>) {
    let group = |texts: Vec<Named>| {
        let lines = texts.into_iter().map(|(name, text)| format!("{name}\n    {text}\n"));
        lines.collect::<String>()
    };
    let text = texts.into_iter().map(group).collect::<Vec<_>>().join("\n");
    let file = format!("../tests/snapshots/messages/{crate_name}.txt");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let expected = snapbox::Data::read_from(&file, Some(snapbox::data::DataFormat::Text));
    snapbox::assert_data_eq!(text, expected.raw());
}
