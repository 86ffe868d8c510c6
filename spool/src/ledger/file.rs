//! The ledger's file: read once, looked up by key, appended to. It must never take a line for one of ours
//! that is not, nor let one be unseen that was read.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, fstat, stat};
use validator::{Request, RequestId, Sha256, UtcTime};

use super::Seen;
use super::intent::Intent;
use super::keys::{Entry, Key, Keys, LEDGER_BYTES_MAX};
use super::lines::{LINE_BYTES_MAX, Lines, Next, line_at};
use crate::claim::ClaimId;
use crate::error::SpoolError;
use crate::lock::{Hold, hold};

pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
    /// How far the file has been read.
    read_to: u64,
    keys: Keys,
    /// Only runs that are bound to an intent have one.
    nonces: HashSet<String>,
    lines: usize,
    last_begun: Option<UtcTime>,
}

impl Ledger {
    pub(crate) fn open(path: &Path) -> Result<Self, SpoolError> {
        let opened = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let file = opened.map_err(SpoolError::io(path, "open"))?;
        // A line is durable only if the file's name is.
        let parent = path.parent().unwrap_or(path);
        crate::durable::sync_dir(parent).map_err(SpoolError::io(parent, "make durable"))?;
        let mut ledger = Self {
            path: path.to_owned(),
            file,
            read_to: 0,
            keys: Keys::default(),
            nonces: HashSet::new(),
            lines: 0,
            last_begun: None,
        };
        ledger.locked(|_| Ok(()))?;
        Ok(ledger)
    }

