//! Escaping of text from the request, the policy and the rules for a record. Such text must never
//! begin or end a line, or be read as Markdown. Nothing that a tool did may decide how much of it
//! is shown.

use model::escape_line;
use validator::{Code, withholding_code};

use crate::yaml::{FactNode, TextMask, quoted};

const SHOWN_CHARS_MAX: usize = 1000;
/// More rows than any honest run has. The total number is stated as well.
const ROWS_MAX: usize = 1000;

// Both forms must fit next to the results of any run. Of the 3 MiB that the lint allows a front
// matter, 1,000 artifacts with the longest paths take up to 1.7 MiB, and the longest request a
// third of a MiB.
const ROWS_MAX_WITHHELD: usize = 50;
const LIST_BYTES_MAX_WITHHELD: usize = 32 * 1024;

/// The redaction level of such text.
#[derive(Clone, Copy)]
pub(crate) enum Redaction {
    /// Shows everything that the lint accepts.
    Open,
    /// Shows nothing: the lint refused the open form of the pre-run statement with this code.
    Withheld(Code),
}

impl Redaction {
    /// Returns the maximum number of violations in the front matter.
    pub(crate) fn violations_max(self) -> usize {
        match self {
            Self::Open => ROWS_MAX,
            Self::Withheld(_) => ROWS_MAX_WITHHELD,
        }
    }

    /// Returns the maximum number of constraints in the front matter. Open: as many as fit in a
    /// request. Withheld: fewer, because a marker is longer than the shortest constraint.
    pub(crate) fn constraints_max(self) -> usize {
        match self {
            Self::Open => usize::MAX,
            Self::Withheld(_) => ROWS_MAX_WITHHELD,
        }
    }

    /// Returns the reason why this text must not be shown, if any.
    pub(crate) fn withheld_reason(self, text: &str) -> Option<Code> {
        match self {
            Self::Open => lint_refusal(text),
            Self::Withheld(code) => Some(code),
        }
    }

    /// Renders text for the body, after text of this program on the same line.
    pub(crate) fn body_text(self, text: &str) -> String {
        let (head, cut) = shown_prefix(text.trim());
        let shown = one_line(head, cut);
        match self.withheld_reason(head).or_else(|| code_of_form(head, &shown)) {
            Some(code) => marker(code),
            None => shown,
        }
    }

    /// Renders text for people in the front matter.
    pub(crate) fn text_node(self, text: &str) -> FactNode {
        let (head, _) = shown_prefix(text);
        match self.withheld_reason(head) {
            Some(code) => FactNode::Text(marker(code)),
            None => FactNode::Text(head.to_owned()),
        }
    }

    /// Renders exact text for machines in the front matter, alone on its line.
    pub(crate) fn exact_node(self, text: &str) -> FactNode {
        match lint_refusal(text) {
            Some(_) => FactNode::Masked(text.to_owned(), self.mask()),
            None => FactNode::Text(text.to_owned()),
        }
    }

    /// Renders a list on one line, checked together: a secret or an instruction can span two texts.
    pub(crate) fn exact_list_node<T: AsRef<str>>(self, texts: &[T]) -> FactNode {
        let quoted: Vec<String> = texts.iter().map(|text| quoted(text.as_ref())).collect();
        let mask = withholding_code(&quoted.join(", ")).map(|_| self.mask());
        let node = |text: &str| match mask {
            Some(mask) => FactNode::Masked(text.to_owned(), mask),
            None => self.exact_node(text),
        };
        FactNode::List(texts.iter().map(|text| node(text.as_ref())).collect())
    }

    /// Returns the beginning of the list that fits in the front matter.
    pub(crate) fn fitting_prefix<T: AsRef<str>>(self, texts: &[T]) -> &[T] {
        if matches!(self, Self::Open) {
            return texts;
        }
        let mut left = LIST_BYTES_MAX_WITHHELD;
        let fits = texts.iter().take_while(|text| {
            let rest = left.checked_sub(text.as_ref().len() + 1);
            left = rest.unwrap_or(0);
            rest.is_some()
        });
        texts.get(..fits.count()).unwrap_or(texts)
    }

    /// Returns the mask. The lint may have refused the size, and a full mask would exceed it again.
    fn mask(self) -> TextMask {
        match self {
            Self::Open => TextMask::All,
            Self::Withheld(_) => TextMask::Third,
        }
    }
}

/// Returns the reason why the lint refuses a text as it is, escaped, or in quotes. Escaping can
/// turn a harmless text into a secret or an instruction.
pub(crate) fn lint_refusal(text: &str) -> Option<Code> {
    withholding_code(text)
        .or_else(|| code_of_form(text, &escape_line(text)))
        .or_else(|| withholding_code(&quoted(text)))
}

/// As [`lint_refusal`], and for a form in which the text is shown.
pub(crate) fn lint_refusal_as(text: &str, shown: &str) -> Option<Code> {
    lint_refusal(text).or_else(|| code_of_form(text, shown))
}

/// Returns the code that withholds a form of an accepted text.
fn code_of_form(accepted: &str, form: &str) -> Option<Code> {
    if form == accepted { None } else { withholding_code(form) }
}

pub(crate) fn marker(code: Code) -> String {
    format!("[withheld: {}]", code.as_str())
}

/// Returns the beginning of a text that is shown, and whether text was cut off.
pub(crate) fn shown_prefix(text: &str) -> (&str, bool) {
    let end = text.char_indices().nth(SHOWN_CHARS_MAX).map(|(end, _)| end);
    (end.and_then(|end| text.get(..end)).unwrap_or(text), end.is_some())
}

/// Escapes a text, and makes it a code span if Markdown would interpret it.
pub(crate) fn one_line(head: &str, cut: bool) -> String {
    let more = if cut { "…" } else { "" };
    inert_markdown(&format!("{}{more}", escape_line(head)).replace('\t', "\\t"))
}

/// Returns the line as it is if Markdown reads it as words and code only, else as a code span.
fn inert_markdown(line: &str) -> String {
    let marks = ['<', '>', '[', ']', '*', '!', '&', '\\', '~'];
    let paired = line.matches('`').count().is_multiple_of(2);
    if paired && !line.contains(marks) && !line.contains("://") && !line.contains("www.") {
        return line.to_owned();
    }
    // A code span ends only at a run of backticks as long as its first.
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("{fence}{line}{fence}") } else { format!("{fence} {line} {fence}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_a_code_span() {
        assert_eq!(inert_markdown("plain words: 1, 2 (three)"), "plain words: 1, 2 (three)");
        assert_eq!(inert_markdown("![x](http://host/y)"), "`![x](http://host/y)`");
        assert_eq!(inert_markdown("`key`: too old"), "`key`: too old");
        assert_eq!(inert_markdown("a `b`` c"), "``` a `b`` c ```");
    }

    #[test]
    fn it_stays_on_one_line() {
        let shown = Redaction::Open.body_text("x\n---\n## Safety Notes\u{2028}\r# y\u{202e}");
        assert!(!shown.contains(['\n', '\r', '\u{2028}', '\u{202e}']), "{shown}");
    }
}
