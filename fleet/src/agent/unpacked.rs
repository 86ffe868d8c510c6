//! Fetches the files of a document and places them. Every byte comes from others: the store, the
//! database, the submitter. The document must have the digest and the id of its row.

use std::path::{Path, PathBuf};

use model::Sha256;
use policies::AisFile;
use spool::{SubmissionFiles, clock, write_new_file};
use validator::{Draft, FileLocation, OwnerUid};

use super::agent_state::Agent;
use super::error::FleetAgentError;
use super::placing::{PlaceOutcome, place};
use super::signature_names::signature_name;
use super::state_directory::remove_tree;
use crate::blocking::blocking;
use crate::bytes::{UnpackedSignatures, UnpackedSubmission, unpack_signatures, unpack_submission};
use crate::database::{Database, RequestKind, RequestRow};

/// The most additions that are placed with a claim.
const ADDITIONS_MAX: u32 = 64;

/// Fetches the files of a row and places them in `approved/`. The caller has checked that the id
/// can be a file name.
///
/// # Errors
/// The bytes cannot be fetched, or are not those of the row, or cannot be placed.
pub(super) async fn place_row(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
) -> Result<PlaceOutcome, FleetAgentError> {
    place_with(agent, database, row, &[]).await
}

/// As [`place_row`], with the signature files that were submitted after the document. The daemon
/// may decide as soon as it sees the document, so they are placed before it.
///
/// # Errors
/// As [`place_row`].
pub(super) async fn place_claim(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
) -> Result<PlaceOutcome, FleetAgentError> {
    let additions = database.additions(&row.id, ADDITIONS_MAX).await?;
    place_with(agent, database, row, &additions).await
}

async fn place_with(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
    additions: &[RequestRow],
) -> Result<PlaceOutcome, FleetAgentError> {
    let into = make_incoming(agent, &row.id)?;
    let placed = fetch_and_place(agent, database, (row, additions), &into).await;
    remove_incoming(into).await;
    placed
}

async fn fetch_and_place(
    agent: &Agent,
    database: &mut Database,
    (row, additions): (&RequestRow, &[RequestRow]),
    into: &Path,
) -> Result<PlaceOutcome, FleetAgentError> {
    let UnpackedSubmission { document_name, declared, .. } =
        fetch(agent, database, row, into).await?;
    // No rule lets a standing approval have inputs, and nothing would remove them.
    if row.kind == RequestKind::Standing && !declared.is_empty() {
        return Err(FleetAgentError::lasting(format!(
            "{}: a standing approval with inputs; help: find out who submitted it",
            row.id
        )));
    }
    for addition in additions {
        match add_signatures(agent, database, addition, into).await {
            Ok(()) => {}
            // Nothing more can be asked over this connection.
            Err(FleetAgentError::Link(error)) => return Err(error.into()),
            Err(error) if error.is_momentary() => return Err(error),
            // Damaged signatures must not keep the document from being decided.
            Err(error) => tracing::error!("{}: signatures are not placed: {error}", row.id),
        }
    }
    let (approved, kind) = (agent.config.approved(), row.kind);
    let (document, digest, id) =
        (into.join(&document_name), row.document_sha256.clone(), row.id.clone());
    blocking(move || {
        if kind == RequestKind::Request {
            check_request_id(&document, &id)?;
        }
        place(&document, &digest, &approved, &declared)
    })
    .await?
}

/// Fetches the files of a row into an empty directory, and checks that they are those of the row.
async fn fetch(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
    into: &Path,
) -> Result<UnpackedSubmission, FleetAgentError> {
    let manifest = manifest_of(row)?;
    let unpacked = unpack_submission(&manifest, into, &agent.store, database).await?;
    check_document(row, &unpacked.document_name, &unpacked.document_sha256)?;
    Ok(unpacked)
}

fn manifest_of(row: &RequestRow) -> Result<Sha256, FleetAgentError> {
    let manifest = row.manifest_sha256.as_deref().and_then(|text| text.parse().ok());
    manifest.ok_or_else(|| {
        FleetAgentError::lasting(format!(
            "{}: its row names no files; help: submit it again under another id",
            row.id
        ))
    })
}

/// Checks that a manifest is of the document of its row.
fn check_document(row: &RequestRow, name: &str, sha256: &str) -> Result<(), FleetAgentError> {
    match name == format!("{}.md", row.id) && sha256 == row.document_sha256 {
        true => Ok(()),
        false => Err(FleetAgentError::lasting(format!(
            "{}: its files are those of another document; help: submit it again under another id",
            row.id
        ))),
    }
}

