//! The trail on the disk: one append-only file, and the register built from it. An acknowledged
//! entry is on the disk, and an incomplete one does not count. Everything else that does not fit is
//! damage, after which no query is answered.
//!
//! Writers hold `lock` exclusively; readers hold it shared, and only when the file has grown. So a
//! tail without a line feed was left by a writer that died: the next writer cuts it off.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use policies::permissions::{Author, Change, Entry, Moment, Register};
use rustix::fs::{FlockOperation, flock, fstat, stat};
use rustix::io::Errno;

use super::error::StoreError;
use super::line::{self, Head, LINE_BYTES_MAX, Line, Sum};
use super::written::{Written, remove_if_there};
use crate::durable;
use crate::lock::{Hold, hold};
use crate::places::make_dir;

/// A position in the trail, and the checksum there.
pub(super) type Kept = crate::ledger::Head;

/// A new file is started when the trail has this many times the lines it began with.
const GROWTH: u64 = 3;
/// The lines below which no new file is started.
const LINES_AT_LEAST: u64 = 10_000;

/// The open trail.
pub(super) struct Journal {
    pub(super) directory: PathBuf,
    pub(super) path: PathBuf,
    /// The path of the head file, outside the directory.
    pub(super) head_path: PathBuf,
    /// The head that must be reached while the trail is read for the first time.
    pub(super) due: Option<Kept>,
    lock: File,
    pub(super) file: File,
    /// The length that was read, to the end of the last whole line.
    pub(super) read_to: u64,
    pub(super) sum: Sum,
    pub(super) head: Option<Head>,
    /// The lines that were read.
    lines: u64,
    /// The lines that the file began with.
    began_with: u64,
    register: Register,
    state: State,
}

/// The state of the open trail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Sound,
    /// The last line announces the next file.
    Sealed,
    /// A write failed, so the contents of the disk are unknown.
    Doubtful,
}

