//! The report of a submission, or of the reasons against it.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use spool::SubmitOutcome;
use validator::Violation;

use super::document::CheckedDocument;
use crate::args::Format;
use crate::failure::Failure;
use crate::output::{self, human};

pub(super) fn submitted(
    format: Format,
    document: &CheckedDocument,
    outcome: &SubmitOutcome,
) -> Result<(), Failure> {
    let CheckedDocument { id_key, id, sha256, .. } = document;
    let (path, added) = match outcome {
        SubmitOutcome::Request(path) => (path, None),
        SubmitOutcome::Signatures { request, names } => (request, Some(names)),
    };
    match (format, added) {
        (Format::Human, None) => {
            output::line(format_args!("{id}: submitted to {}", path.display()))
        }
        (Format::Human, Some(names)) => output::line(format_args!(
            "{id}: already waiting at {}; added {}",
            path.display(),
            names.join(", ")
        )),
        (Format::Json, added) => {
            let mut object = json!({
                "sha256": sha256.to_string(),
                "path": output::path(path),
                "added_signatures": added,
            });
            object[*id_key] = id.as_str().into();
            output::line(object)
        }
    }
}

/// Prints the reasons against one file.
pub(super) fn not_submitted(
    format: Format,
    path: &Path,
    bytes: &[u8],
    violations: &[Violation],
) -> Result<(), Failure> {
    human::print_to_stderr(path, bytes, violations);
    refuse(format, path, "not submitted", violations, "correct the errors above")
}

/// Prints that two files have this name.
pub(super) fn repeated_name(format: Format, path: &Path) -> Result<ExitCode, Failure> {
    let what = "not submitted: another file has the same name";
    refuse(format, path, what, &[], "name one of them")?;
    Ok(ExitCode::from(2))
}

fn refuse(
    format: Format,
    path: &Path,
    what: &str,
    violations: &[Violation],
    help: &str,
) -> Result<(), Failure> {
    let why = format!("{}: {what}", human::name(path));
    if format == Format::Json {
        output::line(output::refusal(path, &why, violations))?;
    }
    output::note(format_args!("{why}; help: {help}"));
    Ok(())
}

pub(super) fn changed(path: &Path) {
    let name = human::name(path);
    output::note(format_args!(
        "{name}: changed since it was approved; not submitted; help: approve it again"
    ));
}

/// Prints that no file of several was submitted.
pub(super) fn none_submitted(count: usize) {
    if count > 1 {
        output::note(format_args!(
            "{count} files: none was submitted; help: correct the errors above, or leave out the \
             files that have them"
        ));
    }
}

/// Adds the files that come after a failed one to its failure.
pub(super) fn with_rest(failure: Failure, rest: &[&Path]) -> Failure {
    if rest.is_empty() {
        return failure;
    }
    let names: Vec<String> = rest.iter().map(|path| human::name(path)).collect();
    Failure::Message(format!(
        "{failure}\n{}: not submitted either; help: correct the error above, then submit the rest",
        names.join(", ")
    ))
}