/// Fetches the signature files of an addition, and copies the new ones beside the document.
async fn add_signatures(
    agent: &Agent,
    database: &mut Database,
    addition: &RequestRow,
    into: &Path,
) -> Result<(), FleetAgentError> {
    let beside = make_incoming(agent, &format!("{}.added", addition.id))?;
    let added = fetch_signatures(agent, database, addition, (&beside, into)).await;
    remove_incoming(beside).await;
    added
}

/// Fetches signature files into an empty directory, and copies the new ones to another one, which
/// has their document.
async fn fetch_signatures(
    agent: &Agent,
    database: &mut Database,
    addition: &RequestRow,
    (beside, into): (&Path, &Path),
) -> Result<(), FleetAgentError> {
    let manifest = manifest_of(addition)?;
    let unpacked = unpack_signatures(&manifest, beside, &agent.store, database).await?;
    let UnpackedSignatures { document_name, document_sha256 } = unpacked;
    check_document(addition, &document_name, &document_sha256)?;
    let (from, to) = (into.join(&document_name), beside.join(&document_name));
    let into = into.to_owned();
    blocking(move || {
        // Signature files are found beside their document.
        write_new_file(&to, SubmissionFiles::read(&from, None)?.bytes())?;
        copy_signatures(&to, &into)
    })
    .await?
}

/// Copies the signatures and the bundle of a document into a directory. An existing file stays as
/// it is, and a different signature with its name gets a free name.
fn copy_signatures(document: &Path, into: &Path) -> Result<(), FleetAgentError> {
    let files = SubmissionFiles::read(document, None)?;
    let named = |file| signature_name(into, files.file_name(), file);
    let signatures = files.signatures().iter().map(|file| (named(file), &file.bytes));
    let bundle = match files.ais() {
        AisFile::Read { name, bytes } => Some((name.clone(), bytes)),
        AisFile::Missing | AisFile::Unread(_) => None,
    };
    for (name, bytes) in signatures.chain(bundle) {
        let path = into.join(name);
        if path.symlink_metadata().is_err() {
            write_new_file(&path, bytes)?;
        }
    }
    Ok(())
}

fn make_incoming(agent: &Agent, name: &str) -> Result<PathBuf, FleetAgentError> {
    let made = agent.directory.make_incoming(name);
    made.map_err(|error| FleetAgentError::io(agent.directory.path(), &error))
}

async fn remove_incoming(path: PathBuf) {
    let removed =
        blocking(move || remove_tree(&path).map_err(|error| FleetAgentError::io(&path, &error)));
    if let Err(error) = removed.await.unwrap_or_else(|error| Err(error.into())) {
        tracing::warn!("{error}");
    }
}

/// Checks that the front matter of a readable document has the id of the row: its record would
/// otherwise be that of another request. The daemon refuses documents that are not readable.
fn check_request_id(document: &Path, id: &str) -> Result<(), FleetAgentError> {
    let files = SubmissionFiles::read(document, None)?;
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let Ok(draft) = Draft::new(files.bytes().to_vec(), files.file_name(), owner) else {
        return Ok(());
    };
    let found = match draft.check(FileLocation::Spool, clock::now()).verdict {
        Ok(request) => Some(request.id().to_string()),
        Err(refused) => refused.request_id().map(ToString::to_string),
    };
    match found.is_none_or(|found| found == id) {
        true => Ok(()),
        false => Err(FleetAgentError::lasting(format!(
            "{id}: its document has another id; help: submit it under its own id"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn later_signatures_are_placed_with_their_document() {
        let name = format!("toolexec-fleet-unpacked-{}", std::process::id());
        let top = std::env::temp_dir().join(name);
        let (beside, into) = (top.join("beside"), top.join("into"));
        let signed = [(&into, "a.md.alice.sig"), (&beside, "a.md.bob.sig")];
        for (directory, signature) in signed {
            fs::create_dir_all(directory).unwrap();
            for file in ["a.md", signature] {
                write_new_file(&directory.join(file), file.as_bytes()).unwrap();
            }
        }
        for _ in 0..2 {
            copy_signatures(&beside.join("a.md"), &into).unwrap();
            let document = into.join("a.md");
            let files = SubmissionFiles::read(&document, None).unwrap();
            let names: Vec<&str> = files.signatures().iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, ["a.md.alice.sig", "a.md.bob.sig"]);
        }
        fs::remove_dir_all(&top).unwrap();
    }
}
