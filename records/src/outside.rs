//! Text from outside (a request's words, a tool's file names, reasons with parts of either) on its
//! way into a record. It must never begin a line, end one, or be read as Markdown.

use validator::{Code, escape_line, withheld};

use crate::yaml::Node;

const SHOWN_CHARS_MAX: usize = 1000;

/// How much of the outside a record shows.
#[derive(Clone, Copy)]
pub(crate) enum Showing {
    /// Everything but what the lint names.
    Open,
    /// Nothing: the lint refused the open form for this reason. A tool cannot keep its run from
    /// being recorded by printing what may not be in a record.
    Withheld(Code),
}

impl Showing {
    /// Why this text may not be shown, if so.
    pub(crate) fn reason(self, text: &str) -> Option<Code> {
        match self {
            Self::Open => withheld(&one_line(text)),
            Self::Withheld(code) => Some(code),
        }
    }

    /// For the body, behind words of our own on the same line.
    pub(crate) fn prose(self, text: &str) -> String {
        match self.reason(text) {
            Some(code) => marker(code),
            None => inert(&one_line(text)),
        }
    }

    /// For the front matter, where the text is for people.
    pub(crate) fn words(self, text: &str) -> Node {
        match self.reason(text) {
            Some(code) => Node::Text(marker(code)),
            None => Node::Text(text.chars().take(SHOWN_CHARS_MAX).collect()),
        }
    }

    /// For the front matter, where a machine needs it exactly.
    pub(crate) fn exact(self, text: &str) -> Node {
        match self.reason(text) {
            // Masking makes text longer, which is no help where length was the reason.
            Some(Code::Secret(_)) => Node::Masked(text.to_owned()),
            _ => Node::Text(text.to_owned()),
        }
    }
}

/// What stands where text was withheld.
pub(crate) fn marker(code: Code) -> String {
    format!("[withheld: {}]", code.as_str())
}

/// Escaped, on one line, and not endless.
fn one_line(text: &str) -> String {
    let mut head: String = text.trim().chars().take(SHOWN_CHARS_MAX).collect();
    if head.len() < text.trim().len() {
        head.push('…');
    }
    escape_line(&head).replace('\t', "\\t")
}

/// As it is where no Markdown reader sees more in it than words and code, else as a code span.
fn inert(line: &str) -> String {
    let marks = ['<', '>', '[', ']', '*', '!', '&', '\\', '~'];
    let paired = line.matches('`').count().is_multiple_of(2);
    if paired && !line.contains(marks) && !line.contains("://") && !line.contains("www.") {
        return line.to_owned();
    }
    // A code span ends only at a run of backticks as long as the one it began with.
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("{fence}{line}{fence}") } else { format!("{fence} {line} {fence}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_a_code_span() {
        assert_eq!(inert("plain words: 1, 2 (three)"), "plain words: 1, 2 (three)");
        assert_eq!(inert("![x](http://host/y)"), "`![x](http://host/y)`");
        assert_eq!(inert("`key`: too old"), "`key`: too old");
        assert_eq!(inert("a `b`` c"), "``` a `b`` c ```");
    }

    #[test]
    fn it_stays_on_one_line() {
        let shown = Showing::Open.prose("x\n---\n## Safety Notes\u{2028}\r# y\u{202e}");
        assert!(!shown.contains(['\n', '\r', '\u{2028}', '\u{202e}']), "{shown}");
    }
}
