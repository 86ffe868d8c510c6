//! The notes in a claim's directory, from which recovery writes the record after a crash. A torn
//! note is not an error, because nothing relied on it, and must never be taken for a whole one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use model::ResultId;
use serde::{Deserialize, Serialize};

use super::model::ClaimNote;
use crate::error::SpoolError;
use crate::ledger::Intent;
use crate::sync;

pub(super) const CLAIM_NOTE_FILE: &str = "claim.json";
/// The id of the result under which the claim will be recorded.
const RESULT_NOTE_FILE: &str = "result.json";
/// The claim's ledger line, after that is durable.
pub(crate) const INTENT_FILE: &str = "intent.json";
const INTENT_BYTES_MAX: u64 = 1024 * 1024;
const NOTE_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultNote {
    result_id: String,
}

pub(super) fn note_result(directory: &Path, result_id: &ResultId) -> Result<(), SpoolError> {
    let path = directory.join(RESULT_NOTE_FILE);
    let note = ResultNote { result_id: result_id.to_string() };
    let written = || -> io::Result<()> {
        // An earlier attempt to record it was given up, and noted another id.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        sync::write_new(&path, &serde_json::to_vec(&note)?, 0o600)
    };
    written().map_err(SpoolError::io(&path, "write the result id"))
}

/// Returns the noted result id. A torn note was never durable: nothing was published under its id.
pub(crate) fn read_noted_result(directory: &Path) -> Result<Option<ResultId>, SpoolError> {
    let path = directory.join(RESULT_NOTE_FILE);
    let note = match read_note(&path) {
        Ok(note) => note,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SpoolError::io(&path, "read")(error)),
    };
    let note = validator::read_json(&note, NOTE_BYTES_MAX).ok();
    let note = note.and_then(|value| serde_json::from_value::<ResultNote>(value).ok());
    Ok(note.and_then(|note| note.result_id.parse().ok()))
}

/// Copies the ledger line of a claim into it. A power cut may lose the copy.
pub(crate) fn note_intent(directory: &Path, intent: &Intent) -> Result<(), SpoolError> {
    let path = directory.join(INTENT_FILE);
    let written = serde_json::to_vec(intent).map_err(io::Error::from);
    let written = written.and_then(|bytes| sync::write_new(&path, &bytes, 0o600));
    written.map_err(SpoolError::io(&path, "write the intent"))
}

/// Returns the claim's copy of its ledger line, or `None` if the copy is torn or missing.
pub(crate) fn read_intent(directory: &Path) -> Result<Option<Intent>, SpoolError> {
    let path = directory.join(INTENT_FILE);
    let mut bytes = Vec::new();
    let read =
        File::open(&path).and_then(|file| file.take(INTENT_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SpoolError::io(&path, "read")(error)),
    }
}

/// Returns the facts noted in a claim, or `None` if the note is torn or missing.
pub(crate) fn read_claim_note(directory: &Path) -> Result<Option<ClaimNote>, SpoolError> {
    let path = directory.join(CLAIM_NOTE_FILE);
    match read_note(&path) {
        Ok(note) => Ok(serde_json::from_slice(&note).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SpoolError::io(&path, "read")(error)),
    }
}

fn read_note(path: &Path) -> io::Result<Vec<u8>> {
    let mut note = Vec::new();
    let most = u64::try_from(NOTE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut note)?;
    Ok(note)
}
