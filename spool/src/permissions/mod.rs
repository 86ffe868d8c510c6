//! Permissions on the disk (`policies::permissions`): an append-only trail, which holds both the
//! current permissions and their history. Any number of processes may open it. A change is durable
//! before it is reported, and a change that is not on the disk is never an approval.

mod drafts;
mod error;
mod filing;
mod journal;
mod line;
mod submitted_answer;
mod trail_head;
mod trail_writer;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use policies::permissions::{
    AcceptedAnswer, CONTRACT, Contract, Domains, FiledRequest, GrantId, OperationContext,
    PermissionCalls, PermissionChange, PermissionError, PermissionIndex, PermissionManager,
    PermissionRequestFile, PermissionSource, PermissionTerms, RequestPlan, ToolFinding, ToolName,
    Traceparent,
};

use crate::error::SpoolError;
use crate::random::random_bytes;
pub use error::PermissionStoreError;
pub use filing::{FilingOutcome, FilingStep, OpenFiling, UnwrittenFiling};
use journal::PermissionTrail;
pub use submitted_answer::{AnswerDecision, SubmittedAnswer};

/// Permissions that survive restarts and crashes.
pub struct PermissionStore {
    journal: PermissionTrail,
    terms: PermissionTerms,
}

impl PermissionStore {
    /// Opens the permissions of a directory. Creates the directory if it does not exist.
    ///
    /// # Errors
    /// An I/O error, or a damaged trail. Nothing is permitted then.
    pub fn open(directory: &Path, terms: PermissionTerms) -> Result<Self, PermissionStoreError> {
        Ok(Self { journal: PermissionTrail::open(directory)?, terms })
    }

    /// Returns the current permissions.
    ///
    /// # Errors
    /// Changes since the last read cannot be read.
    pub fn register(&mut self) -> Result<&PermissionIndex, PermissionStoreError> {
        self.journal.refresh()?;
        self.journal.check_paths()?;
        Ok(self.journal.register())
    }

    /// Returns the state of one request's calls, for the daemon's decision.
    ///
    /// # Errors
    /// The trail cannot be read.
    pub fn look_up(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
    ) -> Result<ToolFinding, PermissionStoreError> {
        let found = self.explain(source, calls, moment)?;
        // A single denied call denies them all. A request without any tool is not approved either.
        let blocked = found.values().find(|found| !matches!(found, ToolFinding::Granted(_)));
        let found = blocked.or(found.values().next()).copied();
        Ok(found.unwrap_or(ToolFinding::Missing))
    }

