//! Texts of a database server or of a store in messages. Such a text may have any characters.

/// The most characters of a text in a message.
const SHOWN_CHARS_MAX: usize = 300;

/// Returns a foreign text on one line, shortened, and with its deceptive characters escaped.
pub(crate) fn foreign_line(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    model::escape_line(&shown.replace(['\n', '\r', '\t'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_text_is_one_short_line_that_misleads_no_reader() {
        assert_eq!(foreign_line("a\r\nb\tc"), "a  b c");
        assert_eq!(foreign_line("\u{1b}[2J\u{202e}\u{200b}"), "\\u{1b}[2J\\u{202e}\\u{200b}");
        assert_eq!(foreign_line(&"x".repeat(1000)).len(), SHOWN_CHARS_MAX);
        // The tables bound a reason to 4096 bytes.
        assert!(foreign_line(&"\u{e0100}".repeat(1000)).len() <= 4096);
    }
}
