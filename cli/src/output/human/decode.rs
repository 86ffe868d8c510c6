//! Bytes that may not be text, as text for people.

/// Returns the bytes as text, and how many of them are not UTF-8. Each of these becomes `\x..`.
pub(crate) fn decode(bytes: &[u8]) -> (String, usize) {
    let (mut text, mut wrong) = (String::with_capacity(bytes.len()), 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
            wrong += 1;
        }
    }
    (text, wrong)
}
