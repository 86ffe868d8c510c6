//! The trail on the disk: one append-only file, and the register built from it. An acknowledged
//! entry is on the disk, and an incomplete one does not count. Anything else that does not fit is
//! damage, after which no query is answered. Writers hold `lock` exclusively; readers hold it
//! shared, and only when the file has grown. So a writer that died left any tail without a line
//! feed, and the next writer cuts it off.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use policies::permissions::{
    Author, OperationContext, PermissionChange, PermissionIndex, TrailEntry,
};
use rustix::fs::{FlockOperation, flock, fstat, stat};
use rustix::io::Errno;

use super::error::PermissionStoreError;
use super::line::{self, LINE_BYTES_MAX, TrailChecksum, TrailFileHeader, TrailLine};
use super::trail_writer::{TrailWriter, remove_if_exists};
use crate::lock::{LockMode, lock_file};
use crate::paths::make_dir;
use crate::sync;

/// A position in the trail, and the checksum there.
pub(super) type TrailHead = crate::ledger::LedgerHead;

/// A new file is started when the trail has this many times the lines it began with.
const GROWTH: u64 = 3;
/// The lines below which no new file is started.
const LINES_MIN: u64 = 10_000;

pub(super) struct PermissionTrail {
    pub(super) directory: PathBuf,
    pub(super) path: PathBuf,
    /// The path of the head file, outside the directory.
    pub(super) head_path: PathBuf,
    /// The head that must be reached while the trail is read for the first time.
    pub(super) due: Option<TrailHead>,
    lock: File,
    pub(super) file: File,
    /// The length that was read, to the end of the last whole line.
    pub(super) read_to: u64,
    pub(super) sum: TrailChecksum,
    pub(super) head: Option<TrailFileHeader>,
    lines: u64,
    began_with: u64,
    register: PermissionIndex,
    state: TrailState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrailState {
    Sound,
    /// The last line announces the next file.
    Sealed,
    /// A write failed, so the contents of the disk are unknown.
    Uncertain,
}

impl PermissionTrail {
    pub(super) fn open(directory: &Path) -> Result<Self, PermissionStoreError> {
        let directory = make_dir(directory, 0o700)?;
        let lock_path = directory.join("lock");
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock_path);
        let lock = opened.map_err(PermissionStoreError::disk(&lock_path, "open"))?;
        let path = directory.join("trail.jsonl");
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let head_path = directory.with_file_name(format!("{name}.head"));
        // Check before the trail: another process may create the trail and its head meanwhile.
        let had_head = head_path.exists();
        if !path.exists() {
            if had_head {
                return Err(outdated_error(&path, 0, &head_path));
            }
            let begin = || create(&directory, &path);
            locked(&lock, &lock_path, LockMode::Exclusive, begin)?;
        }
        let file = open_file(&path)?;
        let mut journal = Self {
            directory,
            path,
            head_path,
            due: None,
            lock,
            file,
            read_to: 0,
            sum: TrailChecksum::default(),
            head: None,
            lines: 0,
            began_with: 0,
            register: PermissionIndex::default(),
            state: TrailState::Sound,
        };
        journal.hold(LockMode::Exclusive)?;
        let settled = journal.check_head();
        journal.release()?;
        settled.map(|()| journal)
    }

    /// Returns the current permissions. This is one system call if nothing was written since.
    pub(super) fn refresh(&mut self) -> Result<&PermissionIndex, PermissionStoreError> {
        self.check_certain()?;
        let stat = fstat(&self.file).map_err(PermissionStoreError::errno(&self.path, "stat"))?;
        if stat.st_nlink == 0 && self.state == TrailState::Sound {
            return Err(self.replaced_error(&self.path));
        }
        let is_read = u64::try_from(stat.st_size).ok() == Some(self.read_to);
        if !is_read || self.state == TrailState::Sealed {
            self.hold(LockMode::Shared)?;
            let read = self.read_on();
            self.release()?;
            read?;
        }
        Ok(&self.register)
    }

