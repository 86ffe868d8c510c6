//! The checks before a submission: those of the daemon, as far as they need nothing of its host.

use policies::AisFile;
use spool::SubmissionFiles;
use validator::{
    Code, Draft, DraftCheck, FileLocation, OwnerUid, Request, StandingApproval, Violation,
};

use super::args::SubmitCommand;
use super::document::{CheckedDocument, SubmissionCheck};
use crate::clock;
use crate::commands::approve::review::{self, inputs};
use crate::failure::Failure;

pub(super) fn request(
    args: &SubmitCommand,
    submission: &SubmissionFiles,
) -> Result<SubmissionCheck, Failure> {
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(submission.bytes().to_vec(), submission.file_name(), owner)
        .map_err(|error| Failure::Message(format!("{}: {error}", args.request.display())))?;
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
    }
}

pub(super) fn standing(submission: &SubmissionFiles) -> SubmissionCheck {
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