    /// Revokes one grant by its id.
    ///
    /// # Errors
    /// The grant does not exist, or an I/O error.
    pub fn revoke_grant(
        &mut self,
        id: GrantId,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionStoreError> {
        self.change(moment, |register| {
            let (source, tool) = register.owner_of(id)?;
            register.plan_revocation(&source, &tool, Some(id))
        })
    }

    /// Uses these calls up, as [`PermissionManager::spend`] does, but adds an entry even if no
    /// grant counts uses, so that the workflow is not idle.
    ///
    /// # Errors
    /// A call is not permitted, or an I/O error. Nothing may be begun then.
    pub fn spend_with_entry(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionStoreError> {
        self.change(moment, |register| {
            let spent = register.plan_spending(source, calls, moment.now)?;
            Ok(spent.unwrap_or_else(|| PermissionChange::Spent {
                source: source.clone(),
                uses: Vec::new(),
            }))
        })
    }

    /// Removes the workflows without activity for `idle_sec` seconds, and returns the changes.
    ///
    /// # Errors
    /// The trail cannot be read, or an I/O error.
    pub fn cleanup_idle(
        &mut self,
        idle_sec: u64,
        moment: &OperationContext,
    ) -> Result<Vec<PermissionChange>, PermissionStoreError> {
        // Check without the lock first: there is rarely an idle workflow.
        if self.register()?.plan_idle_cleanup(idle_sec, moment.now).is_empty() {
            return Ok(Vec::new());
        }
        self.journal.with_exclusive_lock(|journal| {
            let changes = journal.register().plan_idle_cleanup(idle_sec, moment.now);
            for change in &changes {
                journal.append_change(change.clone(), moment, moment.by.clone())?;
            }
            Ok(changes)
        })
    }

    /// Starts a new trail file with the current permissions, as happens when the trail has grown.
    ///
    /// # Errors
    /// An I/O error. The permissions stay as they were.
    pub fn start_new_trail(
        &mut self,
        moment: &OperationContext,
    ) -> Result<(), PermissionStoreError> {
        self.journal.with_exclusive_lock(|journal| journal.start_new_file(moment))
    }

    /// Passes the JSON of every line of the current trail file to `take`, the oldest first.
    ///
    /// # Errors
    /// The trail cannot be read, or `take` returns an error.
    pub fn trail(
        &mut self,
        mut take: impl FnMut(&str) -> std::io::Result<()>,
    ) -> Result<(), PermissionStoreError> {
        self.journal.refresh()?;
        let path = self.journal.path();
        let failed = |error| PermissionStoreError::Disk(SpoolError::io(path, "read")(error));
        let file = std::fs::File::open(path).map_err(failed)?;
        let whole = file.take(self.journal.whole_bytes());
        for line in BufReader::new(whole).lines() {
            let line = line.map_err(failed)?;
            let json = line.split_once(' ').map_or(line.as_str(), |(_, json)| json);
            take(json).map_err(failed)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        moment: &OperationContext,
        plan: impl FnOnce(&PermissionIndex) -> Result<PermissionChange, PermissionError>,
    ) -> Result<PermissionChange, PermissionStoreError> {
        self.journal.with_exclusive_lock(|journal| {
            let change = plan(journal.register())?;
            journal.append_change(change.clone(), moment, moment.by.clone())?;
            Ok(change)
        })
    }

    fn change_if_any(
        &mut self,
        moment: &OperationContext,
        plan: impl FnOnce(&PermissionIndex) -> Result<Option<PermissionChange>, PermissionError>,
    ) -> Result<Option<PermissionChange>, PermissionStoreError> {
        self.journal.with_exclusive_lock(|journal| {
            let change = plan(journal.register())?;
            if let Some(change) = change.clone() {
                journal.append_change(change, moment, moment.by.clone())?;
            }
            Ok(change)
        })
    }
}

impl PermissionManager for PermissionStore {
    type Error = PermissionStoreError;

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn domains(&self) -> Option<&Domains> {
        self.terms.domains.as_ref()
    }

    fn terms(&self) -> &PermissionTerms {
        &self.terms
    }

    fn explain<'c>(
        &mut self,
        source: &PermissionSource,
        calls: &'c PermissionCalls,
        moment: &OperationContext,
    ) -> Result<BTreeMap<&'c ToolName, ToolFinding>, PermissionStoreError> {
        let register = self.journal.refresh()?;
        let find = |tool, tool_calls| register.find(source, tool, tool_calls, moment.now);
        Ok(calls.iter().map(|(tool, tool_calls)| (tool, find(tool, tool_calls))).collect())
    }

    fn set(
        &mut self,
        source: &PermissionSource,
        answer: &AcceptedAnswer,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionStoreError> {
        self.journal.with_exclusive_lock(|journal| {
            let change = journal.register().plan_answer(source, answer, moment.now)?;
            journal.append_change(change.clone(), moment, answer.by().clone())?;
            Ok(change)
        })
    }

    fn cleanup(
        &mut self,
        source: &PermissionSource,
        moment: &OperationContext,
    ) -> Result<Option<PermissionChange>, PermissionStoreError> {
        self.change_if_any(moment, |register| Ok(register.plan_cleanup(source)))
    }

    fn add_request(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
        nonce: u64,
    ) -> Result<FiledRequest, PermissionStoreError> {
        let terms = self.terms.clone();
        self.journal.with_exclusive_lock(|journal| {
            match journal.register().plan_request(source, calls, moment.now)? {
                RequestPlan::AlreadyOpen(ask) => Ok(FiledRequest { ask: ask.clone(), file: None }),
                RequestPlan::New(calls) => {
                    let (ask, file) =
                        PermissionRequestFile::build(source, &calls, &terms, moment, nonce);
                    journal.append_change(
                        PermissionChange::Filed(ask.clone()),
                        moment,
                        moment.by.clone(),
                    )?;
                    Ok(FiledRequest { ask, file: Some(file) })
                }
            }
        })
    }

    fn spend(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
    ) -> Result<Option<PermissionChange>, PermissionStoreError> {
        self.change_if_any(moment, |register| register.plan_spending(source, calls, moment.now))
    }

    fn revoke(
        &mut self,
        source: &PermissionSource,
        tool: &ToolName,
        one: Option<GrantId>,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionStoreError> {
        self.change(moment, |register| register.plan_revocation(source, tool, one))
    }

    fn remove_denial(
        &mut self,
        source: &PermissionSource,
        tool: &ToolName,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionStoreError> {
        self.change(moment, |register| register.plan_denial_removal(source, tool))
    }
}

/// Creates a new trace context, for callers without one.
///
/// # Errors
/// The kernel cannot provide random bytes.
pub fn new_traceparent() -> Result<Traceparent, PermissionStoreError> {
    random().map(Traceparent::from_random)
}

/// Returns an unpredictable number for the name of a permission request.
fn random_nonce() -> Result<u64, PermissionStoreError> {
    random().map(u64::from_be_bytes)
}

fn random<const N: usize>() -> Result<[u8; N], PermissionStoreError> {
    random_bytes().map_err(PermissionStoreError::disk(Path::new("getrandom"), "read random bytes"))
}
