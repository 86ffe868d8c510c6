//! The classes of lines that we refuse on purpose although bash accepts them, with the reasons.
//! Each class is counted and printed; a refusal outside of all classes fails the test.

use super::OwnReading;
use super::oracles::{BashReading, BashlexReading, DollarUse};

/// The codes about shell syntax and the form of the line.
pub(crate) const SYNTAX: [&str; 17] = [
    "command.chaining",
    "command.pipeline",
    "command.redirection",
    "command.heredoc",
    "command.substitution",
    "command.expansion",
    "command.glob",
    "command.subshell",
    "command.background",
    "command.assignment",
    "command.comment",
    "command.quoting",
    "command.multiple-lines",
    "command.code-fence",
    "command.markup",
    "command.empty",
    "command.shell",
];

/// Returns the class that explains this code for a line in which bash finds no such syntax.
pub(crate) fn of(code: &str, line: &str, seen: &BashReading) -> Option<&'static str> {
    let line = line.trim_start_matches([' ', '\t']);
    match code {
        // A list, quote, heading or HTML mark, or backticks around the line: the author meant
        // Markdown, so the page differs from the line that would run.
        "command.markup" => Some("markup: begins with a mark of Markdown or HTML"),
        // `~~~` is a word for bash, but begins a code block for every reader of the request.
        "command.code-fence" | "command.empty" if line.starts_with("~~~") => {
            Some("fence: `~~~` hides what follows")
        }
        // No request needs a `$` outside single quotes, and an author should not have to know where
        // bash leaves it unchanged.
        "command.expansion" if seen.dollar == DollarUse::Idle => {
            Some("idle dollar: a `$` that bash leaves alone here")
        }
        // The expansion of `~name` depends on the logins of the host; a request must not.
        "command.expansion" if line.contains('~') => {
            Some("login: a `~name` of which this host has no user")
        }
        // `name[` in the position of a command begins a subscript, in which bash takes blanks and
        // operators as data. No reader reads it so.
        "command.glob" if begins_with_subscript(line) => {
            Some("subscript: `name[` at the beginning")
        }
        // A word that begins with a home directory is not a pattern; the code of its `~` covers it.
        "command.glob" if seen.has_home() => Some("home: a pattern behind a `~`"),
        "text.confusable" => Some("characters: a look-alike of a quote or a blank"),
        "text.control" => Some("characters: a control character"),
        _ => None,
    }
}

fn begins_with_subscript(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    rest.len() < line.len() && rest.starts_with('[')
}

/// Returns the class of a difference between us and bashlex for one line; None is a disagreement.
/// Known differences of bashlex:
///
/// - It supports neither patterns nor braces nor `coproc`, and drops comments.
/// - It looks into single quotes that are part of a longer word.
/// - It overlooks a substitution after a quoted part.
/// - It sees an assignment after a brace among the arguments, and after a name that is not ASCII.
/// - It removes quotes differently, so only the number of words is compared.
/// - It stops at some lines that bash reads.
pub(crate) fn of_bashlex(
    line: &str,
    ours: &OwnReading,
    parsed: &BashlexReading,
) -> Option<&'static str> {
    match (ours, parsed) {
        (Ok(words), BashlexReading::Words(number)) => {
            (words.len() == *number).then_some("accepted by both, with as many words")
        }
        (Ok(words), BashlexReading::Features(names)) => {
            let odd = |word: &String| word == "{" || word == "}" || !word.is_ascii();
            if names.iter().all(|name| name == "expansion" || name == "substitution") {
                return Some("accepted; bashlex looks into single quotes");
            }
            let only_known = names.iter().all(|name| name != "assignment" || words.iter().any(odd));
            let known = ["assignment", "expansion", "substitution"];
            (only_known && names.iter().all(|name| known.contains(&name.as_str())))
                .then_some("accepted; bashlex sees an assignment where bash sees none")
        }
        (Ok(_), BashlexReading::Error) => Some("accepted; bashlex cannot read it, bash can"),
        (Err(_), BashlexReading::Error) => Some("refused by both"),
        (Err(codes), BashlexReading::Words(_)) => {
            let unknown = |code: &String| UNKNOWN_TO_BASHLEX.contains(&code.as_str());
            let overlooked = ["<(", ">(", "`"].iter().any(|piece| line.contains(piece));
            (overlooked || codes.iter().any(unknown))
                .then_some("refused for what bashlex does not know")
        }
        (Err(codes), BashlexReading::Features(names)) => {
            let has = |code: &str| codes.iter().any(|it| it == code);
            // After a mark or within a comment, the text differs.
            let other = has("command.markup") || has("command.code-fence");
            let other = other || has("command.comment");
            let named = |name: &String| has(&format!("command.{name}"));
            let precise = names.iter().filter(|name| OPERATORS.contains(&name.as_str())).all(named);
            (other || precise).then_some("refused by both, with the same operators")
        }
    }
}

const OPERATORS: [&str; 6] =
    ["chaining", "background", "pipeline", "redirection", "heredoc", "subshell"];

const UNKNOWN_TO_BASHLEX: [&str; 9] = [
    "command.glob",
    "command.expansion",
    "command.comment",
    "command.markup",
    "command.code-fence",
    "command.assignment",
    "command.shell",
    "text.confusable",
    "text.control",
];
