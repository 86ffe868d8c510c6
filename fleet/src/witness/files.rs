//! The files of a witness in the state directory. All are checkpoints with cosignatures, as
//! `toolexec log consistency` reads them.
//!
//! ```text
//! witness/<host>    the newest checkpoint of another host that this host cosigned: its memory
//! cosigned/<host>   the newest checkpoint of this host's log that another host cosigned: a copy
//! ```
//!
//! A witness that forgets could cosign a fork. So this module never treats a host with a lost or
//! damaged memory as a host that it has not seen.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use fleet::model::HostName;
use records::log::WitnessedLog;
use spool::write_or_replace;

use super::error::WitnessError;

/// Larger than a note with a cosignature.
const KEPT_BYTES_MAX: u64 = 128 * 1024;
const PRIVATE: u32 = 0o700;

/// The directories.
#[derive(Clone)]
pub(super) struct WitnessFiles {
    witnessed: PathBuf,
    cosigned: PathBuf,
}

/// A checkpoint of another host as it was cosigned and kept.
pub(super) struct KeptCheckpoint {
    text: String,
    log: WitnessedLog,
}

impl KeptCheckpoint {
    /// Returns a note with the cosignature of this witness in its last line; `None` for any other
    /// text.
    pub(super) fn of(text: String) -> Option<Self> {
        let log = WitnessedLog::of_kept(&text)?;
        Some(Self { text, log })
    }

    /// Returns the state of the log.
    pub(super) fn log(&self) -> &WitnessedLog {
        &self.log
    }

    /// Returns the line of the cosignature.
    pub(super) fn lines(&self) -> String {
        let last = self.text.trim_end_matches('\n').rsplit('\n').next();
        format!("{}\n", last.unwrap_or_default())
    }
}

impl WitnessFiles {
    /// Opens the directories, and makes them before the key is made.
    pub(super) fn open(state: &Path, key: &Path) -> Result<Self, WitnessError> {
        let files = Self { witnessed: state.join("witness"), cosigned: state.join("cosigned") };
        let has_key = key.try_exists().map_err(failed(key))?;
        if has_key && !files.witnessed.is_dir() {
            let (directory, key) = (files.witnessed, key.to_owned());
            return Err(WitnessError::NoState { directory, key });
        }
        make_private(&files.witnessed)?;
        make_private(&files.cosigned)?;
        File::open(state).and_then(|state| state.sync_all()).map_err(failed(state))?;
        Ok(files)
    }

    /// Reads the memory of a host; `None` if this witness cosigned nothing of it.
    pub(super) fn kept(&self, host: &HostName) -> Result<Option<KeptCheckpoint>, WitnessError> {
        let path = self.witnessed.join(host.as_str());
        let Some(text) = read(&path)? else { return Ok(None) };
        KeptCheckpoint::of(text).map(Some).ok_or(WitnessError::Kept(path))
    }

    /// Replaces the memory of a host. It is durable when this returns.
    pub(super) fn keep(
        &self,
        host: &HostName,
        before: Option<&KeptCheckpoint>,
        now: &KeptCheckpoint,
    ) -> Result<(), WitnessError> {
        let path = self.witnessed.join(host.as_str());
        let known = before.map(|before| before.text.as_bytes());
        write_or_replace(&path, known, now.text.as_bytes()).map_err(WitnessError::Write)
    }

    /// Stores a verified checkpoint of this host's log, unless a larger one of the witness is
    /// stored.
    pub(super) fn store_cosigned(
        &self,
        witness: &HostName,
        note: &str,
    ) -> Result<(), WitnessError> {
        let path = self.cosigned.join(witness.as_str());
        let size = |note: &str| WitnessedLog::of_kept(note).map(|log| log.size());
        let before = read(&path)?;
        // A text that is not a checkpoint has no size, and is replaced.
        let is_kept = |before: &str| before == note || size(before) > size(note);
        if before.as_deref().is_some_and(is_kept) {
            return Ok(());
        }
        let known = before.as_deref().map(str::as_bytes);
        write_or_replace(&path, known, note.as_bytes()).map_err(WitnessError::Write)
    }
}

/// Reads a file; `None` if it does not exist. A text that is too long is cut, and then has no form.
fn read(path: &Path) -> Result<Option<String>, WitnessError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed(path))?,
    };
    let mut bytes = Vec::new();
    file.take(KEPT_BYTES_MAX).read_to_end(&mut bytes).map_err(failed(path))?;
    String::from_utf8(bytes).map(Some).map_err(|_| WitnessError::Kept(path.to_owned()))
}

/// Makes a directory for this user only, unless it exists.
fn make_private(path: &Path) -> Result<(), WitnessError> {
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(path)(error)),
        _ => Ok(()),
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> WitnessError + use<> {
    let path = path.to_owned();
    move |error| WitnessError::File { path, error }
}
