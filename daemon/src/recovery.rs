//! Recovery after a crash: a durable result gets its final name, a started run without a record is
//! recorded as `indeterminate`, and nothing is ever run again.

use std::io;
use std::path::Path;

use model::{Outcome, ResultId};
use records::log::{LogView, PublicLogKey};
use records::{
    History, NetworkUse, PublicKeys, RecordSubject, StatedUse, Trust, UnknownUseReason, is_intact,
};
use spool::{Spool, SpoolError, StoredStanding, SubmissionState, UnfinishedRun};
use validator::{Backend, Draft, FileLocation, OwnerUid, Request};

use crate::model::DaemonError;
use crate::pipeline::{DecisionFacts, RecordInput};
use crate::state::Daemon;

const REASON: &str =
    "the host or the daemon stopped during the run; the effects of the tool are unknown";

const NEVER_STARTED: &str = "the tool could not be started, and the host or the daemon stopped before the record was written";

/// The result of recovery.
#[must_use]
#[derive(Debug)]
pub struct RecoverySummary {
    /// Ids of the records that were written or published now.
    pub recorded: Vec<ResultId>,
    /// Names in `approved/` that must not be claimed again: they have a record and could not be
    /// removed, or they wait for an approver.
    pub ignored: Vec<String>,
}

impl Daemon {
    /// Settles every claim that an earlier process left.
    ///
    /// # Errors
    /// [`DaemonError`]: the daemon's own disk or key failed. A second recovery is safe.
    pub fn recover(&self) -> Result<RecoverySummary, DaemonError> {
        self.spool.check_own_ledger(&mut was_begun)?;
        // The key may have been changed since the result was signed.
        let known = PublicKeys::open(&self.public_keys)?;
        let logs: Vec<PublicLogKey> = known.logs().iter().map(|log| log.key().clone()).collect();
        let (signers, log) = (known.allowed_signers(), self.log.directory().to_owned());
        let recovered = self.spool.recover(&mut |hidden| {
            let trust = Trust::from_allowed_signers(&signers);
            let Ok(trust) = trust else { return Ok(false) };
            let whole = is_publishable(hidden, trust, &log, &logs);
            whole.map_err(|error| SpoolError::Io { path: hidden.to_owned(), act: "verify", error })
        })?;
        for one in &recovered.misplaced {
            let (claim, remedy) = (&one.claim, one.illegal.remedy());
            tracing::error!(%claim, "work/{claim}: {}; not changed; help: {remedy}", one.illegal);
        }
        for result in &recovered.completed {
            tracing::warn!(%result, "the result was durable but not published; published now");
        }
        let mut settled =
            RecoverySummary { recorded: recovered.completed, ignored: recovered.left };
        for unfinished in recovered.unfinished {
            self.record_indeterminate(unfinished, &mut settled)?;
        }
        Ok(settled)
    }

