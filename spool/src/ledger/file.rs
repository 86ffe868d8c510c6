//! The ledger's file. It must never accept an invalid line, nor forget a line that was read.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ClaimId, RequestId, ResultId, Sha256, UtcTime};
use policies::Approved;
use policies::standing::{UseRefusal, check_use};
use rustix::fs::{FlockOperation, flock, fstat, stat};
use serde::Serialize;

use super::checksum::{self, LineChecksum, SealState};
use super::entry::{LedgerEntry, LedgerNote};
use super::fault::LedgerFault;
use super::head::{HeadFile, LedgerHead};
use super::keys::{self, LEDGER_BYTES_MAX, LedgerIndex, LedgerKey};
use super::lines::{LINE_BYTES_MAX, LedgerLines, NextLedgerLine, line_at};
use super::model::{Intent, PriorRun};
use super::standing::{StandingLedger, StandingUseLine};
use crate::error::SpoolError;
use crate::lock::{LockMode, lock_file};

pub(crate) struct Ledger {
    path: PathBuf,
    /// Shared, because a second descriptor could be missing after a line was written.
    file: Arc<File>,
    /// `None` only while the ledger is being opened.
    head: Option<HeadFile>,
    /// The head that must be reached while the ledger is read for the first time.
    due: Option<LedgerHead>,
    /// The length that was read, and the checksum there.
    read: LedgerHead,
    /// The state of the last checksum. After a line with a checksum, each later line needs one.
    seal: SealState,
    keys: LedgerIndex,
    /// The used nonces. Only runs bound to an intent have one.
    nonces: HashSet<String>,
    standing: StandingLedger,
    /// Claims whose tool was never started.
    released: HashSet<String>,
    lines: usize,
    last_begun: Option<UtcTime>,
}

pub(super) enum AppendOutcome {
    /// The line ends there. It is not durable yet.
    Appended(LedgerHead),
    Refused(PriorRun),
    /// The standing approval may not be used once more.
    UseRefused(UseRefusal),
}

impl Ledger {
    /// Opens the ledger, or makes a new one unless `shown_by` shows that one existed.
    pub(crate) fn open(
        path: &Path,
        head: &Path,
        shown_by: Option<PathBuf>,
    ) -> Result<Self, SpoolError> {
        if !path.try_exists().map_err(SpoolError::io(path, "look up"))? {
            let kept = head.exists().then(|| head.to_owned());
            if let Some(shown_by) = kept.or(shown_by) {
                return Err(SpoolError::ledger(path, LedgerFault::Missing { shown_by }));
            }
        }
        let opened = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let file = Arc::new(opened.map_err(SpoolError::io(path, "open"))?);
        // A line is only durable if the file's name is.
        let parent = path.parent().unwrap_or(path);
        crate::sync::sync_dir(parent).map_err(SpoolError::io(parent, "sync"))?;
        let mut ledger = Self {
            path: path.to_owned(),
            file,
            head: None,
            due: None,
            read: LedgerHead::default(),
            seal: SealState::None,
            keys: LedgerIndex::default(),
            nonces: HashSet::new(),
            standing: StandingLedger::default(),
            released: HashSet::new(),
            lines: 0,
            last_begun: None,
        };
        ledger.lock()?;
        let settled = ledger.check_path().and_then(|()| ledger.check_head(head));
        ledger.unlock()?;
        settled.map(|()| ledger)
    }

    /// Checks the whole file against its head, or makes the head of a ledger without one.
    fn check_head(&mut self, path: &Path) -> Result<(), SpoolError> {
        let head = HeadFile::open(path)?;
        self.due = head.as_ref().map(|(_, head)| *head).filter(|head| head.bytes > 0);
        self.refresh()?;
        if let Some(due) = self.due {
            let (bytes, head_bytes) = (self.read.bytes, due.bytes);
            return Err(self.fault(LedgerFault::Truncated { bytes, head_bytes }));
        }
        self.head = match head {
            Some((head, _)) => Some(head),
            None if self.seal == SealState::Good => return Err(self.fault(LedgerFault::NoHead)),
            None => {
                // Lines of an earlier version may have been written without a sync.
                self.file.sync_all().map_err(SpoolError::io(&self.path, "sync"))?;
                Some(HeadFile::make(path, self.read)?)
            }
        };
        Ok(())
    }

    fn fault(&self, fault: LedgerFault) -> SpoolError {
        SpoolError::ledger(&self.path, fault)
    }

