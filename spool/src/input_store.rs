//! Stored inputs of earlier runs, one file per digest, so that the same bytes are not written
//! twice. A slot gets a stored file as a hard link, and only one slot at a time. The name of a
//! stored file proves nothing: its user compares it byte by byte with the input, and replaces a
//! file that was torn by a crash (nothing here is made durable), damaged or tampered with. Only the
//! owner of the state directory can reach this directory (0700). It is a cache: it may be emptied
//! at any time, and a run never fails because of it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use model::Sha256;
use rustix::fs::OFlags;

#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreLimits {
    pub(crate) bytes_max: u64,
    pub(crate) files_max: usize,
    pub(crate) unused_max: Duration,
}

pub(crate) struct InputStore {
    directory: PathBuf,
    bounds: StoreLimits,
    /// The files as far as this process knows; listed at the first use. Concurrent embedded runs
    /// may exceed the bounds by the files they add, until the next listing.
    usage: Mutex<Option<StoreUsage>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct StoreUsage {
    bytes: u64,
    files: usize,
}

/// One stored file. Its last use is its modification time, which every use renews.
struct StoredInput {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl InputStore {
    /// `directory` exists, is private, and is on the same file system as the slots.
    pub(crate) fn new(directory: PathBuf, bounds: StoreLimits) -> Self {
        Self { directory, bounds, usage: Mutex::new(None) }
    }

    fn path_of(&self, sha256: &Sha256) -> PathBuf {
        self.directory.join(sha256.to_string())
    }

    /// Links the stored file of this digest to `to` and opens it there, if it exists and only this
    /// user could have written it. The caller must compare its bytes.
    pub(crate) fn link_to(&self, sha256: &Sha256, to: &Path) -> Option<File> {
        if let Err(error) = fs::hard_link(self.path_of(sha256), to) {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!("{}: link the stored input: {error}", to.display());
            }
            return None;
        }
        let opened = open_stored(to).and_then(|file| {
            file.set_modified(SystemTime::now())?;
            Ok(file)
        });
        match opened {
            Ok(file) if is_linked_elsewhere(&file) => {
                remove(to);
                None
            }
            Ok(file) => Some(file),
            Err(error) => {
                tracing::warn!("{}: open the stored input: {error}", to.display());
                self.delete(sha256);
                remove(to);
                None
            }
        }
    }

    /// Stores a slot's finished file under its digest.
    pub(crate) fn store(&self, sha256: &Sha256, from: &Path, bytes: u64) {
        if bytes > self.bounds.bytes_max {
            return;
        }
        let kept = self.evict_for(bytes).and_then(|()| fs::hard_link(from, self.path_of(sha256)));
        match kept {
            Ok(()) => self.count(|held| {
                held.bytes = held.bytes.saturating_add(bytes);
                held.files += 1;
            }),
            // Another run of the same input has stored it already.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => tracing::warn!("{}: store for later runs: {error}", from.display()),
        }
    }

    pub(crate) fn delete(&self, sha256: &Sha256) {
        remove(&self.path_of(sha256));
        self.invalidate_usage();
    }

    /// Deletes everything, to free disk space.
    pub(crate) fn clear(&self) {
        match self.entries() {
            Ok(entries) => entries.iter().for_each(|entry| remove(&entry.path)),
            Err(error) => tracing::warn!("{}: empty: {error}", self.directory.display()),
        }
        self.invalidate_usage();
    }

    pub(crate) fn expire(&self) {
        match self.entries() {
            Ok(entries) => {
                entries.iter().filter(|one| self.is_stale(one)).for_each(|one| remove(&one.path));
            }
            Err(error) => tracing::warn!("{}: list: {error}", self.directory.display()),
        }
        self.invalidate_usage();
    }

    fn is_stale(&self, entry: &StoredInput) -> bool {
        // A time in the future means that the clock was set back; treat it as now.
        entry.used.elapsed().is_ok_and(|unused| unused > self.bounds.unused_max)
    }

    /// Makes space for one more file by deleting the least recently used ones.
    fn evict_for(&self, bytes: u64) -> io::Result<()> {
        let StoreLimits { bytes_max, files_max, .. } = self.bounds;
        let fits = |held: StoreUsage| {
            held.bytes.saturating_add(bytes) <= bytes_max && held.files < files_max
        };
        if self.usage().is_some_and(fits) {
            return Ok(());
        }
        let mut entries = self.entries()?;
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.used));
        let mut held = StoreUsage {
            bytes: entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes)),
            files: entries.len(),
        };
        while let Some(oldest) = entries.last()
            && (!fits(held) || self.is_stale(oldest))
        {
            remove(&oldest.path);
            held.bytes = held.bytes.saturating_sub(oldest.bytes);
            held.files -= 1;
            entries.pop();
        }
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        Ok(())
    }

    fn entries(&self) -> io::Result<Vec<StoredInput>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let found = match entry.metadata() {
                Ok(found) => found,
                // Another process has deleted it already.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let (bytes, used) = (found.len(), found.modified()?);
            entries.push(StoredInput { path: entry.path(), bytes, used });
        }
        Ok(entries)
    }

    fn usage(&self) -> Option<StoreUsage> {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut StoreUsage)) {
        if let Some(held) = &mut *self.usage.lock().unwrap_or_else(PoisonError::into_inner) {
            change(held);
        }
    }

    fn invalidate_usage(&self) {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Opens a file that belongs to this user, is regular, and is read-only for all users (mode 0444).
fn open_stored(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    if found.is_file() && ours && found.mode() & 0o7777 == 0o444 {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "not a file of the input store"))
}

/// Returns whether another slot has this file: two links are allowed, one here and one in the slot.
/// Two sandboxes must not share a file, because a lock on it would be visible to both.
fn is_linked_elsewhere(file: &File) -> bool {
    file.metadata().map_or(true, |found| found.nlink() > 2)
}

fn remove(path: &Path) {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!("{}: remove: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests;
