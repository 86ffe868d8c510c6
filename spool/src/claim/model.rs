//! The types of the notes that a claim keeps for recovery.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use model::{ResultId, Sha256};
use serde::{Deserialize, Serialize};

/// The facts of a claim that recovery needs after a crash.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimNote {
    pub(crate) file_name: String,
    pub(crate) owner: u32,
    /// The submitted file; none for an embedded run.
    pub(crate) dropped: Option<SubmittedFileId>,
    /// The record whose run is repeated, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replays: Option<ReplaySource>,
    #[serde(default, skip_serializing_if = "ClaimKind::is_request")]
    pub(crate) kind: ClaimKind,
    /// The names of the signature files next to it, which are removed with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) beside: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClaimKind {
    /// A request, with a copy.
    #[default]
    Request,
    /// An object that can never be a request. Nothing of it was read.
    Object,
}

impl ClaimKind {
    fn is_request(&self) -> bool {
        *self == Self::Request
    }
}

/// A file in `approved/`: the directory and the identity of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmittedFileId {
    pub(crate) dropbox: PathBuf,
    device: u64,
    inode: u64,
    /// The creation time in nanoseconds since 1970, if the file system records it. It is needed
    /// because an inode number is reused after its file is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born_ns: Option<u64>,
}

impl SubmittedFileId {
    pub(crate) fn of(dropbox: &Path, found: &fs::Metadata) -> Self {
        let (device, inode) = (found.dev(), found.ino());
        Self { dropbox: dropbox.to_owned(), device, inode, born_ns: born_ns(found) }
    }

    /// Returns true if the file found now is that very file. The device number counts only if the
    /// creation time is unknown: it may change when the host restarts.
    pub(crate) fn is_same_file(&self, found: &fs::Metadata) -> bool {
        let is_same_creation = match (self.born_ns, born_ns(found)) {
            (Some(then), Some(now)) => then == now,
            _ => found.dev() == self.device,
        };
        found.ino() == self.inode && is_same_creation
    }
}

fn born_ns(found: &fs::Metadata) -> Option<u64> {
    let since = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// A published record whose run is repeated: its id, and the digest of its Markdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(String, String)", into = "(String, String)")]
pub struct ReplaySource {
    /// The id of the record.
    pub result_id: ResultId,
    /// The digest of its Markdown file.
    pub sha256: Sha256,
}

impl From<ReplaySource> for (String, String) {
    fn from(replayed: ReplaySource) -> Self {
        (replayed.result_id.to_string(), replayed.sha256.to_string())
    }
}

impl TryFrom<(String, String)> for ReplaySource {
    type Error = &'static str;

    fn try_from((result_id, sha256): (String, String)) -> Result<Self, Self::Error> {
        let result_id = result_id.parse().map_err(|_| "invalid result id")?;
        Ok(Self { result_id, sha256: sha256.parse().map_err(|_| "invalid sha256")? })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::sync;

    /// The clock of file times is coarse. Returns when a new file has a later time than this one.
    fn wait_for_later_file_times(path: &Path) -> std::io::Result<()> {
        let time = fs::metadata(path)?.modified()?;
        let scratch = path.with_extension("scratch");
        loop {
            fs::File::create(&scratch)?.write_all(b"x")?;
            if fs::metadata(&scratch)?.modified()? != time {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn after_a_restart_the_device_may_have_another_number() -> std::io::Result<()> {
        let place = std::env::temp_dir().join(format!("toolexec-device-{}", std::process::id()));
        fs::create_dir_all(&place)?;
        let path = place.join("request.md");
        sync::write_new(&path, b"one", 0o600)?;
        let found = fs::symlink_metadata(&path)?;
        let mut dropped = SubmittedFileId::of(&place, &found);
        dropped.device += 1;
        assert_eq!(dropped.is_same_file(&found), dropped.born_ns.is_some());
        dropped.born_ns = None;
        assert!(!dropped.is_same_file(&found));
        dropped.device -= 1;
        assert!(dropped.is_same_file(&found));
        fs::remove_dir_all(&place)
    }

    #[test]
    fn what_was_dropped_since_is_another_file_though_it_has_the_number_of_the_one_that_went()
    -> std::io::Result<()> {
        let place = std::env::temp_dir().join(format!("toolexec-note-{}", std::process::id()));
        fs::create_dir_all(&place)?;
        let path = place.join("request.md");
        for _ in 0..20 {
            sync::write_new(&path, b"one", 0o600)?;
            let dropped = SubmittedFileId::of(&place, &fs::symlink_metadata(&path)?);
            assert!(dropped.is_same_file(&fs::symlink_metadata(&path)?));
            // Before the file is removed: its number is for the next file, not the scratch file.
            wait_for_later_file_times(&path)?;
            fs::remove_file(&path)?;
            sync::write_new(&path, b"another", 0o600)?;
            assert!(!dropped.is_same_file(&fs::symlink_metadata(&path)?));
            fs::remove_file(&path)?;
        }
        fs::remove_dir_all(&place)
    }
}