    /// Does `act` while nobody else reads or writes, with every line read.
    pub(super) fn locked<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, SpoolError>,
    ) -> Result<T, SpoolError> {
        hold(&self.file, Hold::Exclusive).map_err(SpoolError::errno(&self.path, "lock"))?;
        let done = self.insist_on_place().and_then(|()| self.refresh()).and_then(|()| act(self));
        flock(&self.file, FlockOperation::Unlock)
            .map_err(SpoolError::errno(&self.path, "unlock"))?;
        done
    }

    /// A ledger that was taken away or put back from a copy is read by nobody else any more: what it
    /// says was never started may have been.
    fn insist_on_place(&self) -> Result<(), SpoolError> {
        let failed = SpoolError::errno(&self.path, "look at");
        let open = fstat(&self.file).map_err(failed)?;
        let named = stat(&self.path).map_err(SpoolError::errno(&self.path, "look at"))?;
        if (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino) {
            return Ok(());
        }
        let replaced = std::io::Error::other("another file was put in its place; start again");
        Err(SpoolError::io(&self.path, "go on with")(replaced))
    }

    fn refresh(&mut self) -> Result<(), SpoolError> {
        let found = self.file.metadata().map_err(SpoolError::io(&self.path, "look at"))?;
        if found.len() == self.read_to {
            return Ok(());
        }
        if found.len() < self.read_to {
            let shorter = io::Error::other("is shorter than it was; put the ledger back");
            return Err(SpoolError::io(&self.path, "go on with")(shorter));
        }
        // Its own description of the file would be another lock.
        let file = self.file.try_clone().map_err(SpoolError::io(&self.path, "open"))?;
        let mut entries = Vec::new();
        let read = self.read_on(&file, &mut entries);
        // Also those before a failure: they are not read again.
        self.keys.add(entries);
        read
    }

    fn read_on(&mut self, file: &File, entries: &mut Vec<Entry>) -> Result<(), SpoolError> {
        let lines = Lines::from(file, self.read_to);
        let mut lines = lines.map_err(SpoolError::io(&self.path, "read"))?;
        loop {
            match lines.next().map_err(SpoolError::io(&self.path, "read"))? {
                Next::Line(line) => self.take_in(line, entries)?,
                Next::End => return Ok(()),
                Next::TooLong => return Err(self.wrong_line(self.lines + 1)),
                Next::Unfinished => {
                    // The append never completed, so nothing was ever started on the strength of it.
                    let cut = self.file.set_len(self.read_to);
                    return cut.map_err(SpoolError::io(&self.path, "cut off an unfinished line"));
                }
            }
        }
    }

    fn take_in(&mut self, line: &[u8], entries: &mut Vec<Entry>) -> Result<(), SpoolError> {
        let intent: Intent =
            serde_json::from_slice(line).map_err(|_| self.wrong_line(self.lines + 1))?;
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1);
        if self.read_to.saturating_add(length) > LEDGER_BYTES_MAX {
            return Err(SpoolError::TooLarge {
                path: self.path.clone(),
                bytes_max: LEDGER_BYTES_MAX,
            });
        }
        entries.extend(intent.keys().map(|key| self.keys.entry(key, self.read_to)));
        self.last_begun = self.last_begun.max(intent.begun.parse().ok());
        self.nonces.extend(intent.ais_nonce);
        self.lines += 1;
        self.read_to += length;
        Ok(())
    }

    fn wrong_line(&self, line: usize) -> SpoolError {
        SpoolError::LedgerLine { path: self.path.clone(), line }
    }

    /// The last line that has this key. The line itself is read: that something was found is only a hint.
    fn find(&self, key: Key<'_>) -> Result<Option<Intent>, SpoolError> {
        for offset in self.keys.offsets(key) {
            let intent = self.line_of(key, offset)?;
            if intent.keys().any(|its| its == key) {
                return Ok(Some(intent));
            }
        }
        Ok(None)
    }

    /// The line at a place where one was read that looked as if it had this key. Another one there now,
    /// which could not have looked so, is somebody's who writes over lines: nothing may be unseen by it.
    fn line_of(&self, key: Key<'_>, offset: u64) -> Result<Intent, SpoolError> {
        let line = line_at(&self.file, offset).map_err(SpoolError::io(&self.path, "read"))?;
        let intent = line.and_then(|line| serde_json::from_slice::<Intent>(&line).ok());
        let is_it = |intent: &Intent| intent.keys().any(|its| self.keys.are_alike(its, key));
        intent.filter(is_it).ok_or_else(|| {
            let changed = io::Error::other("a line is not what it was; put the ledger back");
            SpoolError::io(&self.path, "read again")(changed)
        })
    }

    pub(super) fn look_up(
        &self,
        sha256: &Sha256,
        id: &RequestId,
    ) -> Result<Option<Seen>, SpoolError> {
        let known = |intent: Intent| (intent.record(), intent.result_id);
        if let Some(intent) = self.find(Key::Bytes(&sha256.to_string()))? {
            let (record, result_id) = known(intent);
            return Ok(Some(Seen::SameBytes { result_id, record }));
        }
        let Some(intent) = self.find(Key::RequestId(id.as_str()))? else { return Ok(None) };
        let (record, result_id) = known(intent);
        Ok(Some(Seen::SameId { result_id, record }))
    }

    /// The file itself, for who makes it durable.
    pub(super) fn handle(&self) -> Result<File, SpoolError> {
        self.file.try_clone().map_err(SpoolError::io(&self.path, "open"))
    }

    pub(super) fn nonces(&self) -> &HashSet<String> {
        &self.nonces
    }

    /// When the last run was begun, by the lines' own word.
    pub(super) fn last_begun(&self) -> Option<UtcTime> {
        self.last_begun
    }

    pub(crate) fn intent_of(&mut self, claim: &ClaimId) -> Result<Option<Intent>, SpoolError> {
        self.locked(|ledger| ledger.find(Key::Claim(claim.as_str())))
    }

    /// Appends the line of a start that was not made before, or says which was. The line is not durable
    /// yet. Returns where.
    pub(super) fn take(
        &mut self,
        intent: Intent,
        request: &Request,
    ) -> Result<(PathBuf, Option<Seen>), SpoolError> {
        let again = intent.replays.is_some();
        let seen = self.look_up(&request.sha256(), request.id())?.filter(|_| !again);
        // Also a replay of a run uses its envelope up, and it has but one.
        let nonce = intent.ais_nonce.clone().filter(|nonce| self.nonces.contains(nonce));
        let seen = seen.or(nonce.map(|nonce| Seen::SameNonce { nonce }));
        if seen.is_none() {
            self.append(&intent)?;
        }
        Ok((self.path.clone(), seen))
    }

    fn append(&mut self, intent: &Intent) -> Result<(), SpoolError> {
        let mut line = serde_json::to_vec(intent)
            .map_err(|error| SpoolError::io(&self.path, "write a line")(error.into()))?;
        line.push(b'\n');
        if line.len() > LINE_BYTES_MAX {
            let too_long = io::Error::from(io::ErrorKind::InvalidInput);
            return Err(SpoolError::io(&self.path, "write a line that long")(too_long));
        }
        let written = self.file.write_all(&line);
        written.map_err(SpoolError::io(&self.path, "append the intent"))?;
        self.refresh()
    }
}
