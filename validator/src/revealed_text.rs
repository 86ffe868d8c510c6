//! Bytes of a file or of a stream as text for people. No byte may disappear, and no character may
//! have an effect on a screen.

use crate::warnings::reveal_line;

/// Returns the bytes as text, and how many of them are not UTF-8. Each of these becomes `\x..`.
#[must_use]
pub fn decode_text(bytes: &[u8]) -> (String, usize) {
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

/// Returns the bytes as lines of text, each as [`reveal_line`] shows it.
#[must_use]
pub fn reveal_text(bytes: &[u8]) -> String {
    let text = decode_text(bytes).0.replace("\r\n", "\n");
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let end = line.strip_suffix('\n');
        shown.push_str(&reveal_line(end.unwrap_or(line)));
        if end.is_some() {
            shown.push('\n');
        }
    }
    shown
}

/// Returns the length of an incomplete character at the end of a part of a stream.
#[must_use]
pub fn incomplete_len(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(last) if !last.invalid().is_empty() => {
            let is_incomplete =
                std::str::from_utf8(last.invalid()).is_err_and(|error| error.error_len().is_none());
            if is_incomplete { last.invalid().len() } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_by_number() {
        assert_eq!(reveal_text(b"a\tb\r\n\x1b[2J\xffc\nd"), "a\tb\n\\u{1b}[2J\\xffc\nd");
    }

    #[test]
    fn a_character_is_shown_when_it_is_complete() {
        let text = "x\u{20ac}";
        for cut in 2..text.len() {
            assert_eq!(incomplete_len(&text.as_bytes()[..cut]), cut - 1);
        }
        assert_eq!(incomplete_len(text.as_bytes()), 0);
        assert_eq!(incomplete_len(b"x\xff"), 0);
        assert_eq!(incomplete_len(b""), 0);
    }
}
