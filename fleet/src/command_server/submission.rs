//! `submit`: stores the files of a directory as blobs, then the row of the document. The same
//! document again adds only new signatures, so that every submission can be repeated.

use std::path::Path;

use fleet::commands::FleetAnswer;
use model::{RequestId, StandingId};

use super::error::CommandFailure;
use crate::bytes::{ByteStore, PackedSubmission, pack_submission};
use crate::database::{Database, RequestKind, RequestRow, SubmitRowAnswer};

/// The files of a submission.
pub(super) struct SubmittedFiles<'a> {
    pub(super) directory: &'a Path,
    /// The name of the document in it.
    pub(super) document: &'a str,
    pub(super) audience: Option<&'a str>,
}

pub(super) async fn submit(
    files: &SubmittedFiles<'_>,
    store: &ByteStore,
    database: &mut Database,
) -> Result<FleetAnswer, CommandFailure> {
    let (id, kind) = document_id(files.document)?;
    let packed = pack_submission(files.directory, files.document, store, database).await?;
    let PackedSubmission { manifest_sha256, document_sha256, signatures, bytes } = packed;
    let row = RequestRow {
        id: id.to_owned(),
        document_sha256,
        manifest_sha256: Some(manifest_sha256),
        kind,
        audience: files.audience.map(str::to_owned),
        bytes,
        signatures,
        submitted_by: String::new(),
    };
    let (is_new, signatures_added) = match database.submit(&row).await? {
        SubmitRowAnswer::New => (true, 0),
        SubmitRowAnswer::Known { signatures_added } => (false, signatures_added),
        SubmitRowAnswer::OtherDocument => return Err(other_document(id)),
    };
    Ok(FleetAnswer::Submitted { id: id.to_owned(), is_new, signatures_added })
}

/// Returns the id of a document, and its kind.
fn document_id(document: &str) -> Result<(&str, RequestKind), CommandFailure> {
    let id = document.strip_suffix(".md").unwrap_or_default();
    if id.parse::<StandingId>().is_ok() {
        return Ok((id, RequestKind::Standing));
    }
    if id.parse::<RequestId>().is_ok() {
        return Ok((id, RequestKind::Request));
    }
    Err(CommandFailure(format!(
        "{}: not named by the id of a request or standing approval; help: name the file by its id",
        model::escape_line(document)
    )))
}

fn other_document(id: &str) -> CommandFailure {
    CommandFailure(format!(
        "{id}: the fleet has another document of this id; help: give the new document a new id"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_document_is_its_id() {
        let kind = |name: &str| document_id(name).map(|(_, kind)| kind).ok();
        assert_eq!(kind("TR-20260209-160501Z-python-stats.md"), Some(RequestKind::Request));
        assert_eq!(kind("SA-20260209-160501Z-means.md"), Some(RequestKind::Standing));
        for name in ["", ".md", "x.md", "TR-20260209-160501Z-python-stats", "../x.md"] {
            assert_eq!(kind(name), None, "{name}");
        }
        assert_eq!(
            document_id("SA-20260209-160501Z-means.md").unwrap().0,
            "SA-20260209-160501Z-means"
        );
    }
}
