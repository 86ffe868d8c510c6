//! The values of artifact fields. Such a value must never exist unless the field's schema allows
//! its text or number.

use std::fmt;

use model::UtcTime;
use serde::Deserialize;
use validator::JSON_INTEGER_MAX;

use super::uri::normal_form;

const TEXT_BYTES_MAX: usize = 64 * 1024;
const URI_BYTES_MAX: usize = 2048;

/// A text that is not empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct NonEmptyText(String);

/// An identifier with a scheme: a URN, a DID, a URL. Two are equal if they identify the same
/// object, in any spelling.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Uri {
    text: String,
    normal_form: String,
}

impl PartialEq for Uri {
    fn eq(&self, other: &Self) -> bool {
        self.normal_form == other.normal_form
    }
}

impl Eq for Uri {}

/// A whole number from 0 to 2^53 - 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "u64")]
pub struct JsonCount(u64);

/// A number from 0 to 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Deserialize)]
#[serde(try_from = "f64")]
pub struct Fraction(f64);

/// An RFC 3339 time in UTC (`Z`). Fractions of a second are dropped, which can only make an end
/// earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct ArtifactTime(UtcTime);

impl TryFrom<String> for NonEmptyText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.len() {
            0 => Err("an empty text".to_owned()),
            length if length > TEXT_BYTES_MAX => Err("a text of more than 64 KiB".to_owned()),
            _ => Ok(Self(text)),
        }
    }
}

impl TryFrom<String> for Uri {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let scheme = text.split_once(':').map(|(scheme, rest)| (scheme.as_bytes(), rest));
        let good = scheme.is_some_and(|(scheme, rest)| {
            let begins = scheme.first().is_some_and(u8::is_ascii_alphabetic);
            let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            begins && scheme.iter().all(part) && !rest.is_empty()
        });
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte);
        if good && text.len() <= URI_BYTES_MAX && text.bytes().all(plain) {
            Ok(Self { normal_form: normal_form(&text), text })
        } else {
            Err(format!("`{}` is not a URI", shown(&text)))
        }
    }
}

impl TryFrom<u64> for JsonCount {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        if number > JSON_INTEGER_MAX {
            return Err(format!("{number} is beyond 2^53 - 1"));
        }
        Ok(Self(number))
    }
}

impl TryFrom<f64> for Fraction {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        if (0.0..=1.0).contains(&number) {
            Ok(Self(number))
        } else {
            Err(format!("{number} is not from 0 to 1"))
        }
    }
}

impl TryFrom<String> for ArtifactTime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let whole = match text.split_once('.') {
            None => Some(text.clone()),
            Some((whole, rest)) => rest
                .strip_suffix('Z')
                .filter(|digits| (1..=9).contains(&digits.len()))
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
                .map(|_| format!("{whole}Z")),
        };
        let time = whole.and_then(|whole| whole.parse().ok());
        time.map(Self).ok_or_else(|| format!("`{}` is not an RFC 3339 time in UTC", shown(&text)))
    }
}

fn shown(text: &str) -> String {
    model::escape_line(&text.chars().take(80).collect::<String>())
}

impl NonEmptyText {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Uri {
    /// Returns the text as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl JsonCount {
    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

impl Fraction {
    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl ArtifactTime {
    /// Returns the time in whole seconds.
    #[must_use]
    pub fn utc(self) -> UtcTime {
        self.0
    }
}

impl fmt::Display for NonEmptyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for ArtifactTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
