//! Scripts of the monty backend: a command that runs a declared input. Nothing of the host's Python
//! exists there, so no other command may pass.

use model::SourceSpan;

use crate::code::Code;
use crate::report::Report;

/// The first words of commands that run a script.
const WORDS: [&str; 2] = ["python", "python3"];

/// Returns true for `python` or `python3`, followed by the name of an input file.
pub(crate) fn is_python_script(argv: &[String], inputs: &[&str]) -> bool {
    let [word, script, ..] = argv else { return false };
    let script = script.strip_prefix("/in/").unwrap_or(script);
    WORDS.contains(&word.as_str()) && inputs.contains(&script) && !script.ends_with('/')
}

pub(crate) fn check_script(
    spot: SourceSpan,
    argv: &[String],
    inputs: &[&str],
    report: &mut Report,
) {
    if !is_python_script(argv, inputs) {
        let message = "command: the monty backend runs only scripts that are inputs";
        let hint = "write `python`, then the name of a declared input, then its arguments";
        report.error_hint(Code::BackendMismatch, spot, message, hint);
    }
}