    /// Checks that the paths still lead to the open files. A trail that was removed or restored
    /// from a copy grows elsewhere, under another lock.
    pub(super) fn check_paths(&self) -> Result<(), PermissionStoreError> {
        for (file, path) in
            [(&self.lock, self.directory.join("lock")), (&self.file, self.path.clone())]
        {
            let open = fstat(file).map_err(PermissionStoreError::errno(&path, "stat"))?;
            let named = match stat(&path) {
                Err(Errno::NOENT) => return Err(self.replaced_error(&path)),
                named => named.map_err(PermissionStoreError::errno(&path, "stat"))?,
            };
            if (open.st_dev, open.st_ino) != (named.st_dev, named.st_ino) {
                return Err(self.replaced_error(&path));
            }
        }
        Ok(())
    }

    fn replaced_error(&self, path: &Path) -> PermissionStoreError {
        let why = "the file was removed or replaced; help: restart the daemon".to_owned();
        PermissionStoreError::Damaged { path: path.to_owned(), offset: 0, why }
    }

    /// Returns the permissions as of the last read.
    pub(super) fn register(&self) -> &PermissionIndex {
        &self.register
    }

    /// Calls `act` with every line read, while no other process writes.
    pub(super) fn with_exclusive_lock<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, PermissionStoreError>,
    ) -> Result<T, PermissionStoreError> {
        self.check_certain()?;
        self.hold(LockMode::Exclusive)?;
        // Continue with the new file first, if the trail was restarted meanwhile.
        let read = self.read_on().and_then(|()| self.check_paths());
        let done = read.and_then(|()| self.cut_off_tail()).and_then(|()| act(self));
        let released = self.release();
        let done = done?;
        released.map(|()| done)
    }

    /// Appends a change; durable when this returns. The caller must hold the exclusive lock.
    pub(super) fn append_change(
        &mut self,
        change: PermissionChange,
        moment: &OperationContext,
        by: Author,
    ) -> Result<(), PermissionStoreError> {
        let number = self.register.number().saturating_add(1);
        let (at, traceparent) = (moment.now, moment.traceparent);
        let entry = TrailEntry { number, at, traceparent, by, change };
        let line = TrailLine::Entry(Box::new(entry));
        self.append(&line)?;
        let TrailLine::Entry(entry) = line else { return Ok(()) };
        if let Err(error) = self.register.apply(*entry) {
            self.state = TrailState::Uncertain;
            return Err(error.into());
        }
        self.note_head()?;
        if self.lines > LINES_MIN.max(self.began_with.saturating_mul(GROWTH))
            && let Err(error) = self.start_new_file(moment)
        {
            // The change itself is kept.
            tracing::warn!("{error}");
        }
        Ok(())
    }

    fn append(&mut self, line: &TrailLine) -> Result<(), PermissionStoreError> {
        let mut bytes = Vec::new();
        let sum = line::write(line, self.sum, &mut bytes).map_err(|error| {
            PermissionStoreError::disk(&self.path, "write a line")(error.into())
        })?;
        if bytes.len() > LINE_BYTES_MAX {
            let why = "the change is larger than 1 MiB";
            return Err(policies::permissions::PermissionError::Full(why).into());
        }
        if let Err(error) = self.file.write_all(&bytes) {
            if self.file.set_len(self.read_to).is_err() {
                self.state = TrailState::Uncertain;
            }
            return Err(PermissionStoreError::disk(&self.path, "append a change")(error));
        }
        if let Err(error) = self.file.sync_data() {
            // The state of the kernel's pages is unknown, and a second sync cannot determine it.
            self.state = TrailState::Uncertain;
            if let Err(cut) = self.file.set_len(self.read_to) {
                tracing::warn!("{}: truncate an unsaved change: {cut}", self.path.display());
            }
            return Err(PermissionStoreError::disk(&self.path, "sync a change")(error));
        }
        self.read_to += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.sum = sum;
        self.lines += 1;
        Ok(())
    }

    pub(super) fn read_on(&mut self) -> Result<(), PermissionStoreError> {
        loop {
            self.read_lines()?;
            if self.state != TrailState::Sealed {
                return Ok(());
            }
            // After an error here the file stays sealed, and the next read looks again.
            let next = open_file(&self.path)?;
            let stat = |file: &File| {
                file.metadata()
                    .map(|it| (it.dev(), it.ino()))
                    .map_err(PermissionStoreError::disk(&self.path, "stat"))
            };
            if stat(&next)? == stat(&self.file)? {
                // The writer died before the next file was in place, so this file continues.
                self.state = TrailState::Sound;
                return Ok(());
            }
            self.file = next;
            self.state = TrailState::Sound;
            (self.read_to, self.sum, self.head) = (0, TrailChecksum::default(), None);
            (self.lines, self.began_with) = (0, 0);
            self.register = PermissionIndex::default();
        }
    }

    fn read_lines(&mut self) -> Result<(), PermissionStoreError> {
        let failed = |act| PermissionStoreError::disk(&self.path, act);
        let length = self.file.metadata().map_err(failed("stat"))?.len();
        if length < self.read_to {
            return Err(self.damaged("the file is shorter than before".to_owned()));
        }
        let copy = self.file.try_clone().map_err(failed("read"))?;
        let mut reader = BufReader::with_capacity(256 * 1024, copy);
        reader.seek(SeekFrom::Start(self.read_to)).map_err(failed("read"))?;
        let mut text = Vec::new();
        loop {
            text.clear();
            let most = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
            let mut bounded = reader.by_ref().take(most + 1);
            bounded
                .read_until(b'\n', &mut text)
                .map_err(PermissionStoreError::disk(&self.path, "read"))?;
            if text.len() > LINE_BYTES_MAX {
                return Err(self.damaged(format!("the line is longer than {LINE_BYTES_MAX} bytes")));
            }
            let Some(whole) = text.strip_suffix(b"\n") else { return Ok(()) };
            let (line, sum) = line::read(whole, self.sum).map_err(|why| self.damaged(why))?;
            self.apply_line(line)?;
            self.read_to += u64::try_from(text.len()).unwrap_or(u64::MAX);
            self.sum = sum;
            self.lines += 1;
            if self.due == Some(self.position()) {
                self.due = None;
            }
        }
    }

    fn apply_line(&mut self, line: TrailLine) -> Result<(), PermissionStoreError> {
        match (line, &self.head) {
            (TrailLine::Begun(head), None) if head.is_ours() => {
                self.register = PermissionIndex::after(head.after);
                self.head = Some(head);
                Ok(())
            }
            (TrailLine::Entry(entry), Some(_)) => {
                let kept = matches!(entry.change, PermissionChange::Kept { .. });
                let applied = self.register.apply(*entry);
                applied.map_err(|error| self.damaged(error.to_string()))?;
                // The initial entries of the file, with the permission requests above them.
                self.began_with = if kept { self.lines } else { self.began_with };
                Ok(())
            }
            (TrailLine::Sealed(_), Some(_)) => {
                self.state = TrailState::Sealed;
                Ok(())
            }
            _ => Err(self.damaged("a line of this kind is not allowed here".to_owned())),
        }
    }

    fn cut_off_tail(&mut self) -> Result<(), PermissionStoreError> {
        let length =
            self.file.metadata().map_err(PermissionStoreError::disk(&self.path, "stat"))?.len();
        if length > self.read_to {
            // The append never ended, so it was never acknowledged.
            let cut = self.file.set_len(self.read_to);
            cut.map_err(PermissionStoreError::disk(&self.path, "truncate an unfinished line"))?;
        }
        Ok(())
    }

    /// Starts a new trail file with the current permissions. The old one gets another name.
    pub(super) fn start_new_file(
        &mut self,
        moment: &OperationContext,
    ) -> Result<(), PermissionStoreError> {
        let generation = self.head.as_ref().map_or(0, |head| head.generation);
        let next = self.directory.join(".next");
        remove_if_exists(&next)?;
        let mut written = TrailWriter::begin(&next, generation + 1, self.register.number())?;
        let mut number = self.register.number();
        for change in self.register.snapshot(moment.now) {
            number = number.saturating_add(1);
            let (at, traceparent) = (moment.now, moment.traceparent);
            let by = Author::Program("toolexec".to_owned());
            written.add(&TrailLine::Entry(Box::new(TrailEntry {
                number,
                at,
                traceparent,
                by,
                change,
            })))?;
        }
        written.finish()?;
        let old = self.directory.join(format!("trail-{generation:08}.jsonl"));
        remove_if_exists(&old)?;
        // From here on, readers of the old file look for the new one.
        self.append(&TrailLine::Sealed(generation + 1))?;
        fs::hard_link(&self.path, &old)
            .map_err(PermissionStoreError::disk(&old, "keep the old trail"))?;
        sync::rename_over(&next, &self.path)
            .map_err(PermissionStoreError::disk(&self.path, "rename into place"))?;
        self.state = TrailState::Sealed;
        self.read_on()?;
        self.make_head()
    }

    pub(super) fn whole_bytes(&self) -> u64 {
        self.read_to
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn hold(&self, kind: LockMode) -> Result<(), PermissionStoreError> {
        let path = self.directory.join("lock");
        lock_file(&self.lock, kind).map_err(PermissionStoreError::errno(&path, "lock"))
    }

    fn release(&self) -> Result<(), PermissionStoreError> {
        let path = self.directory.join("lock");
        flock(&self.lock, FlockOperation::Unlock)
            .map_err(PermissionStoreError::errno(&path, "unlock"))
    }

    fn check_certain(&self) -> Result<(), PermissionStoreError> {
        match self.state {
            TrailState::Uncertain => {
                Err(PermissionStoreError::Uncertain { path: self.path.clone() })
            }
            TrailState::Sound | TrailState::Sealed => Ok(()),
        }
    }

    /// The trail is wrong, so the help of a nested error does not apply.
    fn damaged(&self, why: String) -> PermissionStoreError {
        let why = why.rsplit_once("; help: ").map_or(why.as_str(), |(why, _)| why).to_owned();
        PermissionStoreError::Damaged { path: self.path.clone(), offset: self.read_to, why }
    }
}

