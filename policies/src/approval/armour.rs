//! The text form of a signature: base64 between two lines. It must be read exactly as OpenSSH does.
//! Otherwise a file could contain one signature for us and another for other verifiers.

use base64ct::{Base64, Encoding};

const BEGIN: &[u8] = b"-----BEGIN SSH SIGNATURE-----\n";
const END: &[u8] = b"\n-----END SSH SIGNATURE-----";

/// Returns the bytes inside the armour, ignoring blanks and line ends in it and text after it.
pub(super) fn decode(armoured: &[u8]) -> Option<Vec<u8>> {
    let rest = armoured.strip_prefix(BEGIN)?;
    let end = rest.windows(END.len()).position(|window| window == END)?;
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let base64: Vec<u8> = rest.iter().take(end).filter(|it| !blank(it)).copied().collect();
    Base64::decode_vec(std::str::from_utf8(&base64).ok()?).ok()
}
