//! The checksum at the end of a ledger line. It covers the line and every line above it: after a
//! changed bit or a removed line, a later check fails. Lines of an earlier version have none; the
//! next line with a checksum covers them.

use std::fmt;

use model::Sha256Stream;

/// The checksum of a line and of all lines above it: half of a SHA-256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineChecksum([u8; CHECKSUM_BYTES]);

const CHECKSUM_BYTES: usize = 16;
pub(super) const CHECKSUM_DIGITS: usize = 2 * CHECKSUM_BYTES;
/// A line is a JSON object. Its checksum is the last member, and covers all bytes before this text.
const BEFORE: &[u8] = b",\"sum\":\"";
const AFTER: &[u8] = b"\"}";

impl LineChecksum {
    pub(super) fn then(self, content: &[u8]) -> Self {
        let mut stream = Sha256Stream::new();
        stream.update(&self.0);
        stream.update(content);
        let mut half = [0; CHECKSUM_BYTES];
        half.copy_from_slice(&stream.finish().as_bytes()[..CHECKSUM_BYTES]);
        Self(half)
    }

    pub(crate) fn of(bytes: [u8; CHECKSUM_BYTES]) -> Self {
        Self(bytes)
    }

    /// Parses lower-case hexadecimal digits only, so that each checksum has one form.
    pub(super) fn parse(digits: &[u8]) -> Option<Self> {
        let digits = std::str::from_utf8(digits).ok()?;
        let mut sum = [0; CHECKSUM_BYTES];
        for (byte, at) in sum.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
        }
        let sum = Self(sum);
        (sum.to_string() == digits).then_some(sum)
    }
}

impl fmt::Display for LineChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub(super) struct UnsealedLine {
    pub(super) json: Vec<u8>,
    pub(super) sum: LineChecksum,
    pub(super) seal: SealState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SealState {
    /// No checksum: an earlier version wrote the line, or the line is missing.
    #[default]
    None,
    Good,
    /// The line, or one above it, was changed.
    Wrong,
}

/// Appends the checksum and the line feed to a JSON object.
pub(super) fn seal(mut json: Vec<u8>, above: LineChecksum) -> (Vec<u8>, LineChecksum) {
    json.pop();
    let sum = above.then(&json);
    json.extend_from_slice(BEFORE);
    json.extend_from_slice(sum.to_string().as_bytes());
    json.extend_from_slice(AFTER);
    json.push(b'\n');
    (json, sum)
}

/// Splits a line without its line feed. Lines below a wrong checksum are checked against it.
pub(super) fn unseal(line: &[u8], above: LineChecksum) -> UnsealedLine {
    let Some((content, stands)) = split(line) else {
        return UnsealedLine { json: line.to_vec(), sum: above.then(line), seal: SealState::None };
    };
    let seal = if above.then(content) == stands { SealState::Good } else { SealState::Wrong };
    let mut json = content.to_vec();
    json.push(b'}');
    UnsealedLine { json, sum: stands, seal }
}

fn split(line: &[u8]) -> Option<(&[u8], LineChecksum)> {
    let rest = line.strip_suffix(AFTER)?;
    let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(CHECKSUM_DIGITS)?)?;
    Some((rest.strip_suffix(BEFORE)?, LineChecksum::parse(digits)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_opens_as_it_was_sealed_and_no_flipped_bit_of_it_passes() {
        let above = LineChecksum::default().then(b"above");
        let (line, sum) = seal(br#"{"a":1}"#.to_vec(), above);
        let whole = line.strip_suffix(b"\n").unwrap_or_default();
        let opened = unseal(whole, above);
        assert_eq!((opened.json.as_slice(), opened.sum), (br#"{"a":1}"#.as_slice(), sum));
        assert_eq!(opened.seal, SealState::Good);
        assert_eq!(unseal(whole, LineChecksum::default()).seal, SealState::Wrong);
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(unseal(&flipped, above).seal, SealState::Good, "bit {bit}");
        }
    }
}
