//! Which requests were started: one line each, durable before exec, never removed.
//!
//! The line is the intent. Whoever has it may start the tool, once; whoever finds it there already may
//! not. Its digest and its id both use a request up, so that neither the same bytes nor another
//! request under the same id can run again. A replay of a record uses nothing up and is kept apart: its
//! line only says what recovery must tell if nobody is left to.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use rustix::fs::{FlockOperation, flock, fstat, stat};
use serde::{Deserialize, Serialize};
use validator::{Request, RequestId, ResultId, Sha256, UtcTime};

use crate::claim::{ClaimId, Replayed};
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::places::Spool;
use crate::stage::Staged;

/// A started request, as the ledger remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// These very bytes were started before.
    SameBytes { result_id: String, record: PathBuf },
    /// Another request with this id was.
    SameId { result_id: String, record: PathBuf },
    /// Another request with the nonce of its AIS envelope was.
    SameNonce { nonce: String },
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameBytes { record, .. } => {
                write!(f, "these bytes were run before; the record is {}", record.display())
            }
            Self::SameNonce { nonce } => {
                let nonce = validator::escape_line(nonce);
                write!(f, "the nonce `{nonce}` of its envelope was used before")
            }
            Self::SameId { record, .. } => {
                write!(
                    f,
                    "another request was run under this id; its record is {}",
                    record.display()
                )
            }
        }
    }
}

/// One line of the ledger.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intent {
    pub(crate) request_sha256: String,
    pub(crate) request_id: String,
    pub(crate) result_id: String,
    pub(crate) claim: String,
    /// When the run was begun, UTC.
    pub(crate) begun: String,
    /// Where the record was to be published.
    pub(crate) results: PathBuf,
    /// What the record must say of the decision even if nobody is left to ask.
    pub(crate) policy_name: String,
    pub(crate) policy_sha256: String,
    pub(crate) approval: String,
    /// Hosts that the run was granted, and may have reached whatever is left of it. Lines of programs
    /// that did not write them say nothing, which is not the same as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hosts: Option<Vec<String>>,
    /// The nonce of the envelope that bound it to an intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ais_nonce: Option<String>,
    /// The record whose run is done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replays: Option<Replayed>,
}

impl Intent {
    pub(crate) fn record(&self) -> PathBuf {
        self.results.join(&self.result_id)
    }
}

/// The proof that this start is durably known, and that it is the request's first and only one, or the
/// declared replay of a record.
#[must_use = "the request is used up: what happens now must be recorded"]
pub struct Begun {
    staged: Staged,
    result_id: ResultId,
    at: UtcTime,
}

impl Begun {
    /// The parts, for what comes after the run.
    pub fn into_staged(self) -> Staged {
        self.staged
    }

    pub fn staged(&self) -> &Staged {
        &self.staged
    }

    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// When.
    #[must_use]
    pub fn at(&self) -> UtcTime {
        self.at
    }
}

/// Why a request was not begun.
pub enum BeginError {
    /// It was started meanwhile, by another process. What was staged comes back.
    Started {
        staged: Box<Staged>,
        seen: Seen,
    },
    Disk(SpoolError),
}

pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
    /// How far the file has been read.
    read_to: u64,
    by_bytes: HashMap<String, Intent>,
    by_id: HashMap<String, Intent>,
    replays: HashMap<String, Intent>,
    nonces: HashSet<String>,
    lines: usize,
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
            by_bytes: HashMap::new(),
            by_id: HashMap::new(),
            replays: HashMap::new(),
            nonces: HashSet::new(),
            lines: 0,
        };
        ledger.locked(|_| Ok(()))?;
        Ok(ledger)
    }

    /// Does `act` while nobody else reads or writes, with every line read.
    fn locked<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, SpoolError>,
    ) -> Result<T, SpoolError> {
        flock(&self.file, FlockOperation::LockExclusive)
            .map_err(SpoolError::errno(&self.path, "lock"))?;
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
        let fail = SpoolError::io(&self.path, "read");
        let read = || -> std::io::Result<Vec<String>> {
            let mut reader = BufReader::new(&self.file);
            reader.seek(SeekFrom::Start(self.read_to))?;
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(lines);
                }
                lines.push(line);
            }
        };
        for line in read().map_err(fail)? {
            let Some(text) = line.strip_suffix('\n') else {
                // The append never completed, so nothing was ever started on the strength of it.
                let cut = self.file.set_len(self.read_to);
                return cut.map_err(SpoolError::io(&self.path, "cut off an unfinished line"));
            };
            self.lines += 1;
            let wrong = SpoolError::LedgerLine { path: self.path.clone(), line: self.lines };
            let intent: Intent = serde_json::from_str(text).map_err(|_| wrong)?;
            self.read_to += u64::try_from(line.len()).unwrap_or(u64::MAX);
            self.remember(intent);
        }
        Ok(())
    }

    fn remember(&mut self, intent: Intent) {
        self.nonces.extend(intent.ais_nonce.clone());
        if intent.replays.is_some() {
            self.replays.insert(intent.claim.clone(), intent);
            return;
        }
        self.by_id.insert(intent.request_id.clone(), intent.clone());
        self.by_bytes.insert(intent.request_sha256.clone(), intent);
    }

    fn look_up(&self, sha256: &Sha256, id: &RequestId) -> Option<Seen> {
        let known = |intent: &Intent| (intent.result_id.clone(), intent.record());
        if let Some(intent) = self.by_bytes.get(&sha256.to_string()) {
            let (result_id, record) = known(intent);
            return Some(Seen::SameBytes { result_id, record });
        }
        let (result_id, record) = known(self.by_id.get(id.as_str())?);
        Some(Seen::SameId { result_id, record })
    }

    pub(crate) fn intent_of(&mut self, claim: &ClaimId) -> Result<Option<Intent>, SpoolError> {
        self.locked(|ledger| {
            let replay = ledger.replays.get(claim.as_str());
            let of = |intent: &&Intent| intent.claim == claim.as_str();
            Ok(replay.or_else(|| ledger.by_bytes.values().find(of)).cloned())
        })
    }

    /// Appends the line of a start that was not made before, or says which was. The line is not durable
    /// yet. Returns where.
    fn take(
        &mut self,
        intent: Intent,
        request: &Request,
    ) -> Result<(PathBuf, Option<Seen>), SpoolError> {
        let again = intent.replays.is_some();
        let seen = self.look_up(&request.sha256(), request.id()).filter(|_| !again);
        // Also a replay of a run uses its envelope up, and it has but one.
        let nonce = intent.ais_nonce.clone().filter(|nonce| self.nonces.contains(nonce));
        let seen = seen.or(nonce.map(|nonce| Seen::SameNonce { nonce }));
        if seen.is_none() {
            self.append(intent)?;
        }
        Ok((self.path.clone(), seen))
    }

    fn append(&mut self, intent: Intent) -> Result<(), SpoolError> {
        let mut line = serde_json::to_string(&intent)
            .map_err(|error| SpoolError::io(&self.path, "write a line")(error.into()))?;
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written.map_err(SpoolError::io(&self.path, "append the intent"))?;
        self.read_to += u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.lines += 1;
        self.remember(intent);
        Ok(())
    }
}

impl Spool {
    /// Whether a request was started before, by its bytes or by its id.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn seen(&self, sha256: &Sha256, id: &RequestId) -> Result<Option<Seen>, SpoolError> {
        self.ledger().locked(|ledger| Ok(ledger.look_up(sha256, id)))
    }

    /// Every nonce of an AIS envelope that a start used up, as of the last look at the ledger. Nobody
    /// begins anything while it is held.
    #[must_use]
    pub fn nonces_used(&self) -> NoncesUsed<'_> {
        NoncesUsed(self.ledger())
    }

    /// The barrier before exec: the claim's files and the ledger line are on the disk when this
    /// returns, and no other process can get a [`Begun`] for the same request
    /// that is no replay.
    ///
    /// # Errors
    /// [`BeginError`]; nothing may be run then.
    pub fn begin(
        &self,
        staged: Staged,
        result_id: ResultId,
        at: UtcTime,
    ) -> Result<Begun, BeginError> {
        // First, so that whoever finds a line finds what it speaks of.
        self.barrier().pass(&[&staged.claimed().directory]).map_err(BeginError::Disk)?;
        reach(Failpoint::ClaimDurable);
        let intent = intent_of(&staged, &result_id, at, self.results());
        let written =
            self.ledger().locked(|ledger| ledger.take(intent, staged.approved().request()));
        let (path, seen) = written.map_err(BeginError::Disk)?;
        if let Some(seen) = seen {
            return Err(BeginError::Started { staged: Box::new(staged), seen });
        }
        reach(Failpoint::IntentWritten);
        // Without keeping others from writing theirs.
        let file = self.ledger().file.try_clone();
        let file = file.map_err(|error| BeginError::Disk(SpoolError::io(&path, "open")(error)))?;
        self.barrier().pass_file(&path, &file).map_err(BeginError::Disk)?;
        reach(Failpoint::IntentDurable);
        Ok(Begun { staged, result_id, at })
    }
}

/// The nonces that were used up, held still.
pub struct NoncesUsed<'a>(MutexGuard<'a, Ledger>);

impl Deref for NoncesUsed<'_> {
    type Target = HashSet<String>;

    fn deref(&self) -> &Self::Target {
        &self.0.nonces
    }
}

fn intent_of(staged: &Staged, result_id: &ResultId, at: UtcTime, results: &Path) -> Intent {
    let request = staged.approved().request();
    let grant = staged.approved().grant();
    let hosts = grant.network().map_or_else(Vec::new, |it| it.hosts.keys().cloned().collect());
    Intent {
        request_sha256: request.sha256().to_string(),
        request_id: request.id().to_string(),
        result_id: result_id.to_string(),
        claim: staged.claimed().id().as_str().to_owned(),
        begun: at.to_string(),
        results: results.to_owned(),
        policy_name: grant.policy_name().to_owned(),
        policy_sha256: grant.policy_sha256().to_string(),
        approval: grant.approval_text().to_owned(),
        hosts: Some(hosts),
        ais_nonce: staged.approved().ais_nonce().map(str::to_owned),
        replays: staged.claimed().replays().cloned(),
    }
}
