//! Lets monty check the code or the script of a request, so that its author learns of a missing
//! construct before an approval. The code never runs as a whole: the program evaluates expressions
//! of it that need nothing else.

mod answer;
mod script;

use std::path::Path;

use validator::{Backend, Code, PureCode, Request, Violation, Work};

use answer::{PROGRAM, refused_construct};

const HINT: &str = "see docs/monty.md for the Python that monty has, or name another backend";

/// Returns the first construct that monty does not have in the code of a request, or in its script,
/// if it names the backend `monty`. The script is read from the inputs beside the file. Any other
/// request has none.
///
/// # Errors
/// The reason why the code was not checked.
pub(super) fn check(
    file: &Path,
    text: &str,
    request: &Request,
) -> Result<Option<Violation>, String> {
    match request.work() {
        Work::Code(code) => check_code(code),
        Work::Command { line, .. } if request.backend() == Some(Backend::Monty) => {
            let Some(script) = script::read(file, request)? else { return Ok(None) };
            let program = daemon::find_program(PROGRAM)?;
            let problem = refused_construct(&program, &script.text, &[])?;
            Ok(problem.map(|problem| {
                let (at, column) = script::place_of_command(text, line);
                script.violation(&problem).at(at, column).hint(HINT)
            }))
        }
        Work::Command { .. } => Ok(None),
    }
}

fn check_code(code: &PureCode) -> Result<Option<Violation>, String> {
    let program = daemon::find_program(PROGRAM)?;
    let problem = refused_construct(&program, code.text(), &variables(code))?;
    Ok(problem.map(|problem| {
        let line = code.line().saturating_add(problem.line).saturating_sub(1);
        let message = format!("code: monty refuses it: {}", problem.message);
        Violation::error(Code::CodeUnsupported, message).at(line, problem.column).hint(HINT)
    }))
}

/// Returns the variables that the code names.
fn variables(code: &PureCode) -> Vec<&str> {
    let words = code.text().split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let words: std::collections::HashSet<&str> = words.collect();
    code.inputs().keys().map(String::as_str).filter(|key| words.contains(key)).collect()
}
