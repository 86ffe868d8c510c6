//! Does the next step of one claim, which `claim_step` decides.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fleet::model::FleetState;

use super::agent_state::Agent;
use super::claim_step::{
    ClaimOrigin, ClaimRowState, ClaimSituation, ClaimStep, SubmissionPresence, next_step,
};
use super::document_tries::DocumentTries;
use super::error::FleetAgentError;
use super::missing_records::MissingRecords;
use super::model::LocalClaim;
use super::placing::{PlaceOutcome, submission, withdraw};
use super::retry::TaskRetry;
use super::unpacked::place_claim;
use crate::blocking::blocking;
use crate::database::{ClaimRow, Database, RequestKind};

/// The agent gives a claim back if it could not place the files for this long. Another host may be
/// able to place them.
const BLOCKED_MAX: Duration = Duration::from_secs(60);

/// The state of the claims task between its rounds.
pub(super) struct ClaimsTask {
    /// The claims and deliveries that could not be placed.
    pub(super) tries: DocumentTries,
    /// The failures to read deliveries.
    pub(super) deliveries: TaskRetry,
    /// The started and local requests whose records are missing here.
    pub(super) missing: MissingRecords,
    /// Requests with a row that was changed by hand. The agent does nothing with them.
    pub(super) defective: BTreeSet<String>,
}

impl ClaimsTask {
    pub(super) fn new() -> Self {
        Self {
            tries: DocumentTries::new("placed"),
            deliveries: TaskRetry::new("deliveries"),
            missing: MissingRecords::default(),
            defective: BTreeSet::new(),
        }
    }
}

/// Does the next step of one claim. `rows` are the claims of this host in the database.
pub(super) async fn advance(
    agent: &Agent,
    database: &mut Database,
    request: &str,
    rows: &[ClaimRow],
    task: &mut ClaimsTask,
) -> Result<(), FleetAgentError> {
    let Some(claim) = agent.book.claim(request) else { return Ok(()) };
    let row = rows.iter().find(|row| row.request.id == request && is_row_of(row, &claim));
    let situation = situation(agent, request, &claim, row).await?;
    // A row that was changed by hand is not a lost claim.
    if row.is_none() && task.defective.contains(request) && !situation.has_result {
        return Ok(());
    }
    let step = next_step(situation);
    if step != ClaimStep::MissRecord {
        task.missing.forget(request);
    }
    match (step, row) {
        (ClaimStep::Report, _) => agent.reports_wake.notify_one(),
        (ClaimStep::NotePlaced, _) => agent.book.note_placed(request),
        (ClaimStep::Place, Some(row)) => place(agent, database, row, &mut task.tries).await?,
        (ClaimStep::Blocked, Some(row)) => {
            wait_for_name(agent, database, row, &mut task.tries).await?;
        }
        (ClaimStep::GiveBack, Some(row)) => give_back_removed(agent, database, row).await?,
        (ClaimStep::MissRecord, row) => {
            miss_record(agent, database, (request, row), &mut task.missing).await?;
        }
        (ClaimStep::Withdraw, _) => remove_files(agent, request, &claim).await?,
        (ClaimStep::Forget, _) => agent.forget(request)?,
        // Another program acts next. Without a row of this epoch, no other step is taken.
        _ => {}
    }
    Ok(())
}

/// Returns whether a row with the id of a noted claim is the row of that claim. The first epoch of
/// a claim of the fleet is the epoch of local requests too.
fn is_row_of(row: &ClaimRow, claim: &LocalClaim) -> bool {
    let is_local = row.request.kind == RequestKind::Local;
    match claim.file.epoch {
        Some(epoch) => epoch == row.epoch,
        None => is_local && row.request.document_sha256 == claim.file.document_sha256,
    }
}

/// Removes the files of a lost claim, then forgets it.
async fn remove_files(
    agent: &Agent,
    request: &str,
    claim: &LocalClaim,
) -> Result<(), FleetAgentError> {
    tracing::warn!(request, "another host has the claim now; its files are removed here");
    let (approved, file_name) = (agent.config.approved(), format!("{request}.md"));
    let document_sha256 = claim.file.document_sha256.clone();
    blocking(move || withdraw(&approved, &file_name, &document_sha256)).await??;
    agent.forget(request)
}

