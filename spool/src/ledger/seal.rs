//! The checksum at the end of a ledger line. It covers the line and every line above it: after a
//! changed bit or a removed line, a later check fails. Lines of an earlier version have none; the
//! next line with a checksum covers them.

use std::fmt;

use model::Sha256Stream;

/// The checksum of a line and of all lines above it: half of a SHA-256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum([u8; SUM_BYTES]);

const SUM_BYTES: usize = 16;
pub(super) const SUM_DIGITS: usize = 2 * SUM_BYTES;
/// A line is a JSON object. Its checksum is the last member, and covers all bytes before this text.
const BEFORE: &[u8] = b",\"sum\":\"";
const AFTER: &[u8] = b"\"}";

impl Sum {
    pub(super) fn then(self, content: &[u8]) -> Self {
        let mut stream = Sha256Stream::new();
        stream.update(&self.0);
        stream.update(content);
        let mut half = [0; SUM_BYTES];
        half.copy_from_slice(&stream.finish().as_bytes()[..SUM_BYTES]);
        Self(half)
    }

    pub(crate) fn of(bytes: [u8; SUM_BYTES]) -> Self {
        Self(bytes)
    }

    /// Parses lower-case hexadecimal digits only, so that each checksum has one form.
    pub(super) fn parse(digits: &[u8]) -> Option<Self> {
        let digits = std::str::from_utf8(digits).ok()?;
        let mut sum = [0; SUM_BYTES];
        for (byte, at) in sum.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
        }
        let sum = Self(sum);
        (sum.to_string() == digits).then_some(sum)
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A line without its checksum.
pub(super) struct Opened {
    pub(super) json: Vec<u8>,
    /// The checksum of the line and all lines above it.
    pub(super) sum: Sum,
    pub(super) seal: Seal,
}

/// The state of a line's checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Seal {
    /// No checksum: an earlier version wrote the line, or the line is missing.
    #[default]
    None,
    Good,
    /// The line, or one above it, was changed.
    Wrong,
}

/// Appends the checksum and the line feed to a JSON object.
pub(super) fn seal(mut json: Vec<u8>, above: Sum) -> (Vec<u8>, Sum) {
    json.pop();
    let sum = above.then(&json);
    json.extend_from_slice(BEFORE);
    json.extend_from_slice(sum.to_string().as_bytes());
    json.extend_from_slice(AFTER);
    json.push(b'\n');
    (json, sum)
}

/// Splits a line without its line feed. After a wrong checksum the one in the line is used for the
/// lines below, so that each is checked on its own.
pub(super) fn open(line: &[u8], above: Sum) -> Opened {
    let Some((content, stands)) = split(line) else {
        return Opened { json: line.to_vec(), sum: above.then(line), seal: Seal::None };
    };
    let seal = if above.then(content) == stands { Seal::Good } else { Seal::Wrong };
    let mut json = content.to_vec();
    json.push(b'}');
    Opened { json, sum: stands, seal }
}

fn split(line: &[u8]) -> Option<(&[u8], Sum)> {
    let rest = line.strip_suffix(AFTER)?;
    let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(SUM_DIGITS)?)?;
    Some((rest.strip_suffix(BEFORE)?, Sum::parse(digits)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_opens_as_it_was_sealed_and_no_flipped_bit_of_it_passes() {
        let above = Sum::default().then(b"above");
        let (line, sum) = seal(br#"{"a":1}"#.to_vec(), above);
        let whole = line.strip_suffix(b"\n").unwrap_or_default();
        let opened = open(whole, above);
        assert_eq!((opened.json.as_slice(), opened.sum), (br#"{"a":1}"#.as_slice(), sum));
        assert_eq!(opened.seal, Seal::Good);
        assert_eq!(open(whole, Sum::default()).seal, Seal::Wrong);
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(open(&flipped, above).seal, Seal::Good, "bit {bit}");
        }
    }
}
