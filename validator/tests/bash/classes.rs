//! What we refuse on purpose although bash would take it, and why. Each class is counted and
//! printed; a refusal that is in none of them fails the test.

use super::Ours;
use super::asked::{Dollar, Parsed, Seen};

/// The codes that speak of the shell's syntax and of the form of the line.
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

/// The class that explains this code for this line, in which bash sees nothing of the kind.
pub(crate) fn of(code: &str, line: &str, seen: &Seen) -> Option<&'static str> {
    let line = line.trim_start_matches([' ', '\t']);
    match code {
        // A list, quote, heading or HTML mark, or backticks around it all: the author thought of
        // Markdown, so what a reader is shown is not what would run.
        "command.markup" => Some("markup: begins with a mark of Markdown or HTML"),
        // `~~~` is a word for bash, and begins a code block for every reader of the request.
        "command.code-fence" | "command.empty" if line.starts_with("~~~") => {
            Some("fence: `~~~` hides what follows")
        }
        // No request needs a `$` outside single quotes, and nobody should have to know before
        // which characters bash leaves it alone.
        "command.expansion" if seen.dollar == Dollar::Idle => {
            Some("idle dollar: a `$` that bash leaves alone here")
        }
        // Whether bash expands `~name` depends on the logins of the host; a request must not.
        "command.expansion" if line.contains('~') => {
            Some("login: a `~name` of which this host has no user")
        }
        // `name[` where a command may stand is the beginning of a subscript, in which bash takes
        // blanks and operators for data: nobody reads it as bash does.
        "command.glob" if begins_with_subscript(line) => {
            Some("subscript: `name[` at the beginning")
        }
        // A word that begins with a home directory is no pattern any more: told beside its `~`.
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

/// How we and bashlex stand to each other over one line; None is a disagreement. bashlex knows
/// neither patterns nor braces nor `coproc`, drops comments, looks into single quotes that are a
/// part of a longer word, overlooks a substitution behind a quoted part, sees an assignment behind
/// a brace among the arguments and behind a name that is not ASCII, removes quotes in its own way (so only the number of words is compared),
/// and stops at some lines that bash reads.
pub(crate) fn of_bashlex(line: &str, ours: &Ours, parsed: &Parsed) -> Option<&'static str> {
    match (ours, parsed) {
        (Ok(words), Parsed::Words(number)) => {
            (words.len() == *number).then_some("accepted by both, with as many words")
        }
        (Ok(words), Parsed::Features(names)) => {
            let odd = |word: &String| word == "{" || word == "}" || !word.is_ascii();
            if names.iter().all(|name| name == "expansion" || name == "substitution") {
                return Some("accepted; bashlex looks into single quotes");
            }
            let only_known = names.iter().all(|name| name != "assignment" || words.iter().any(odd));
            let known = ["assignment", "expansion", "substitution"];
            (only_known && names.iter().all(|name| known.contains(&name.as_str())))
                .then_some("accepted; bashlex sees an assignment where bash sees none")
        }
        (Ok(_), Parsed::Error) => Some("accepted; bashlex cannot read it, bash can"),
        (Err(_), Parsed::Error) => Some("refused by both"),
        (Err(codes), Parsed::Words(_)) => {
            let unknown = |code: &String| UNKNOWN_TO_BASHLEX.contains(&code.as_str());
            let overlooked = ["<(", ">(", "`"].iter().any(|piece| line.contains(piece));
            (overlooked || codes.iter().any(unknown))
                .then_some("refused for what bashlex does not know")
        }
        (Err(codes), Parsed::Features(names)) => {
            let said = |code: &str| codes.iter().any(|told| told == code);
            // Behind a mark or within a comment there is something else to see.
            let other = said("command.markup") || said("command.code-fence");
            let other = other || said("command.comment");
            let named = |name: &String| said(&format!("command.{name}"));
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
