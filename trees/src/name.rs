//! Digests as the store writes them. A digest must never be read from a text that the store would
//! not write: two texts never name one environment.

use model::Sha256;
pub(crate) use model::{EnvironmentName, EnvironmentReference};

/// The word before the digest, as in `sha256:3f1c…`.
pub(crate) const DIGEST_PREFIX: &str = "sha256:";

/// Reads 64 lower-case hexadecimal digits.
pub(crate) fn parse_digest(hex: &str) -> Option<Sha256> {
    let lower = !hex.bytes().any(|byte| byte.is_ascii_uppercase());
    hex.parse().ok().filter(|_| lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_one_text() {
        let sha256 = Sha256::of(b"");
        let text = sha256.to_string();
        assert_eq!(parse_digest(&text), Some(sha256));
        for wrong in [text.to_uppercase(), format!("{text}0"), format!("{text}\n")] {
            assert_eq!(parse_digest(&wrong), None, "{wrong}");
        }
    }
}