/// Lets a started request become indeterminate if its record stays missing for the time after which
/// hosts take over claims. The claim is kept: a record that appears later still replaces this. A
/// local request that was never started has no row.
async fn miss_record(
    agent: &Agent,
    database: &mut Database,
    (request, row): (&str, Option<&ClaimRow>),
    missing: &mut MissingRecords,
) -> Result<(), FleetAgentError> {
    let now = Instant::now();
    // Without its daemon, the host may have the record only later. A person can remove the file of
    // a request that runs.
    let is_alive = agent.readiness.borrow().is_daemon_alive(now);
    if !is_alive || spool::running_requests(&agent.config.spool).contains_key(request) {
        missing.forget(request);
        return Ok(());
    }
    let is_lost = missing.missed(request, now) >= agent.config.takeover;
    let started = row.filter(|row| is_lost && row.state == FleetState::Started);
    let Some(row) = started else { return Ok(()) };
    if database.lose_record(row).await? {
        tracing::error!(
            request,
            "started on this host, which has lost its record: it is indeterminate now; help: find \
             out whether its tool ran, then submit it under another id if it must run"
        );
    }
    Ok(())
}

/// Reads the submission first, then the results: the daemon publishes in the opposite order.
async fn situation(
    agent: &Agent,
    request: &str,
    claim: &LocalClaim,
    row: Option<&ClaimRow>,
) -> Result<ClaimSituation, FleetAgentError> {
    let file_name = format!("{request}.md");
    let document = &claim.file.document_sha256;
    let found = submission(&agent.config.approved(), &file_name, document)?;
    if found != SubmissionPresence::Ours {
        agent.results.refresh().await?;
    }
    Ok(ClaimSituation {
        origin: match claim.file.epoch {
            Some(_) => ClaimOrigin::Fleet,
            None => ClaimOrigin::Local,
        },
        is_placed: claim.is_placed,
        row: match row.map(|row| row.state) {
            Some(FleetState::Claimed) if !claim.is_started => ClaimRowState::Claimed,
            Some(_) => ClaimRowState::Started,
            None => ClaimRowState::NotMine,
        },
        submission: found,
        has_result: agent.results.end_of(request, claim).is_some(),
    })
}

/// Fetches and places the files of a claim, unless the pause after the last failure still lasts.
async fn place(
    agent: &Agent,
    database: &mut Database,
    row: &ClaimRow,
    tries: &mut DocumentTries,
) -> Result<(), FleetAgentError> {
    let request = &row.request.id;
    if !tries.may_try(request, Instant::now()) {
        return Ok(());
    }
    match place_claim(agent, database, &row.request).await {
        Ok(PlaceOutcome::Placed) => {
            tries.forget(request);
            agent.book.note_placed(request);
            tracing::info!(request, "placed");
            Ok(())
        }
        Ok(PlaceOutcome::Blocked) => wait_for_name(agent, database, row, tries).await,
        // Nothing more can be asked over this connection.
        Err(FleetAgentError::Link(error)) => Err(error.into()),
        Err(error) => {
            let why = error.to_string();
            let since = tries.failed(request, &why, Instant::now());
            match error.is_momentary() && since < BLOCKED_MAX {
                true => Ok(()),
                false => give_back(agent, database, row, &why).await,
            }
        }
    }
}

/// Another document has the name in `approved/`. Waits for a bounded time until it is gone, then
/// gives the claim back.
async fn wait_for_name(
    agent: &Agent,
    database: &mut Database,
    row: &ClaimRow,
    tries: &mut DocumentTries,
) -> Result<(), FleetAgentError> {
    let why = format!("host {} has other files with the name of the request", agent.host());
    match tries.failed(&row.request.id, &why, Instant::now()) < BLOCKED_MAX {
        true => Ok(()),
        false => give_back(agent, database, row, &why).await,
    }
}

/// A person has removed the file of an unstarted request: another host may run it.
async fn give_back_removed(
    agent: &Agent,
    database: &mut Database,
    row: &ClaimRow,
) -> Result<(), FleetAgentError> {
    let why = format!("host {} does not have its file any more", agent.host());
    give_back(agent, database, row, &why).await
}

/// Lets another host claim the request. This host does not claim it again.
async fn give_back(
    agent: &Agent,
    database: &mut Database,
    row: &ClaimRow,
    why: &str,
) -> Result<(), FleetAgentError> {
    tracing::error!(request = row.request.id, "given back: {why}");
    database.give_back(row, why).await?;
    agent.forget(&row.request.id)
}