    fn lock(&self) -> Result<(), SpoolError> {
        lock_file(&self.file, LockMode::Exclusive).map_err(SpoolError::errno(&self.path, "lock"))
    }

    fn unlock(&self) -> Result<(), SpoolError> {
        let unlocked = flock(&self.file, FlockOperation::Unlock);
        unlocked.map_err(SpoolError::errno(&self.path, "unlock"))
    }

    /// Calls `act` with every line read, while no other process reads or writes.
    pub(crate) fn with_lock<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, SpoolError>,
    ) -> Result<T, SpoolError> {
        self.lock()?;
        let done = self.check_path().and_then(|()| self.refresh()).and_then(|()| act(self));
        self.unlock()?;
        done
    }

    /// Checks that the path still leads to the open file. If the ledger was removed or replaced by
    /// a copy, other processes no longer see its lines, so the recorded starts are not complete.
    fn check_path(&self) -> Result<(), SpoolError> {
        let failed = SpoolError::errno(&self.path, "stat");
        let open = fstat(&self.file).map_err(failed)?;
        let named = stat(&self.path).map_err(SpoolError::errno(&self.path, "stat"))?;
        if (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino) {
            return Ok(());
        }
        let replaced = std::io::Error::other("another file replaced it; help: restart the daemon");
        Err(SpoolError::io(&self.path, "use")(replaced))
    }

    fn refresh(&mut self) -> Result<(), SpoolError> {
        let found = self.file.metadata().map_err(SpoolError::io(&self.path, "stat"))?;
        if found.len() == self.read.bytes {
            return Ok(());
        }
        let least = self.due.map_or(self.read.bytes, |due| due.bytes);
        if found.len() < least {
            let (bytes, head_bytes) = (found.len(), least);
            return Err(self.fault(LedgerFault::Truncated { bytes, head_bytes }));
        }
        let file = self.handle();
        let mut entries = Vec::new();
        let read = self.read_on(&file, &mut entries);
        // Also the lines before a failure: they are not read again.
        self.keys.add(entries);
        read
    }

    fn read_on(
        &mut self,
        file: &File,
        entries: &mut Vec<keys::IndexEntry>,
    ) -> Result<(), SpoolError> {
        let lines = LedgerLines::from(file, self.read.bytes);
        let mut lines = lines.map_err(SpoolError::io(&self.path, "read"))?;
        loop {
            match lines.next().map_err(SpoolError::io(&self.path, "read"))? {
                NextLedgerLine::Line(line) => self.add_line(line, entries)?,
                NextLedgerLine::End => return Ok(()),
                NextLedgerLine::TooLong => return Err(self.invalid_line(self.lines + 1)),
                NextLedgerLine::Unfinished if self.due.is_some() => return Ok(()),
                NextLedgerLine::Unfinished => {
                    // The append never completed, so no tool was started because of this line.
                    let cut = self.file.set_len(self.read.bytes);
                    return cut.map_err(SpoolError::io(&self.path, "truncate an unfinished line"));
                }
            }
        }
    }

    fn add_line(
        &mut self,
        line: &[u8],
        entries: &mut Vec<keys::IndexEntry>,
    ) -> Result<(), SpoolError> {
        let number = self.lines + 1;
        let opened = checksum::unseal(line, self.read.sum);
        if opened.seal == SealState::Wrong
            || (self.seal, opened.seal) == (SealState::Good, SealState::None)
        {
            return Err(self.fault(LedgerFault::Checksum { line: number }));
        }
        let entry = LedgerEntry::parse(&opened.json).ok_or_else(|| self.invalid_line(number))?;
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1);
        let read = LedgerHead { bytes: self.read.bytes.saturating_add(length), sum: opened.sum };
        if read.bytes > LEDGER_BYTES_MAX {
            return Err(SpoolError::TooLarge {
                path: self.path.clone(),
                bytes_max: LEDGER_BYTES_MAX,
            });
        }
        if let Some(due) = self.due.filter(|due| due.bytes <= read.bytes) {
            if due != read {
                return Err(self.fault(LedgerFault::Different { head_bytes: due.bytes }));
            }
            self.due = None;
        }
        if let LedgerEntry::Noted(LedgerNote::NotStarted { claim }) = &entry {
            self.keys.add(std::mem::take(entries));
            self.release(claim)?;
        }
        let keys = entry.keys();
        entries.extend(keys.into_iter().map(|key| self.keys.entry(key, self.read.bytes)));
        match entry {
            LedgerEntry::Begun(intent) => {
                let at = intent.begun.parse().ok();
                self.last_begun = self.last_begun.max(at);
                self.nonces.extend(intent.ais_nonce);
                // A use stays spent even if no tool was started: it was counted before.
                if let Some(used) = &intent.standing {
                    self.standing.count_use(&used.sha256, used.number, at);
                }
            }
            LedgerEntry::Noted(note) => self.add_standing_note(&note),
        }
        self.lines = number;
        self.seal = opened.seal;
        self.read = read;
        Ok(())
    }

    fn add_standing_note(&mut self, note: &LedgerNote) {
        match note {
            LedgerNote::StandingAdmitted(note) => self.standing.admit(note),
            LedgerNote::StandingRevoked(note) => self.standing.revoke(note),
            LedgerNote::StandingUsed(note) => {
                self.standing.count_use(&note.sha256, note.number, note.at.parse().ok());
            }
            LedgerNote::Adopted(run) => {
                if let Some(sha256) = &run.standing_sha256 {
                    let at = run.result_id.parse::<ResultId>().ok().map(|id| id.at());
                    self.standing.count_use(sha256, 0, at);
                }
            }
            LedgerNote::NotStarted { .. } | LedgerNote::Ordered(_) => {}
        }
    }

    /// Undoes the use of a request by a claim's line.
    fn release(&mut self, claim: &str) -> Result<(), SpoolError> {
        let Some((offset, LedgerEntry::Begun(intent))) = self.find_at(LedgerKey::Claim(claim))?
        else {
            return Ok(());
        };
        if !self.released.insert(claim.to_owned()) {
            return Ok(());
        }
        for key in intent.keys().filter(|key| !matches!(key, LedgerKey::Claim(_))) {
            let entry = self.keys.entry(key, offset);
            self.keys.remove(entry);
        }
        if let Some(nonce) = &intent.ais_nonce {
            self.nonces.remove(nonce);
        }
        Ok(())
    }

    fn invalid_line(&self, line: usize) -> SpoolError {
        SpoolError::LedgerLine { path: self.path.clone(), line }
    }

    /// Returns the last line with this key and its offset. It reads the line: the index only hints.
    fn find_at(&self, key: LedgerKey<'_>) -> Result<Option<(u64, LedgerEntry)>, SpoolError> {
        for offset in self.keys.offsets(key) {
            let entry = self.line_of(key, offset)?;
            if entry.keys().contains(&key) {
                return Ok(Some((offset, entry)));
            }
        }
        Ok(None)
    }

    fn find(&self, key: LedgerKey<'_>) -> Result<Option<LedgerEntry>, SpoolError> {
        Ok(self.find_at(key)?.map(|(_, entry)| entry))
    }

    /// Reads the line at an offset whose index entry matched this key. A different line there means
    /// that another process writes over lines; that is an error, because no line may be missed.
    fn line_of(&self, key: LedgerKey<'_>, offset: u64) -> Result<LedgerEntry, SpoolError> {
        let line = line_at(&self.file, offset).map_err(SpoolError::io(&self.path, "read"))?;
        let entry = line.and_then(|line| {
            LedgerEntry::parse(&checksum::unseal(&line, LineChecksum::default()).json)
        });
        let is_it =
            |entry: &LedgerEntry| entry.keys().iter().any(|its| self.keys.share_prefix(*its, key));
        entry.filter(is_it).ok_or_else(|| {
            let changed = io::Error::other("a line was changed; help: restore the ledger");
            SpoolError::io(&self.path, "read again")(changed)
        })
    }

    pub(super) fn look_up(
        &self,
        sha256: &Sha256,
        id: &RequestId,
    ) -> Result<Option<PriorRun>, SpoolError> {
        let known = |entry: &LedgerEntry| {
            let (result_id, results) = entry.promised()?;
            Some((results.join(result_id), result_id.to_owned()))
        };
        let bytes = self.find(LedgerKey::Bytes(&sha256.to_string()))?;
        if let Some((record, result_id)) = bytes.as_ref().and_then(known) {
            return Ok(Some(PriorRun::SameBytes { result_id, record }));
        }
        let named = self.find(LedgerKey::RequestId(id.as_str()))?;
        let seen = named.as_ref().and_then(known);
        Ok(seen.map(|(record, result_id)| PriorRun::SameId { result_id, record }))
    }

    pub(super) fn handle(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn nonces(&self) -> &HashSet<String> {
        &self.nonces
    }

    pub(crate) fn standing(&self) -> &StandingLedger {
        &self.standing
    }

    pub(super) fn last_begun(&self) -> Option<UtcTime> {
        self.last_begun
    }

    pub(crate) fn intent_of(&mut self, claim: &ClaimId) -> Result<Option<Intent>, SpoolError> {
        let found = self.with_lock(|ledger| ledger.find(LedgerKey::Claim(claim.as_str())))?;
        Ok(match found {
            Some(LedgerEntry::Begun(intent)) => Some(*intent),
            Some(LedgerEntry::Noted(_)) | None => None,
        })
    }

    pub(crate) fn was_never_started(&self, claim: &ClaimId) -> bool {
        self.released.contains(claim.as_str())
    }

    /// Appends the line of a first start, or returns the earlier start. A use of a standing approval
    /// gets its number here, while no other process can take it.
    pub(super) fn append_start(
        &mut self,
        intent: &mut Intent,
        approved: &Approved,
        at: UtcTime,
    ) -> Result<AppendOutcome, SpoolError> {
        let again = intent.replays.is_some();
        let request = approved.request();
        let seen = self.look_up(&request.sha256(), request.id())?.filter(|_| !again);
        // A replay uses its envelope up too: an envelope allows a single run.
        let nonce = intent.ais_nonce.clone().filter(|nonce| self.nonces.contains(nonce));
        if let Some(seen) = seen.or(nonce.map(|nonce| PriorRun::SameNonce { nonce })) {
            return Ok(AppendOutcome::Refused(seen));
        }
        if let Some(used) = approved.grant().standing().filter(|_| !again) {
            let sha256 = used.approval().sha256().to_string();
            let uses = self.standing.uses(&sha256, at);
            // A standing approval that was never admitted has no use left.
            let number = uses
                .map_or(Err(UseRefusal::Revoked), |uses| check_use(used.approval().terms(), &uses));
            match number {
                Ok(number) => intent.standing = Some(StandingUseLine { sha256, number }),
                Err(refusal) => return Ok(AppendOutcome::UseRefused(refusal)),
            }
        }
        self.append(intent).map(AppendOutcome::Appended)
    }

    /// Appends a line and returns its end. The line is not durable yet.
    pub(crate) fn append(&mut self, entry: &impl Serialize) -> Result<LedgerHead, SpoolError> {
        let json = serde_json::to_vec(entry)
            .map_err(|error| SpoolError::io(&self.path, "write a line")(error.into()))?;
        let (line, _) = checksum::seal(json, self.read.sum);
        if line.len() > LINE_BYTES_MAX {
            let why = format!("longer than {LINE_BYTES_MAX} bytes; help: report this as a bug");
            let too_long = io::Error::new(io::ErrorKind::InvalidInput, why);
            return Err(SpoolError::io(&self.path, "write a line")(too_long));
        }
        if let Err(error) = (&*self.file).write_all(&line) {
            // Nothing was synced, and the lock excludes other processes, so a partial line has no
            // effect. If it cannot be cut off now, the next refresh does it.
            let cut = self.file.set_len(self.read.bytes);
            tracing::debug!(cut = cut.is_ok(), "{}: partial line", self.path.display());
            return Err(SpoolError::io(&self.path, "append the intent")(error));
        }
        self.refresh()?;
        Ok(self.read)
    }

    pub(super) fn note_durable(&mut self, to: LedgerHead) -> Result<(), SpoolError> {
        self.with_lock(|ledger| match ledger.head.as_ref().map(|head| head.advance(to)) {
            // The previous head still matches a beginning of the ledger.
            Some(Err(error)) if error.shortage().is_some() => {
                tracing::warn!("the previous head stays valid: {error}");
                Ok(())
            }
            advanced => advanced.unwrap_or(Ok(())),
        })
    }

    /// Makes every line read durable, also those of other processes, and updates the head.
    pub(crate) fn sync_all_lines(&mut self) -> Result<(), SpoolError> {
        let read = self.with_lock(|ledger| {
            let synced = ledger.file.sync_data();
            synced.map_err(SpoolError::unsynced(&ledger.path)).map(|()| ledger.read)
        })?;
        self.note_durable(read)
    }
}
