//! `toolexec submit`: checks what the daemon would check, then submits the inputs and signatures
//! before the request. A queued request receives only the signatures that it lacks. A standing
//! approval is submitted like a request without inputs.

mod args;
mod check;
mod document;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use model::Sha256;
use spool::{SpoolError, SubmissionFiles};

use crate::args::files::{named_directory, open_document};
use crate::commands::approve::review;
use crate::failure::Failure;
use crate::output::{self, human};

pub(crate) use args::SubmitCommand;

pub(in crate::commands) fn submit(args: &SubmitCommand) -> Result<ExitCode, Failure> {
    submit_bytes(args, None)
}

/// Submits exactly the approved bytes: another user may have replaced the file.
pub(crate) fn submit_if_unchanged(
    args: &SubmitCommand,
    approved: &Sha256,
) -> Result<ExitCode, Failure> {
    submit_bytes(args, Some(approved))
}

fn submit_bytes(args: &SubmitCommand, only: Option<&Sha256>) -> Result<ExitCode, Failure> {
    let is_standing = review::is_standing_file(&args.request);
    if is_standing {
        review::refuse_inputs(args.inputs.as_deref())?;
    }
    let approved = approved_directory(&args.spool)?;
    open_document(&args.request)?;
    let inputs = args.inputs.as_deref().map(|dir| named_directory("--inputs", dir)).transpose()?;
    let submission = match SubmissionFiles::read(&args.request, inputs.as_deref()) {
        Ok(submission) => submission,
        Err(SpoolError::TooLarge { path, bytes_max }) if path == args.request => {
            return report::not_submitted(args, b"", &[human::too_large(bytes_max)]);
        }
        Err(error) => return Err(error.into()),
    };
    if only.is_some_and(|only| *only != Sha256::of(submission.bytes())) {
        let name = human::name(&args.request);
        output::note(format_args!(
            "{name}: changed since it was approved; not submitted; help: approve it again"
        ));
        return Ok(ExitCode::from(2));
    }
    let checked =
        if is_standing { check::standing(&submission) } else { check::request(args, &submission)? };
    let violations = checked.violations;
    let Some(document) = checked.document.filter(|_| !human::has_error(&violations)) else {
        return report::not_submitted(args, submission.bytes(), &violations);
    };
    human::print_to_stderr(&args.request, submission.bytes(), &violations);
    for file in submission.signatures().iter().filter(|file| review::is_rejection(file)) {
        let (name, kind) = (&file.name, document.kind);
        output::note(format_args!("{name}: a rejection of this {kind}, submitted with it"));
    }
    let declared: Vec<&str> = document.inputs.iter().map(String::as_str).collect();
    let outcome = submission.submit_to(&approved, &declared)?;
    report::submitted(args.format, &document, &outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the submission directory of a spool.
pub(super) fn approved_directory(spool: &Path) -> Result<PathBuf, Failure> {
    let approved = spool.join("approved");
    match fs::metadata(&approved) {
        Ok(found) if found.is_dir() => Ok(approved),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Failure::Io(approved, error))
        }
        _ => Err(Failure::Message(format!(
            "{}: not a spool: it has no approved/ directory; help: name one with --spool",
            spool.display()
        ))),
    }
}
