//! The text form of a signature: base64 between two lines. It must be read exactly as OpenSSH does.
//! Otherwise a file could contain one signature for us and another for other verifiers.

use base64ct::{Base64, Encoding};

const BEGIN: &[u8] = b"-----BEGIN SSH SIGNATURE-----\n";
const END: &[u8] = b"\n-----END SSH SIGNATURE-----";

/// Returns the text after the line that ends the armour; `None` without such a line.
pub(super) fn text_after(armoured: &[u8]) -> Option<&[u8]> {
    let (rest, end) = inside(armoured)?;
    rest.get(end + END.len()..)?.strip_prefix(b"\n")
}

/// Returns the text after the first line, and the length of the armour in it.
fn inside(armoured: &[u8]) -> Option<(&[u8], usize)> {
    let rest = armoured.strip_prefix(BEGIN)?;
    Some((rest, rest.windows(END.len()).position(|window| window == END)?))
}

/// Returns the bytes inside the armour, ignoring blanks and line ends in it and text after it.
pub(super) fn decode(armoured: &[u8]) -> Option<Vec<u8>> {
    let (rest, end) = inside(armoured)?;
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let base64: Vec<u8> = rest.iter().take(end).filter(|it| !blank(it)).copied().collect();
    Base64::decode_vec(std::str::from_utf8(&base64).ok()?).ok()
}
