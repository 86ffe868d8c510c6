//! Names of environments, and references that bind a name to a digest. A reference must never be
//! read from a text that it would not write again: two texts never name one environment.

use std::fmt;
use std::str::FromStr;

use model::Sha256;

const NAME_BYTES_MAX: usize = 40;

/// The word before the digest, as in `sha256:3f1c…`.
pub(crate) const DIGEST_PREFIX: &str = "sha256:";

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

/// A name and the digest of the environment that it means, as in `charts@sha256:3f1c…`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EnvironmentReference {
    /// The name.
    pub name: EnvironmentName,
    /// The digest of the environment.
    pub sha256: Sha256,
}

impl fmt::Display for EnvironmentReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{DIGEST_PREFIX}{}", self.name, self.sha256)
    }
}

impl FromStr for EnvironmentReference {
    type Err = NotAnEnvironmentReference;

    fn from_str(text: &str) -> Result<Self, NotAnEnvironmentReference> {
        let (name, digest) = text.split_once('@').ok_or(NotAnEnvironmentReference)?;
        let hex = digest.strip_prefix(DIGEST_PREFIX).ok_or(NotAnEnvironmentReference)?;
        let name = name.parse().map_err(|_| NotAnEnvironmentReference)?;
        let sha256 = parse_digest(hex).ok_or(NotAnEnvironmentReference)?;
        Ok(Self { name, sha256 })
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

/// Reads 64 lower-case hexadecimal digits.
pub(crate) fn parse_digest(hex: &str) -> Option<Sha256> {
    let lower = !hex.bytes().any(|byte| byte.is_ascii_uppercase());
    hex.parse().ok().filter(|_| lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_lower_case_words() {
        for name in ["a", "0", "charts", "py3-data-2", &"n".repeat(40)] {
            assert_eq!(name.parse::<EnvironmentName>().unwrap().to_string(), name);
        }
        for text in ["", "-a", "A", "a_b", "a.b", "a/b", "a b", "é", "..", &"n".repeat(41)] {
            assert_eq!(text.parse::<EnvironmentName>(), Err(NotAnEnvironmentName), "{text}");
        }
    }

    #[test]
    fn a_reference_has_one_text() {
        let sha256 = Sha256::of(b"");
        let text = format!("charts@sha256:{sha256}");
        let reference: EnvironmentReference = text.parse().unwrap();
        assert_eq!((reference.name.as_str(), reference.sha256), ("charts", sha256));
        assert_eq!(reference.to_string(), text);
        let upper = sha256.to_string().to_uppercase();
        let wrong = [
            "charts".to_owned(),
            format!("charts:{sha256}"),
            format!("charts@{sha256}"),
            format!("charts@sha256:{upper}"),
            format!("@sha256:{sha256}"),
            format!("charts@sha256:{sha256}0"),
            format!("charts@sha256:{sha256}\n"),
        ];
        for text in wrong {
            let read = text.parse::<EnvironmentReference>();
            assert_eq!(read, Err(NotAnEnvironmentReference), "{text}");
        }
    }
}
