//! `standing draft`: makes a standing approval from a request, and checks it before writing. It
//! must never approve, and never replace a file.

mod args;
mod compose;
mod options;
mod template;

use std::path::Path;
use std::process::ExitCode;

use model::{Sha256, UtcTime};
use serde_json::json;
use spool::write_new_file;
use validator::{
    ApprovalRequirement, Code, REQUEST_BYTES_MAX, Request, StandingComposition, Violation,
};

pub(crate) use self::args::StandingDraftCommand;

use self::compose::{ComposedDraft, compose};
use super::error::StandingCommandError;
use crate::args::Format;
use crate::args::files::{named_directory, read_document};
use crate::clock;
use crate::commands::request::lint::{LintRules, as_approved};
use crate::failure::Failure;
use crate::output::{self, human};

pub(super) fn draft(args: &StandingDraftCommand) -> Result<ExitCode, StandingCommandError> {
    named_directory("--dir", &args.dir)?;
    let now = clock::now();
    let request = read_request(&args.request, now)?;
    let ComposedDraft { composition, notes } = compose(args, &request, now)?;
    let (text, name) = (composition.to_text(), format!("{}.md", composition.id));
    let path = args.dir.strip_prefix(".").unwrap_or(&args.dir).join(&name);
    let violations = check(text.as_bytes(), &name);
    human::print_to_stderr(&path, text.as_bytes(), &violations);
    notes.iter().for_each(output::note);
    if human::has_error(&violations) {
        return refuse(args, &path, &composition, &violations);
    }
    write_new_file(&path, text.as_bytes())?;
    match args.format {
        Format::Human => print_written(&path)?,
        Format::Json => output::line(json!({
            "standing": output::path(&path),
            "standing_id": composition.id.as_str(),
            "sha256": Sha256::of(text.as_bytes()).to_string(),
            "violations": violations,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a request, approved or not.
fn read_request(path: &Path, now: UtcTime) -> Result<Request, StandingCommandError> {
    let bytes = read_document(path, REQUEST_BYTES_MAX)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(request) = as_approved(&bytes, &name, now) {
        return Ok(request);
    }
    let rules = LintRules::of_schema(ApprovalRequirement::DraftOnly);
    human::print_to_stderr(path, &bytes, &rules.check(&bytes, &name).1);
    let help = "correct the errors above, or name a request";
    let why = format!("{}: not a valid request; help: {help}", human::name(path));
    Err(StandingCommandError::Refused(why))
}

/// Returns the violations of the text, without the missing approval, which every draft has.
fn check(text: &[u8], name: &str) -> Vec<Violation> {
    let rules = LintRules::of_schema(ApprovalRequirement::DraftOnly);
    let (_, mut violations) = rules.check(text, name);
    violations.retain(|it| it.code != Code::ApprovalMissing);
    violations
}

fn refuse(
    args: &StandingDraftCommand,
    path: &Path,
    composition: &StandingComposition,
    violations: &[Violation],
) -> Result<ExitCode, StandingCommandError> {
    if args.format == Format::Json {
        output::line(json!({
            "standing": null,
            "standing_id": composition.id.as_str(),
            "sha256": null,
            "violations": violations,
        }))?;
    }
    let path = human::name(path);
    let help = "correct the errors above with other options, or change the request";
    Ok(output::report_refusal(&format!("{path}: not written; help: {help}")))
}

fn print_written(path: &Path) -> Result<(), Failure> {
    let path = human::name(path);
    output::line(&path)?;
    output::stderr_line(format_args!(
        "Standing approval written. Next, an approver reads and signs it:\n  \
         toolexec approve {path} --approver NAME --key FILE\n\
         Then submit it:\n  toolexec submit {path}"
    ));
    Ok(())
}
