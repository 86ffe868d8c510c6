//! A record's reason on a screen: short where there is a line for it, whole where a person asked about one
//! request. The words are the record's own.

use model::escape_line;
use records::split_reason;

/// Characters that a row of a list has room for.
const SHORT_CHARS_MAX: usize = 160;

/// What was wrong, on one line and without the advice.
pub(crate) fn short(reason: &str) -> String {
    let what = escape_line(split_reason(reason).0);
    match what.char_indices().nth(SHORT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", what.get(..end).unwrap_or(&what)),
        None => what,
    }
}

/// What was wrong, and on a line of its own the advice.
pub(super) fn lines(reason: &str) -> Vec<String> {
    let (what, help) = split_reason(reason);
    let help = help.map(|help| format!("help: {}", escape_line(help)));
    [escape_line(what)].into_iter().chain(help).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_no_advice_and_a_bound() {
        assert_eq!(short("code: what; help: do it"), "code: what");
        assert_eq!(lines("code: what; help: do\nit"), ["code: what", "help: do\\u{a}it"]);
        let long = short(&"ä".repeat(SHORT_CHARS_MAX + 1));
        assert_eq!(long.chars().count(), SHORT_CHARS_MAX + 1);
        assert!(long.ends_with('…'));
    }
}
