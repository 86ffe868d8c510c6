//! The text form of a signature: base64 between two lines. It must be read as OpenSSH reads it, or a
//! file could carry one signature for us and another one for whoever checks it.

use base64ct::{Base64, Encoding};

const BEGIN: &[u8] = b"-----BEGIN SSH SIGNATURE-----\n";
const END: &[u8] = b"\n-----END SSH SIGNATURE-----";

/// The bytes inside the armour; blanks and line ends inside it do not matter, nor what follows it.
pub(super) fn inside(armoured: &[u8]) -> Option<Vec<u8>> {
    let rest = armoured.strip_prefix(BEGIN)?;
    let end = rest.windows(END.len()).position(|window| window == END)?;
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let base64: Vec<u8> = rest.iter().take(end).filter(|it| !blank(it)).copied().collect();
    Base64::decode_vec(std::str::from_utf8(&base64).ok()?).ok()
}
