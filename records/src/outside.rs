//! Text of the request, the policy and the rules on its way into a record. It must never begin a line,
//! end one, or be read as Markdown; nor may anything that a tool did decide how much of it is shown.

use model::escape_line;
use validator::{Code, withheld};

use crate::yaml::{Mask, Node, quoted};

const SHOWN_CHARS_MAX: usize = 1000;
/// More rows than any honest run has; the number of all stands beside them.
const ROWS_MAX: usize = 1000;

// Both forms have to fit beside whatever a tool leaves. Of the 3 MiB that the lint allows a front matter,
// 1,000 artifacts with the longest paths take up to 1.7 MiB, and the longest request a third of one.
const ROWS_MAX_WITHHELD: usize = 50;
const LIST_BYTES_MAX_WITHHELD: usize = 32 * 1024;

/// How much of these words a record shows.
#[derive(Clone, Copy)]
pub(crate) enum Showing {
    /// Everything but what the lint names.
    Open,
    /// Nothing: the lint refused the open form of [`Statement::given`](crate::Statement::given) alone
    /// for this reason.
    Withheld(Code),
}

impl Showing {
    /// Rows of violations that the front matter has.
    pub(crate) fn violations_max(self) -> usize {
        match self {
            Self::Open => ROWS_MAX,
            Self::Withheld(_) => ROWS_MAX_WITHHELD,
        }
    }

    /// Constraints that the front matter has. As many as a request has room for are fine where they
    /// are shown; a marker is longer than the shortest of them.
    pub(crate) fn constraints_max(self) -> usize {
        match self {
            Self::Open => usize::MAX,
            Self::Withheld(_) => ROWS_MAX_WITHHELD,
        }
    }

    /// Why this text may not be shown, if so.
    pub(crate) fn reason(self, text: &str) -> Option<Code> {
        match self {
            Self::Open => unfit(text),
            Self::Withheld(code) => Some(code),
        }
    }

    /// For the body, behind words of our own on the same line.
    pub(crate) fn prose(self, text: &str) -> String {
        let (head, cut) = head(text.trim());
        let shown = one_line(head, cut);
        match self.reason(head).or_else(|| withheld(&shown)) {
            Some(code) => marker(code),
            None => shown,
        }
    }

    /// For the front matter, where the text is for people.
    pub(crate) fn words(self, text: &str) -> Node {
        let (head, _) = head(text);
        match self.reason(head) {
            Some(code) => Node::Text(marker(code)),
            None => Node::Text(head.to_owned()),
        }
    }

    /// For the front matter, where a machine needs it exactly. Alone on its line.
    pub(crate) fn exact(self, text: &str) -> Node {
        match unfit(text) {
            Some(_) => Node::Masked(text.to_owned(), self.mask()),
            None => Node::Text(text.to_owned()),
        }
    }

    /// For the front matter, a list on one line: a secret or an instruction can stand in
    /// two of its texts.
    pub(crate) fn exact_list<T: AsRef<str>>(self, texts: &[T]) -> Node {
        let quoted: Vec<String> = texts.iter().map(|text| quoted(text.as_ref())).collect();
        let mask = withheld(&quoted.join(", ")).map(|_| self.mask());
        let node = |text: &str| match mask {
            Some(mask) => Node::Masked(text.to_owned(), mask),
            None => self.exact(text),
        };
        Node::List(texts.iter().map(|text| node(text.as_ref())).collect())
    }

    /// As much of the list, from its beginning, as the front matter has room for in this form.
    pub(crate) fn fitting<T: AsRef<str>>(self, texts: &[T]) -> &[T] {
        if matches!(self, Self::Open) {
            return texts;
        }
        let mut left = LIST_BYTES_MAX_WITHHELD;
        let fits = texts.iter().take_while(|text| {
            let room = left.checked_sub(text.as_ref().len() + 1);
            left = room.unwrap_or(0);
            room.is_some()
        });
        texts.get(..fits.count()).unwrap_or(texts)
    }

    /// Where size may have been the reason, a full mask would be one again.
    fn mask(self) -> Mask {
        match self {
            Self::Open => Mask::All,
            Self::Withheld(_) => Mask::Third,
        }
    }
}

/// Why the lint refuses a text as it is, on a line of the body, or in quotes: escapes can make a
/// secret or an instruction out of what was none.
pub(crate) fn unfit(text: &str) -> Option<Code> {
    withheld(text).or_else(|| withheld(&escape_line(text))).or_else(|| withheld(&quoted(text)))
}

/// What stands where text was withheld.
pub(crate) fn marker(code: Code) -> String {
    format!("[withheld: {}]", code.as_str())
}

/// As much of a text as is shown, and whether there is more.
pub(crate) fn head(text: &str) -> (&str, bool) {
    let end = text.char_indices().nth(SHOWN_CHARS_MAX).map(|(end, _)| end);
    (end.and_then(|end| text.get(..end)).unwrap_or(text), end.is_some())
}

/// Escaped, and as a code span where a Markdown reader would see more in it than words.
pub(crate) fn one_line(head: &str, cut: bool) -> String {
    let more = if cut { "…" } else { "" };
    inert(&format!("{}{more}", escape_line(head)).replace('\t', "\\t"))
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
