//! Contents with a NUL byte, as git writes them: deflated, in its base 85.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::error::PatchError;
use crate::output::BoundedOutput;

const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// The first character of a line is its number of bytes.
const LENGTHS: &[u8; LINE_BYTES] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LINE_BYTES: usize = 52;

/// Writes both versions whole: the first makes the later version, the second the earlier one.
pub(crate) fn write_binary<W: Write>(
    out: &mut BoundedOutput<W>,
    before: &[u8],
    after: &[u8],
) -> Result<(), PatchError> {
    out.line("GIT binary patch")?;
    write_literal(out, after)?;
    write_literal(out, before)
}

fn write_literal<W: Write>(out: &mut BoundedOutput<W>, bytes: &[u8]) -> Result<(), PatchError> {
    out.line(&format!("literal {}", bytes.len()))?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    for part in encoder.finish()?.chunks(LINE_BYTES) {
        out.write(&encoded_line(part))?;
    }
    out.write(b"\n")
}

/// Returns one line of at most 52 bytes.
fn encoded_line(bytes: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(2 + LINE_BYTES / 4 * 5);
    line.extend(bytes.len().checked_sub(1).and_then(|at| LENGTHS.get(at)));
    for group in bytes.chunks(4) {
        line.extend(encoded_group(group));
    }
    line.push(b'\n');
    line
}

/// Returns the five digits of up to four bytes. Absent bytes count as zeros.
fn encoded_group(bytes: &[u8]) -> [u8; 5] {
    let mut word = [0; 4];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    let mut value = u32::from_be_bytes(word);
    let mut digits = [b'0'; 5];
    for digit in digits.iter_mut().rev() {
        let found = usize::try_from(value % 85).ok().and_then(|at| DIGITS.get(at));
        *digit = *found.unwrap_or(&b'0');
        value /= 85;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Git writes this line for an empty file.
    #[test]
    fn a_line_is_that_of_git() {
        assert_eq!(encoded_line(&[0x78, 1, 3, 0, 0, 0, 0, 1]), b"HcmV?d00001\n");
        assert_eq!(encoded_group(&[255; 4]), *b"|NsC0");
        assert_eq!(encoded_group(&[]), *b"00000");
    }

    #[test]
    fn a_line_begins_with_its_length() {
        for (length, first) in [(1, b'A'), (26, b'Z'), (27, b'a'), (52, b'z')] {
            let line = encoded_line(&vec![7; length]);
            assert_eq!(line.first(), Some(&first));
            assert_eq!(line.len(), 2 + length.div_ceil(4) * 5);
        }
    }
}
