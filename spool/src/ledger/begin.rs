//! Beginning a run: its line is durable before the tool can start. No other process may begin the same
//! request.

use std::collections::HashSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::MutexGuard;

use model::{RequestId, ResultId, Sha256, UtcTime};

use super::entry::Note;
use super::file::{Ledger, Taken};
use super::head::Head;
use super::model::{Intent, Seen};
use crate::claim::note_intent;
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::places::Spool;
use crate::stage::Staged;

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

impl Spool {
    /// Returns the earlier start of a request, found by its bytes or by its id.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn seen(&self, sha256: &Sha256, id: &RequestId) -> Result<Option<Seen>, SpoolError> {
        self.ledger().locked(|ledger| ledger.look_up(sha256, id))
    }

    /// When the last of them was begun, by the ledger's own word.
    pub(crate) fn last_begun(&self) -> Option<UtcTime> {
        self.ledger().last_begun()
    }

    /// Every nonce of an AIS envelope that a start used up, as of the last look at the ledger. No
    /// run begins while it is held.
    #[must_use]
    pub fn nonces_used(&self) -> NoncesUsed<'_> {
        NoncesUsed(self.ledger())
    }

    /// The barrier before exec: the claim's files and the ledger line are on the disk when this
    /// returns, and no other process can get a [`Begun`] for the same request
    /// that is not a replay.
    ///
    /// # Errors
    /// [`BeginError`]; nothing may be run then.
    pub fn begin(
        &self,
        staged: Staged,
        result_id: ResultId,
        at: UtcTime,
    ) -> Result<Begun, BeginError> {
        // First, so that a reader who finds a line finds what it speaks of.
        self.barrier().pass(&[&staged.claimed().directory]).map_err(BeginError::Disk)?;
        reach(Failpoint::ClaimDurable);
        let intent = intent_of(&staged, &result_id, at, self.results());
        let taken =
            self.ledger().locked(|ledger| ledger.take(&intent, staged.approved().request()));
        let to = match taken.map_err(BeginError::Disk)? {
            Taken::Appended(to) => to,
            Taken::Refused(seen) => {
                return Err(BeginError::Started { staged: Box::new(staged), seen });
            }
        };
        reach(Failpoint::IntentWritten);
        self.make_durable(to).map_err(BeginError::Disk)?;
        // Never without the ledger line, and before exec: a claim with it that the ledger does not know shows that
        // the ledger is older than the run.
        match note_intent(&staged.claimed().directory, &intent) {
            Err(error) if error.want().is_some() => tracing::warn!("{error}"),
            noted => noted.map_err(BeginError::Disk)?,
        }
        reach(Failpoint::IntentDurable);
        Ok(Begun { staged, result_id, at })
    }

    /// Notes that nothing was started on the strength of this line, so that the request can be dropped again.
    /// Durable when this returns. To be called before its record is published, and only where no tool can have
    /// run.
    ///
    /// # Errors
    /// The disk; the request then stays used up.
    pub fn note_not_started(&self, begun: &Begun) -> Result<(), SpoolError> {
        let claim = begun.staged.claimed().id().as_str().to_owned();
        let note = Note::NotStarted { claim };
        let to = self.ledger().locked(|ledger| ledger.append(&note))?;
        self.make_durable(to)
    }

    /// Makes the ledger durable up to there.
    fn make_durable(&self, to: Head) -> Result<(), SpoolError> {
        // Without keeping others from writing their lines.
        let (path, file) = {
            let ledger = self.ledger();
            (ledger.path().to_owned(), ledger.handle()?)
        };
        self.barrier().pass_file(&path, &file)?;
        self.ledger().note_durable(to)
    }
}

/// The nonces that were used up, held still.
pub struct NoncesUsed<'a>(MutexGuard<'a, Ledger>);

impl Deref for NoncesUsed<'_> {
    type Target = HashSet<String>;

    fn deref(&self) -> &Self::Target {
        self.0.nonces()
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
