//! The private state directory of the agent, used by one process at a time.
//!
//! ```text
//! claims/<request id>.json   a claim that is not reported yet, with its host and fleet
//! incoming/<request id>/     the files of a claim before they are placed; removed at each start
//! fleet-list                 the fleet, and the highest number of a list that was used
//! beats                      the fleet, and the number of the last beat
//! witness.key, witness/ …    the key and the files of the witness (`witness`)
//! lock                       locked while an agent runs
//! ```

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use policies::FleetListSerial;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use spool::{io_text, publish_file, write_or_replace};

use super::bounded_file::read_text;

const PRIVATE: u32 = 0o700;
/// Larger than a file with one number.
const NUMBER_BYTES_MAX: u64 = 256;

/// The open state directory.
pub(super) struct StateDirectory {
    path: PathBuf,
    /// Held for the lifetime of this value.
    _lock: File,
}

impl StateDirectory {
    /// Opens the directory and makes what is missing in it.
    ///
    /// # Errors
    /// Another agent uses it, or an I/O error. The message has help.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        make_private(path)?;
        let lock = path.join("lock");
        let mut options = OpenOptions::new();
        let opened = options.write(true).create(true).truncate(false).mode(0o600).open(&lock);
        let file = opened.map_err(failed(&lock))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                let shown = path.display();
                return Err(format!("{shown}: another agent uses it; help: stop that one first"));
            }
            locked => locked.map_err(|errno| failed(&lock)(errno.into()))?,
        }
        let opened = Self { path: path.to_owned(), _lock: file };
        make_private(&opened.claims())?;
        // Files of an interrupted unpacking are of no use.
        remove_tree(&opened.path.join("incoming")).map_err(failed(path))?;
        make_private(&opened.path.join("incoming"))?;
        Ok(opened)
    }

    /// Returns the directory of claims.
    pub(super) fn claims(&self) -> PathBuf {
        self.path.join("claims")
    }

    /// Returns the directory itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes an empty directory for the files of one document. The id must be a valid file name.
    ///
    /// # Errors
    /// An I/O error.
    pub(super) fn make_incoming(&self, id: &str) -> io::Result<PathBuf> {
        let path = self.path.join("incoming").join(id);
        remove_tree(&path)?;
        DirBuilder::new().mode(PRIVATE).create(&path)?;
        Ok(path)
    }

    /// Returns the number of the newest list that was used here.
    ///
    /// # Errors
    /// The file cannot be read, or holds no number.
    pub(super) fn list_serial(&self) -> Result<Option<FleetListSerial>, String> {
        let path = self.path.join("fleet-list");
        if !path.exists() {
            return Ok(None);
        }
        let text = read_text(&path, NUMBER_BYTES_MAX)?;
        let serial = FleetListSerial::parse(text.as_bytes());
        serial.map(Some).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Notes that the list with this number is used. It is durable when this returns.
    ///
    /// # Errors
    /// An I/O error.
    pub(super) fn note_list_serial(&self, serial: &FleetListSerial) -> Result<(), String> {
        let path = self.path.join("fleet-list");
        let known = path.exists().then(|| read_text(&path, NUMBER_BYTES_MAX)).transpose()?;
        let known = known.as_deref().map(str::as_bytes);
        write_or_replace(&path, known, serial.text().as_bytes()).map_err(|error| error.to_string())
    }

    /// Returns the number of the last beat in this fleet; 0 if there was none.
    pub(super) fn last_beats(&self, fleet_id: &str) -> u64 {
        let text = read_text(&self.beats_path(), NUMBER_BYTES_MAX).unwrap_or_default();
        let of_fleet = text.trim_end().strip_prefix(fleet_id);
        of_fleet.and_then(|rest| rest.trim_start().parse().ok()).unwrap_or(0)
    }

    /// Notes the number of a beat. A power failure may lose it, which is harmless: a smaller number
    /// finds fewer old copies of a database.
    ///
    /// # Errors
    /// An I/O error.
    pub(super) fn note_beats(&self, fleet_id: &str, beats: u64) -> Result<(), String> {
        let written = publish_file(&self.beats_path(), format!("{fleet_id} {beats}\n").as_bytes());
        written.map_err(|error| error.to_string())
    }

    /// Returns the path of the file with the number of the last beat, for messages.
    pub(super) fn beats_path(&self) -> PathBuf {
        self.path.join("beats")
    }
}

/// Removes a tree. One that does not exist is removed already.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a directory for this user only, unless it exists.
///
/// # Errors
/// An I/O error. The message has help.
pub(super) fn make_private(path: &Path) -> Result<(), String> {
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(path)(error)),
        _ => Ok(()),
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> String + use<> {
    let path = path.to_owned();
    move |error| format!("{}: {}", path.display(), io_text(&error))
}

#[cfg(test)]
mod tests;