    fn record_indeterminate(
        &self,
        unfinished: UnfinishedRun,
        settled: &mut RecoverySummary,
    ) -> Result<(), DaemonError> {
        let id = unfinished.result_id().clone();
        let Some(result) = Spool::draft_result_in(unfinished.results(), &id)? else {
            tracing::warn!(result = %id, "another process is recording this run");
            return Ok(());
        };
        let (name, sha256) = unfinished.policy();
        let decided = DecisionFacts {
            approval: unfinished.approval().to_owned(),
            policy: Some((name.to_owned(), sha256)),
            // The rules were evaluated before the crash.
            rationale: None,
            ..DecisionFacts::undecided()
        };
        // Parsed with the time of the start: the same bytes at the same time give the same request.
        let place =
            if unfinished.was_submitted() { FileLocation::Spool } else { FileLocation::Elsewhere };
        let owner = OwnerUid::new(unfinished.owner());
        let draft = Draft::new(unfinished.bytes().to_vec(), unfinished.file_name(), owner);
        let checked = draft.ok().map(|draft| draft.check(place, unfinished.begun()));
        let request = checked.and_then(|checked| checked.verdict.ok());
        let subject = match &request {
            Some(request) => RecordSubject::Request(request),
            None => RecordSubject::Unusable {
                file_name: unfinished.file_name(),
                bytes: unfinished.bytes(),
                request_id: Some(unfinished.request_id()),
            },
        };
        let kept = self.standing_of(&unfinished, request.as_ref())?;
        let binding = request.as_ref().zip(kept.as_ref()).and_then(|(request, kept)| {
            let names: Vec<&str> = request.inputs().iter().map(validator::Input::name).collect();
            validator::bind(kept.approval.terms(), request.argv(), &names).ok()
        });
        let used = kept.as_ref().zip(binding.as_ref()).map(|(kept, binding)| StatedUse {
            approval: &kept.approval,
            number: unfinished.standing().map(|(_, number)| number),
            binding,
            sizes: None,
        });
        let (outcome, reason, network) = match unfinished.never_started() {
            true => (Outcome::SetupError, NEVER_STARTED, NetworkUse::Nothing),
            false => {
                let network = possible_network_use(unfinished.hosts(), request.as_ref());
                (Outcome::Indeterminate, REASON, network)
            }
        };
        // The default of the policy may be another one now.
        let named = request.as_ref().and_then(Request::backend).map(Backend::as_str);
        let backend = named.or(unfinished.backend()).unwrap_or(Backend::Confined.as_str());
        let input = RecordInput {
            outcome,
            replays: unfinished.replays(),
            reason: Some(reason),
            network: &network,
            decided: &decided,
            ais: unfinished.ais(),
            standing: kept.as_ref(),
            used,
            started_backend: Some(backend),
            ..RecordInput::of(subject, unfinished.signatures())
        };
        self.spool.cover(unfinished.results())?;
        let published = self.request_context().record(&input, result)?;
        tracing::warn!(result = %id, "started but not published: {reason}; recorded as {outcome}");
        let file_name = unfinished.file_name().to_owned();
        let originals = self.spool.finish_unfinished(unfinished, &published.receipt)?;
        if let SubmissionState::NotRemoved(error) = originals {
            tracing::warn!("recorded; its file is ignored until it changes: {error}");
            settled.ignored.push(file_name);
        }
        settled.recorded.push(id);
        Ok(())
    }
}

impl Daemon {
    /// Returns the standing approval that the ledger line of a run names.
    fn standing_of(
        &self,
        unfinished: &UnfinishedRun,
        request: Option<&Request>,
    ) -> Result<Option<StoredStanding>, DaemonError> {
        let named = request.and_then(Request::standing);
        match named.filter(|named| unfinished.standing().is_some_and(|it| it.0 == named.sha256)) {
            Some(named) => Ok(self.spool.stored_standing(named, unfinished.begun())?),
            None => Ok(None),
        }
    }
}

/// Returns whether a result is of a run that was started: only those are in the ledger.
#[must_use]
pub fn was_begun(result: &Path) -> bool {
    records::summary(result)
        .is_some_and(|it| !matches!(it.outcome.as_str(), "refused" | "setup_error"))
}

/// The intent lists the granted hosts. An intent of an older version does not: that run was granted
/// all hosts of its request. If neither can be read, the use is unknown.
fn possible_network_use(granted: Option<&[String]>, request: Option<&Request>) -> NetworkUse {
    let requested = |request: &Request| {
        request.network().hosts().iter().map(|it| it.host().to_owned()).collect()
    };
    let granted = granted.map(<[String]>::to_vec).or_else(|| request.map(requested));
    match granted {
        Some(granted) if granted.is_empty() => NetworkUse::Nothing,
        granted => NetworkUse::Unknown {
            granted: granted.unwrap_or_default(),
            why: UnknownUseReason::NeverAsked,
        },
    }
}

/// Returns whether a hidden result can be published: its record is signed with this host's keys and
/// in the present log, and its files are those that the record names.
///
/// # Errors
/// A file that exists cannot be read now.
pub fn is_publishable(
    hidden: &Path,
    trust: Trust,
    log: &Path,
    logs: &[PublicLogKey],
) -> io::Result<bool> {
    // A log without the record's checkpoint may contradict it with its next entry.
    let history = logs.iter().find_map(|key| {
        let view = LogView::open(log, key).ok()?;
        History::of(view, key.origin().clone(), None).ok()
    });
    let Some(history) = history else { return Ok(false) };
    let trust = trust.with_logs(logs.to_vec()).with_history(history);
    is_intact(hidden, &trust)
}
