//! The submission to a fleet. The files are copied as for a spool, into a private directory, and
//! `toolexec-fleet` sends that directory. A repeated submission adds only new signatures.

use fleet::commands::{FleetAct, FleetAnswer};
use serde_json::json;

use super::document::{CheckedDocument, CheckedSubmission};
use crate::args::Format;
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output;
use crate::private_directory::PrivateDirectory;

pub(super) fn submit(
    format: Format,
    submission: &CheckedSubmission<'_>,
    declared: &[&str],
    client: &FleetClient,
) -> Result<(), Failure> {
    let CheckedSubmission { files, document, .. } = submission;
    let directory = PrivateDirectory::create("submit")?;
    files.submit_to(directory.path(), declared)?;
    let act = FleetAct::Submit {
        directory: directory.path().to_owned(),
        document: files.file_name().to_owned(),
        audience: document.audience.clone(),
    };
    match client.one(act)? {
        FleetAnswer::Submitted { id, is_new, signatures_added } if id == document.id => {
            report(format, document, is_new, signatures_added)
        }
        _ => Err(client.unexpected()),
    }
}

fn report(
    format: Format,
    document: &CheckedDocument,
    is_new: bool,
    signatures_added: u32,
) -> Result<(), Failure> {
    let CheckedDocument { id_key, id, sha256, .. } = document;
    match format {
        Format::Human => {
            let what = match (is_new, signatures_added) {
                (true, _) => "submitted to the fleet".to_owned(),
                (false, 0) => "already in the fleet; nothing was added".to_owned(),
                (false, 1) => "already in the fleet; added 1 signature file".to_owned(),
                (false, more) => format!("already in the fleet; added {more} signature files"),
            };
            output::line(format_args!("{id}: {what}"))
        }
        Format::Json => {
            let mut object = json!({
                "sha256": sha256.to_string(),
                "is_new": is_new,
                "signatures_added": signatures_added,
            });
            object[*id_key] = id.as_str().into();
            output::line(object)
        }
    }
}
