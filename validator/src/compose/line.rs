//! One line of text. It must never contain a line end, so it cannot begin another line.

use std::fmt;
use std::str::FromStr;

use model::{DeceptiveChar, deceptive_kind};

/// Text without line ends and control characters other than tabs; it may be empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OneLine(String);

/// The error of text that contains a line end or a control character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotOneLine(char);

impl fmt::Display for NotOneLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => f.write_str("more than one line"),
            other => write!(f, "contains the control character {}", other.escape_unicode()),
        }
    }
}

impl std::error::Error for NotOneLine {}

impl OneLine {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OneLine {
    type Err = NotOneLine;

    fn from_str(text: &str) -> Result<Self, NotOneLine> {
        let unfit = |c: &char| {
            matches!(deceptive_kind(*c), Some(DeceptiveChar::Nul | DeceptiveChar::Control))
        };
        match text.chars().find(unfit) {
            Some(c) => Err(NotOneLine(c)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for OneLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
