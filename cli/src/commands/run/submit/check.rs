//! The checks before a submission: those of the daemon, as far as they need nothing of its host.
//! They must never write to the spool.

use std::path::Path;

use model::Sha256;
use policies::AisFile;
use spool::{SpoolError, SubmissionFiles};
use validator::{
    Code, Draft, DraftCheck, FileLocation, OwnerUid, Request, StandingApproval, Violation,
};

use super::args::SubmitCommand;
use super::document::{CheckedDocument, CheckedSubmission, SubmissionCheck};
use super::report;
use crate::args::files::{named_directory, open_document};
use crate::clock;
use crate::commands::approve::review::{self, inputs};
use crate::failure::Failure;
use crate::output::human;

/// Reads and checks a file. If it must not be submitted, prints the reasons and returns `None`.
/// With a digest, a file with other bytes must not be submitted.
pub(super) fn read<'a>(
    args: &SubmitCommand,
    path: &'a Path,
    only: Option<&Sha256>,
) -> Result<Option<CheckedSubmission<'a>>, Failure> {
    let is_standing = review::is_standing_file(path);
    if is_standing {
        review::refuse_inputs(args.inputs.as_deref())?;
    }
    let Some(files) = read_files(args, path)? else { return Ok(None) };
    if only.is_some_and(|only| *only != Sha256::of(files.bytes())) {
        report::changed(path);
        return Ok(None);
    }
    let SubmissionCheck { violations, document } =
        if is_standing { standing(&files) } else { request(path, &files)? };
    let Some(document) = document.filter(|_| !human::has_error(&violations)) else {
        report::not_submitted(args.format, path, files.bytes(), &violations)?;
        return Ok(None);
    };
    Ok(Some(CheckedSubmission { path, files, document, warnings: violations }))
}

/// Reads a file with its signatures. Reports one that is too large, and returns `None`.
fn read_files(args: &SubmitCommand, path: &Path) -> Result<Option<SubmissionFiles>, Failure> {
    open_document(path)?;
    let inputs = args.inputs.as_deref().map(|dir| named_directory("--inputs", dir)).transpose()?;
    match SubmissionFiles::read(path, inputs.as_deref()) {
        Ok(files) => Ok(Some(files)),
        Err(SpoolError::TooLarge { path: large, bytes_max }) if large == path => {
            report::not_submitted(args.format, path, b"", &[human::too_large(bytes_max)])?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn request(path: &Path, submission: &SubmissionFiles) -> Result<SubmissionCheck, Failure> {
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(submission.bytes().to_vec(), submission.file_name(), owner)
        .map_err(|error| Failure::Message(format!("{}: {error}", path.display())))?;
    let DraftCheck { mut violations, verdict } = draft.check(FileLocation::Spool, clock::now());
    violations.extend(unread(submission));
    let Ok(request) = verdict else { return Ok(SubmissionCheck { violations, document: None }) };
    let bytes_max = review::host_policy()?.ceilings().input_bytes;
    let seen = inputs::hash_inputs(submission, &request, bytes_max, 0)?;
    violations.extend(seen.iter().filter_map(inputs::DeclaredInput::violation));
    Ok(SubmissionCheck { violations, document: Some(checked_request(&request)) })
}

fn checked_request(request: &Request) -> CheckedDocument {
    CheckedDocument {
        kind: "request",
        id_key: "request_id",
        id: request.id().as_str().to_owned(),
        sha256: request.sha256(),
        inputs: request.inputs().iter().map(|it| it.name().to_owned()).collect(),
        audience: request.audience().map(str::to_owned),
    }
}

fn standing(submission: &SubmissionFiles) -> SubmissionCheck {
    let read = StandingApproval::read(submission.bytes(), submission.file_name(), clock::now());
    let (mut violations, document) = match read {
        Ok(standing) => (Vec::new(), Some(checked_standing(&standing))),
        Err(violations) => (violations, None),
    };
    violations.extend(unread(submission));
    SubmissionCheck { violations, document }
}

fn checked_standing(standing: &StandingApproval) -> CheckedDocument {
    CheckedDocument {
        kind: "standing approval",
        id_key: "standing_id",
        id: standing.terms().id.as_str().to_owned(),
        sha256: standing.sha256(),
        inputs: Vec::new(),
        audience: Some(standing.terms().audience.clone()),
    }
}

/// Returns an error for each file beside the document that cannot be read.
fn unread(submission: &SubmissionFiles) -> impl Iterator<Item = Violation> {
    let bundle = match submission.ais() {
        AisFile::Unread(why) => Some(why),
        AisFile::Missing | AisFile::Read { .. } => None,
    };
    submission.unread_signatures().iter().chain(bundle).map(|why| {
        Violation::error(Code::SpoolFileKind, why.as_str())
            .hint("replace it with a readable regular file, or remove it")
    })
}