fn create(directory: &Path, path: &Path) -> Result<(), PermissionStoreError> {
    if path.exists() {
        return Ok(());
    }
    let next = directory.join(".next");
    remove_if_exists(&next)?;
    TrailWriter::begin(&next, 0, 0)?.finish()?;
    sync::rename_new(&next, path).map_err(PermissionStoreError::disk(path, "rename into place"))?;
    sync::sync_dir(directory).map_err(PermissionStoreError::disk(directory, "sync"))
}

fn locked<T>(
    lock: &File,
    path: &Path,
    kind: LockMode,
    act: impl FnOnce() -> Result<T, PermissionStoreError>,
) -> Result<T, PermissionStoreError> {
    lock_file(lock, kind).map_err(PermissionStoreError::errno(path, "lock"))?;
    let done = act();
    flock(lock, FlockOperation::Unlock).map_err(PermissionStoreError::errno(path, "unlock"))?;
    done
}

/// The error for a trail that does not match its head: revocations or uses may be missing.
pub(super) fn outdated_error(path: &Path, offset: u64, head: &Path) -> PermissionStoreError {
    let why = format!(
        "the trail was removed, cut, or is an older copy; help: restore its newest copy; if that \
         is lost, remove {}: permissions revoked or used up since then may count again",
        head.display()
    );
    PermissionStoreError::Damaged { path: path.to_owned(), offset, why }
}

fn open_file(path: &Path) -> Result<File, PermissionStoreError> {
    let opened = OpenOptions::new().read(true).append(true).open(path);
    opened.map_err(PermissionStoreError::disk(path, "open"))
}
