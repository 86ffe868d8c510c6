//! A record's own reason for display: short in a list, complete for a single request.

use model::escape_line;
use records::split_reason;

/// Width limit of a row in a list.
const SHORT_CHARS_MAX: usize = 160;

/// Returns the problem on one line, without the help.
pub(crate) fn short(reason: &str) -> String {
    let what = escape_line(split_reason(reason).0);
    match what.char_indices().nth(SHORT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", what.get(..end).unwrap_or(&what)),
        None => what,
    }
}

/// Returns the problem, followed by the help on its own line.
pub(crate) fn lines(reason: &str) -> Vec<String> {
    let (what, help) = split_reason(reason);
    let help = help.map(|help| format!("help: {}", escape_line(help)));
    [escape_line(what)].into_iter().chain(help).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_reason_has_no_help_and_a_limit() {
        assert_eq!(short("code: what; help: do it"), "code: what");
        assert_eq!(lines("code: what; help: do\nit"), ["code: what", "help: do\\u{a}it"]);
        let long = short(&"ä".repeat(SHORT_CHARS_MAX + 1));
        assert_eq!(long.chars().count(), SHORT_CHARS_MAX + 1);
        assert!(long.ends_with('…'));
    }
}