impl Journal {
    pub(super) fn open(directory: &Path) -> Result<Self, StoreError> {
        let directory = make_dir(directory, 0o700)?;
        let lock_path = directory.join("lock");
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock_path);
        let lock = opened.map_err(StoreError::disk(&lock_path, "open"))?;
        let path = directory.join("trail.jsonl");
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let head_path = directory.with_file_name(format!("{name}.head"));
        // Check before the trail: another process may create the trail and its head meanwhile.
        let had_head = head_path.exists();
        if !path.exists() {
            if had_head {
                return Err(lost(&path, 0, &head_path));
            }
            let begin = || begin(&directory, &path);
            locked(&lock, &lock_path, Hold::Exclusive, begin)?;
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
            sum: Sum::default(),
            head: None,
            lines: 0,
            began_with: 0,
            register: Register::default(),
            state: State::Sound,
        };
        journal.hold(Hold::Exclusive)?;
        let settled = journal.settle_head();
        journal.release()?;
        settled.map(|()| journal)
    }

    /// Returns the current permissions. This is one system call if nothing was written since.
    pub(super) fn look(&mut self) -> Result<&Register, StoreError> {
        self.insist_on_certainty()?;
        let stat = fstat(&self.file).map_err(StoreError::errno(&self.path, "stat"))?;
        if stat.st_nlink == 0 && self.state == State::Sound {
            return Err(self.taken_away(&self.path));
        }
        if u64::try_from(stat.st_size).ok() != Some(self.read_to) {
            self.hold(Hold::Shared)?;
            let read = self.read_on();
            self.release()?;
            read?;
        }
        Ok(&self.register)
    }

    /// Checks that the paths still lead to the open files. A trail that was removed or restored
    /// from a copy grows elsewhere, under another lock.
    pub(super) fn insist_on_place(&self) -> Result<(), StoreError> {
        for (file, path) in
            [(&self.lock, self.directory.join("lock")), (&self.file, self.path.clone())]
        {
            let open = fstat(file).map_err(StoreError::errno(&path, "stat"))?;
            let named = match stat(&path) {
                Err(Errno::NOENT) => return Err(self.taken_away(&path)),
                named => named.map_err(StoreError::errno(&path, "stat"))?,
            };
            if (open.st_dev, open.st_ino) != (named.st_dev, named.st_ino) {
                return Err(self.taken_away(&path));
            }
        }
        Ok(())
    }

    fn taken_away(&self, path: &Path) -> StoreError {
        let why = "the file was removed or replaced; help: restart the daemon".to_owned();
        StoreError::Damaged { path: path.to_owned(), offset: 0, why }
    }

    /// Returns the permissions as of the last read.
    pub(super) fn register(&self) -> &Register {
        &self.register
    }

    /// Calls `act` with every line read, while no other process writes.
    pub(super) fn alone<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.insist_on_certainty()?;
        self.hold(Hold::Exclusive)?;
        // Continue with the new file first, if the trail was restarted meanwhile.
        let read = self.read_on().and_then(|()| self.insist_on_place());
        let done = read.and_then(|()| self.cut_off_tail()).and_then(|()| act(self));
        let released = self.release();
        let done = done?;
        released.map(|()| done)
    }

    /// Appends a change; durable when this returns. The caller must hold the exclusive lock.
    pub(super) fn keep(
        &mut self,
        change: Change,
        moment: &Moment,
        by: Author,
    ) -> Result<(), StoreError> {
        let number = self.register.number().saturating_add(1);
        let (at, traceparent) = (moment.now, moment.traceparent);
        let entry = Entry { number, at, traceparent, by, change };
        let line = Line::Entry(Box::new(entry));
        self.append(&line)?;
        let Line::Entry(entry) = line else { return Ok(()) };
        if let Err(error) = self.register.apply(*entry) {
            self.state = State::Doubtful;
            return Err(error.into());
        }
        if self.lines > LINES_AT_LEAST.max(self.began_with.saturating_mul(GROWTH))
            && let Err(error) = self.begin_anew(moment)
        {
            // The change itself is kept.
            tracing::warn!("{error}");
        }
        Ok(())
    }

    fn append(&mut self, line: &Line) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        let sum = line::write(line, self.sum, &mut bytes)
            .map_err(|error| StoreError::disk(&self.path, "write a line")(error.into()))?;
        if bytes.len() > LINE_BYTES_MAX {
            let why = "the change is larger than 1 MiB";
            return Err(policies::permissions::Refused::Full(why).into());
        }
        if let Err(error) = self.file.write_all(&bytes) {
            if self.file.set_len(self.read_to).is_err() {
                self.state = State::Doubtful;
            }
            return Err(StoreError::disk(&self.path, "append a change")(error));
        }
        if let Err(error) = self.file.sync_data() {
            // The state of the kernel's pages is unknown, and a second sync cannot determine it.
            self.state = State::Doubtful;
            if let Err(cut) = self.file.set_len(self.read_to) {
                tracing::warn!("{}: truncate an unsaved change: {cut}", self.path.display());
            }
            return Err(StoreError::disk(&self.path, "sync a change")(error));
        }
        self.read_to += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.sum = sum;
        self.lines += 1;
        self.note_head()
    }

    pub(super) fn read_on(&mut self) -> Result<(), StoreError> {
        loop {
            self.read_lines()?;
            if self.state != State::Sealed {
                return Ok(());
            }
            self.state = State::Sound;
            let next = open_file(&self.path)?;
            let stat = |file: &File| {
                file.metadata()
                    .map(|it| (it.dev(), it.ino()))
                    .map_err(StoreError::disk(&self.path, "stat"))
            };
            if stat(&next)? == stat(&self.file)? {
                // The writer died before the next file was in place, so this file continues.
                return Ok(());
            }
            self.file = next;
            (self.read_to, self.sum, self.head) = (0, Sum::default(), None);
            (self.lines, self.began_with) = (0, 0);
            self.register = Register::default();
        }
    }

    fn read_lines(&mut self) -> Result<(), StoreError> {
        let failed = |act| StoreError::disk(&self.path, act);
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
            bounded.read_until(b'\n', &mut text).map_err(StoreError::disk(&self.path, "read"))?;
            if text.len() > LINE_BYTES_MAX {
                return Err(self.damaged(format!("the line is longer than {LINE_BYTES_MAX} bytes")));
            }
            let Some(whole) = text.strip_suffix(b"\n") else { return Ok(()) };
            let (line, sum) = line::read(whole, self.sum).map_err(|why| self.damaged(why))?;
            self.take_in(line)?;
            self.read_to += u64::try_from(text.len()).unwrap_or(u64::MAX);
            self.sum = sum;
            self.lines += 1;
            if self.due == Some(self.here()) {
                self.due = None;
            }
        }
    }

    fn take_in(&mut self, line: Line) -> Result<(), StoreError> {
        match (line, &self.head) {
            (Line::Begun(head), None) if head.is_ours() => {
                self.register = Register::after(head.after);
                self.head = Some(head);
                Ok(())
            }
            (Line::Entry(entry), Some(_)) => {
                let kept = matches!(entry.change, Change::Kept { .. });
                let applied = self.register.apply(*entry);
                applied.map_err(|error| self.damaged(error.to_string()))?;
                // The initial entries of the file, with the permission requests above them.
                self.began_with = if kept { self.lines } else { self.began_with };
                Ok(())
            }
            (Line::Sealed(_), Some(_)) => {
                self.state = State::Sealed;
                Ok(())
            }
            _ => Err(self.damaged("a line of this kind is not allowed here".to_owned())),
        }
    }

    fn cut_off_tail(&mut self) -> Result<(), StoreError> {
        let length = self.file.metadata().map_err(StoreError::disk(&self.path, "stat"))?.len();
        if length > self.read_to {
            // The append never ended, so it was never acknowledged.
            let cut = self.file.set_len(self.read_to);
            cut.map_err(StoreError::disk(&self.path, "truncate an unfinished line"))?;
        }
        Ok(())
    }

    /// Starts a new trail file with the current permissions. The old file is kept under another
    /// name.
    pub(super) fn begin_anew(&mut self, moment: &Moment) -> Result<(), StoreError> {
        let generation = self.head.as_ref().map_or(0, |head| head.generation);
        let next = self.directory.join(".next");
        remove_if_there(&next)?;
        let mut written = Written::begin(&next, generation + 1, self.register.number())?;
        let mut number = self.register.number();
        for change in self.register.kept(moment.now) {
            number = number.saturating_add(1);
            let (at, traceparent) = (moment.now, moment.traceparent);
            let by = Author::Program("toolexec".to_owned());
            written.add(&Line::Entry(Box::new(Entry { number, at, traceparent, by, change })))?;
        }
        written.end()?;
        let old = self.directory.join(format!("trail-{generation:08}.jsonl"));
        remove_if_there(&old)?;
        // From here on, readers of the old file look for the new one.
        self.append(&Line::Sealed(generation + 1))?;
        fs::hard_link(&self.path, &old).map_err(StoreError::disk(&old, "keep the old trail"))?;
        durable::rename_over(&next, &self.path)
            .map_err(StoreError::disk(&self.path, "rename into place"))?;
        self.state = State::Sealed;
        self.read_on()?;
        self.make_head()
    }

    /// Returns the length of the file to the end of the last whole line that was read.
    pub(super) fn whole_bytes(&self) -> u64 {
        self.read_to
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn hold(&self, kind: Hold) -> Result<(), StoreError> {
        let path = self.directory.join("lock");
        hold(&self.lock, kind).map_err(StoreError::errno(&path, "lock"))
    }

    fn release(&self) -> Result<(), StoreError> {
        let path = self.directory.join("lock");
        flock(&self.lock, FlockOperation::Unlock).map_err(StoreError::errno(&path, "unlock"))
    }

    fn insist_on_certainty(&self) -> Result<(), StoreError> {
        match self.state {
            State::Doubtful => Err(StoreError::Doubtful { path: self.path.clone() }),
            State::Sound | State::Sealed => Ok(()),
        }
    }

    fn damaged(&self, why: String) -> StoreError {
        let why = format!("{why}; help: restore the newest copy of the trail");
        StoreError::Damaged { path: self.path.clone(), offset: self.read_to, why }
    }
}

