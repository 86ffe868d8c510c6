//! Names of environments, and references that bind a name to a digest. A reference must never be
//! read from a text that it would not write again: two texts never name one environment.

use std::fmt;
use std::str::FromStr;

use crate::digest::Sha256;

const NAME_BYTES_MAX: usize = 40;

/// The name of an environment: 1 to 40 of `a-z`, `0-9` and `-`, of which the first is not `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EnvironmentName(String);

impl EnvironmentName {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EnvironmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for EnvironmentName {
    type Err = NotAnEnvironmentName;

    fn from_str(text: &str) -> Result<Self, NotAnEnvironmentName> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins = text.bytes().next().is_some_and(is_word);
        let allowed = text.bytes().all(|byte| is_word(byte) || byte == b'-');
        match begins && allowed && text.len() <= NAME_BYTES_MAX {
            true => Ok(Self(text.to_owned())),
            false => Err(NotAnEnvironmentName),
        }
    }
}

/// The error for a text that is not the name of an environment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAnEnvironmentName;

impl fmt::Display for NotAnEnvironmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the name of an environment; help: use 1 to 40 of a-z, 0-9 and `-`")
    }
}

impl std::error::Error for NotAnEnvironmentName {}

/// A name and the digest of the environment that it means, as in `charts@sha256:3f1c…`. The digest
/// decides; the name is for people.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EnvironmentReference {
    /// The name.
    pub name: EnvironmentName,
    /// The digest of the environment.
    pub sha256: Sha256,
}

impl fmt::Display for EnvironmentReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@sha256:{}", self.name, self.sha256)
    }
}

impl FromStr for EnvironmentReference {
    type Err = NotAnEnvironmentReference;

    fn from_str(text: &str) -> Result<Self, NotAnEnvironmentReference> {
        let (name, digest) = text.split_once("@sha256:").ok_or(NotAnEnvironmentReference)?;
        let name = name.parse().map_err(|_| NotAnEnvironmentReference)?;
        let sha256: Sha256 = digest.parse().map_err(|_| NotAnEnvironmentReference)?;
        // One spelling of each reference: the digits of a digest may be capitals elsewhere.
        match sha256.to_string() == digest {
            true => Ok(Self { name, sha256 }),
            false => Err(NotAnEnvironmentReference),
        }
    }
}

/// The error for a text that is not a reference to an environment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAnEnvironmentReference;

impl fmt::Display for NotAnEnvironmentReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a reference to an environment; help: write NAME@sha256: and 64 lower-case \
             hexadecimal digits",
        )
    }
}

impl std::error::Error for NotAnEnvironmentReference {}
