//! Keys of signed notes (C2SP signed-note): the names, ids and verifier lines of logs and witnesses.
//! A weak key must never be accepted.

use ed25519_dalek::VerifyingKey;
use model::Sha256;

use crate::base64;

/// Returns whether a name is valid in a signed note. Names of witnesses need not be host names.
pub(crate) fn is_note_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_whitespace) && !name.contains('+')
}

/// Returns the SHA-256 over a name and a key of this type.
pub(crate) fn note_id(name: &str, kind: u8, key: &VerifyingKey) -> Sha256 {
    let mut bytes = name.as_bytes().to_vec();
    bytes.extend([b'\n', kind]);
    bytes.extend(key.as_bytes());
    Sha256::of(&bytes)
}

/// Returns the id of a key in the lines of its signatures.
pub(crate) fn short_id(name: &str, kind: u8, key: &VerifyingKey) -> [u8; 4] {
    let [a, b, c, d, ..] = *note_id(name, kind, key).as_bytes();
    [a, b, c, d]
}

/// Returns `name+hash+key`, the format of C2SP's tools.
pub(crate) fn verifier_line(name: &str, kind: u8, key: &VerifyingKey) -> String {
    let bytes: Vec<u8> = std::iter::once(kind).chain(*key.as_bytes()).collect();
    format!("{name}+{}+{}", hex4(short_id(name, kind, key)), base64::encode(&bytes))
}

/// Parses name, key id and Ed25519 key of a verifier line of this type; `None` for a weak key.
pub(crate) fn note_key(line: &str, kind: u8) -> Option<(&str, [u8; 4], VerifyingKey)> {
    let (name, rest) = line.trim_end().split_once('+')?;
    let (id, key) = rest.split_once('+')?;
    let key = base64::decode(key)?;
    let key: &[u8; 32] = key.strip_prefix(&[kind])?.try_into().ok()?;
    let key = VerifyingKey::from_bytes(key).ok().filter(|key| !key.is_weak())?;
    let short_id = short_id(name, kind, &key);
    (is_note_name(name) && hex4(short_id) == id).then_some((name, short_id, key))
}

fn hex4(bytes: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(bytes))
}