fn begin(directory: &Path, path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    let next = directory.join(".next");
    remove_if_there(&next)?;
    Written::begin(&next, 0, 0)?.end()?;
    durable::rename_new(&next, path).map_err(StoreError::disk(path, "rename into place"))?;
    durable::sync_dir(directory).map_err(StoreError::disk(directory, "sync"))
}

fn locked<T>(
    lock: &File,
    path: &Path,
    kind: Hold,
    act: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    hold(lock, kind).map_err(StoreError::errno(path, "lock"))?;
    let done = act();
    flock(lock, FlockOperation::Unlock).map_err(StoreError::errno(path, "unlock"))?;
    done
}

/// The error for a trail that is shorter than its head, or a different one: revocations or uses may
/// be missing.
pub(super) fn lost(path: &Path, offset: u64, head: &Path) -> StoreError {
    let why = format!(
        "the trail was removed, cut, or is an older copy; help: restore its newest copy; if that \
         is lost, remove {}: permissions revoked or used up since then may count again",
        head.display()
    );
    StoreError::Damaged { path: path.to_owned(), offset, why }
}

fn open_file(path: &Path) -> Result<File, StoreError> {
    let opened = OpenOptions::new().read(true).append(true).open(path);
    opened.map_err(StoreError::disk(path, "open"))
}
