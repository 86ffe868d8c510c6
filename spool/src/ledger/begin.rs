//! Begins a run: its line is durable before the tool can start, and no other process can begin it.

use std::collections::HashSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::MutexGuard;

use model::{RequestId, ResultId, Sha256, UtcTime};
use policies::BackendKind;
use policies::standing::UseRefusal;

use super::entry::LedgerNote;
use super::file::{AppendOutcome, Ledger};
use super::head::LedgerHead;
use super::model::{Intent, PriorRun};
use super::use_marks;
use crate::claim::note_intent;
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::paths::Spool;
use crate::stage::Staged;

/// The proof that this start is durably recorded, and that it is the request's only start or the
/// declared replay of a record.
#[must_use = "the request is used up: what happens now must be recorded"]
pub struct Begun {
    staged: Staged,
    result_id: ResultId,
    at: UtcTime,
    use_number: Option<u64>,
}

impl Begun {
    /// Returns the staged request, for the steps after the run.
    pub fn into_staged(self) -> Staged {
        self.staged
    }

    /// Returns the staged request.
    pub fn staged(&self) -> &Staged {
        &self.staged
    }

    /// Returns the id of the result.
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// Returns the time when the run was begun.
    #[must_use]
    pub fn at(&self) -> UtcTime {
        self.at
    }

    /// Returns the number of this use of the standing approval, if the run uses one. A replay uses
    /// none up.
    #[must_use]
    pub fn use_number(&self) -> Option<u64> {
        self.use_number
    }
}

/// The reason why a request was not begun.
pub enum BeginError {
    /// Another process has started it meanwhile. Returns the staged request.
    Started {
        /// The staged request, from which the refusal is recorded.
        staged: Box<Staged>,
        /// The earlier start, as the ledger has it.
        seen: PriorRun,
    },
    /// The standing approval may not be used once more. Returns the staged request.
    UseRefused {
        /// The staged request, from which the refusal is recorded.
        staged: Box<Staged>,
        /// The bound.
        refusal: UseRefusal,
    },
    /// An error of the spool.
    Disk(SpoolError),
}

impl Spool {
    /// Returns the earlier start of a request, found by its bytes or by its id.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn prior_run(
        &self,
        sha256: &Sha256,
        id: &RequestId,
    ) -> Result<Option<PriorRun>, SpoolError> {
        self.ledger().with_lock(|ledger| ledger.look_up(sha256, id))
    }

    pub(crate) fn last_begun(&self) -> Option<UtcTime> {
        self.ledger().last_begun()
    }

    /// Returns the used nonces of AIS envelopes, as last read. No run begins while they are held.
    #[must_use]
    pub fn used_nonces(&self) -> UsedNonces<'_> {
        UsedNonces(self.ledger())
    }

    /// The barrier before exec. When this returns, the claim's files and the ledger line are on the
    /// disk, and no other process can get a [`Begun`] for the same request, except for a replay.
    ///
    /// # Errors
    /// [`BeginError`]; the tool must not be started then.
    pub fn begin(
        &self,
        staged: Staged,
        result_id: ResultId,
        at: UtcTime,
    ) -> Result<Begun, BeginError> {
        // The claim first, so that the claim of every ledger line exists.
        self.barrier().pass(&[&staged.claimed().directory]).map_err(BeginError::Disk)?;
        reach(Failpoint::ClaimDurable);
        let mut intent = intent_of(&staged, &result_id, at, self.results());
        let taken = self
            .ledger()
            .with_lock(|ledger| ledger.append_start(&mut intent, staged.approved(), at));
        let to = match taken.map_err(BeginError::Disk)? {
            AppendOutcome::Appended(to) => to,
            AppendOutcome::Refused(seen) => {
                return Err(BeginError::Started { staged: Box::new(staged), seen });
            }
            AppendOutcome::UseRefused(refusal) => {
                return Err(BeginError::UseRefused { staged: Box::new(staged), refusal });
            }
        };
        reach(Failpoint::IntentWritten);
        self.make_durable(to).map_err(BeginError::Disk)?;
        // After the ledger line and before exec: a claim with this note that is missing from the
        // ledger shows that the ledger is older than the run.
        match note_intent(&staged.claimed().directory, &intent) {
            Err(error) if error.shortage().is_some() => tracing::warn!("{error}"),
            noted => noted.map_err(BeginError::Disk)?,
        }
        use_marks::mark(self.state_dir(), &intent);
        reach(Failpoint::IntentDurable);
        let use_number = intent.standing.map(|used| used.number);
        Ok(Begun { staged, result_id, at, use_number })
    }

    /// Records durably that no tool was started for this line, so that the request can be submitted
    /// again. Call it before its record is published, and only if no tool can have run.
    ///
    /// # Errors
    /// An I/O error. The request then stays used up.
    pub fn note_not_started(&self, begun: &Begun) -> Result<(), SpoolError> {
        let claim = begun.staged.claimed().id().as_str().to_owned();
        let note = LedgerNote::NotStarted { claim };
        let to = self.ledger().with_lock(|ledger| ledger.append(&note))?;
        self.make_durable(to)
    }

    pub(crate) fn make_durable(&self, to: LedgerHead) -> Result<(), SpoolError> {
        // Release the ledger's mutex first, so that other threads can write their lines.
        let (path, file) = {
            let ledger = self.ledger();
            (ledger.path().to_owned(), ledger.handle())
        };
        self.barrier().pass_file(&path, &file)?;
        self.ledger().note_durable(to)
    }
}

/// The used nonces. Holding this locks the ledger.
pub struct UsedNonces<'a>(MutexGuard<'a, Ledger>);

impl Deref for UsedNonces<'_> {
    type Target = HashSet<String>;

    fn deref(&self) -> &Self::Target {
        self.0.nonces()
    }
}

fn intent_of(staged: &Staged, result_id: &ResultId, at: UtcTime, results: &Path) -> Intent {
    let request = staged.approved().request();
    let grant = staged.approved().grant();
    let hosts = grant.network().map_or_else(Vec::new, |it| it.hosts.keys().cloned().collect());
    let backend = grant.backend();
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
        backend: (backend.kind != BackendKind::Sandbox).then(|| backend.name.clone()),
        ais_nonce: staged.approved().ais_nonce().map(str::to_owned),
        // The ledger assigns the number.
        standing: None,
        replays: staged.claimed().replays().cloned(),
    }
}
