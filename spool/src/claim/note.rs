//! What a claim says of itself beside the copy, so that the story can be told again after a crash. A torn
//! note must never be taken for a whole one, nor for a fault: it was not durable, so nothing was done on the
//! strength of it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use model::{ResultId, Sha256};
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::SpoolError;
use crate::ledger::Intent;

/// What a claim says of itself.
pub(super) const NOTE: &str = "claim.json";
/// What it says of the result that it will be told as.
const RESULT_NOTE: &str = "result.json";
/// Its ledger line, once that is durable.
pub(crate) const INTENT: &str = "intent.json";
const INTENT_BYTES_MAX: u64 = 1024 * 1024;
const NOTE_BYTES_MAX: usize = 64 * 1024;

/// What else must be known to tell the story again after a crash.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimNote {
    pub(crate) file_name: String,
    pub(crate) owner: u32,
    /// Where the request was dropped; none for an embedded run.
    pub(crate) dropped: Option<Dropped>,
    /// The record whose run is done again, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replays: Option<Replayed>,
    #[serde(default, skip_serializing_if = "Kind::is_request")]
    pub(crate) kind: Kind,
    /// What lay beside it, by name, and leaves with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) beside: Vec<String>,
}

/// What was claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// There is a copy.
    #[default]
    Request,
    /// What can never be a request: nothing of it was read.
    Object,
}

impl Kind {
    fn is_request(&self) -> bool {
        *self == Self::Request
    }
}

/// A file in `approved/`: the directory, and which file of that name it was.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dropped {
    pub(crate) dropbox: PathBuf,
    device: u64,
    inode: u64,
    /// When it was made, nanoseconds since 1970, where the file system knows: the number of a file that was
    /// removed is given to the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born_ns: Option<u64>,
}

impl Dropped {
    pub(crate) fn of(dropbox: &Path, found: &fs::Metadata) -> Self {
        let (device, inode) = (found.dev(), found.ino());
        Self { dropbox: dropbox.to_owned(), device, inode, born_ns: born_ns(found) }
    }

    /// Whether what was found now is that very file.
    pub(crate) fn is(&self, found: &fs::Metadata) -> bool {
        let born_same = match (self.born_ns, born_ns(found)) {
            (Some(then), Some(now)) => then == now,
            _ => true,
        };
        (found.dev(), found.ino()) == (self.device, self.inode) && born_same
    }
}

fn born_ns(found: &fs::Metadata) -> Option<u64> {
    let since = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// A published record whose run is done again: its id, and the digest of its Markdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(String, String)", into = "(String, String)")]
pub struct Replayed {
    pub result_id: ResultId,
    pub sha256: Sha256,
}

impl From<Replayed> for (String, String) {
    fn from(replayed: Replayed) -> Self {
        (replayed.result_id.to_string(), replayed.sha256.to_string())
    }
}

impl TryFrom<(String, String)> for Replayed {
    type Error = &'static str;

    fn try_from((result_id, sha256): (String, String)) -> Result<Self, Self::Error> {
        let result_id = result_id.parse().map_err(|_| "no result id")?;
        Ok(Self { result_id, sha256: sha256.parse().map_err(|_| "no sha256")? })
    }
}

/// `result.json` of a claim.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultNote {
    result_id: String,
}

pub(super) fn note_result(directory: &Path, result_id: &ResultId) -> Result<(), SpoolError> {
    let path = directory.join(RESULT_NOTE);
    let note = ResultNote { result_id: result_id.to_string() };
    let written = || -> io::Result<()> {
        // An earlier attempt to tell it, that was given up, promised another id.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        durable::write_new(&path, &serde_json::to_vec(&note)?, 0o600)
    };
    written().map_err(SpoolError::io(&path, "note the result"))
}

/// The result that was promised in a claim. What is torn or empty was never durable, and so nothing was
/// published on the strength of it.
pub(crate) fn noted_result(directory: &Path) -> Result<Option<ResultId>, SpoolError> {
    let path = directory.join(RESULT_NOTE);
    let note = match read_note(&path) {
        Ok(note) => note,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SpoolError::io(&path, "read")(error)),
    };
    let note = validator::read_json(&note, NOTE_BYTES_MAX).ok();
    let note = note.and_then(|value| serde_json::from_value::<ResultNote>(value).ok());
    Ok(note.and_then(|note| note.result_id.parse().ok()))
}

/// Copies the ledger line of a claim into it. A power cut may take the copy away again.
pub(crate) fn note_intent(directory: &Path, intent: &Intent) -> Result<(), SpoolError> {
    let path = directory.join(INTENT);
    let written = serde_json::to_vec(intent).map_err(io::Error::from);
    let written = written.and_then(|bytes| durable::write_new(&path, &bytes, 0o600));
    written.map_err(SpoolError::io(&path, "note the intent"))
}

/// The copy of its ledger line in a claim; none where it is torn or there is none.
pub(crate) fn intent_in(directory: &Path) -> Result<Option<Intent>, SpoolError> {
    let path = directory.join(INTENT);
    let mut bytes = Vec::new();
    let read =
        File::open(&path).and_then(|file| file.take(INTENT_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SpoolError::io(&path, "read")(error)),
    }
}

/// What a claim says of itself; none where it is torn.
pub(crate) fn claim_note(directory: &Path) -> Result<Option<ClaimNote>, SpoolError> {
    let path = directory.join(NOTE);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_since_is_another_file_though_it_has_the_number_of_the_one_that_went()
    -> io::Result<()> {
        let place = std::env::temp_dir().join(format!("toolexec-note-{}", std::process::id()));
        fs::create_dir_all(&place)?;
        let path = place.join("request.md");
        for _ in 0..20 {
            durable::write_new(&path, b"one", 0o600)?;
            let dropped = Dropped::of(&place, &fs::symlink_metadata(&path)?);
            assert!(dropped.is(&fs::symlink_metadata(&path)?));
            fs::remove_file(&path)?;
            // The clock of file times is coarse.
            std::thread::sleep(std::time::Duration::from_millis(11));
            durable::write_new(&path, b"another", 0o600)?;
            assert!(!dropped.is(&fs::symlink_metadata(&path)?));
            fs::remove_file(&path)?;
        }
        fs::remove_dir_all(&place)
    }
}
