//! The report of a submission, or of the reasons against it.

use std::process::ExitCode;

use serde_json::json;
use spool::SubmitOutcome;
use validator::Violation;

use super::args::SubmitCommand;
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

pub(super) fn not_submitted(
    args: &SubmitCommand,
    bytes: &[u8],
    violations: &[Violation],
) -> Result<ExitCode, Failure> {
    human::print_to_stderr(&args.request, bytes, violations);
    let why = format!("{}: not submitted", human::name(&args.request));
    if args.format == Format::Json {
        output::line(output::refusal(&args.request, &why, violations))?;
    }
    output::note(format_args!("{why}; help: correct the errors above"));
    Ok(ExitCode::from(2))
}
