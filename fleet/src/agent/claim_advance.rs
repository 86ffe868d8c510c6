//! Does the next step of one claim, which `claim_step` decides.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fleet::model::FleetState;

use super::agent_state::Agent;
use super::claim_step::{
    ClaimOrigin, ClaimRowState, ClaimSituation, ClaimStep, SubmissionPresence, next_step,
};
use super::error::FleetAgentError;
use super::model::LocalClaim;
use super::placing::{PlaceOutcome, submission, withdraw};
use super::placing_tries::PlacingTries;
use super::retry::TaskRetry;
use super::unpacked::place_claim;
use crate::database::{ClaimRow, Database};

/// The agent gives a claim back if it could not place the files for this long. Another host may be
/// able to place them.
const BLOCKED_MAX: Duration = Duration::from_secs(60);

/// The state of the claims task between its rounds.
pub(super) struct ClaimsTask {
    /// The claims and deliveries that could not be placed.
    pub(super) tries: PlacingTries,
    /// The failures to read deliveries.
    pub(super) deliveries: TaskRetry,
    /// Requests with a row that was changed by hand. The agent does nothing with them.
    pub(super) defective: BTreeSet<String>,
}

impl ClaimsTask {
    pub(super) fn new() -> Self {
        Self {
            tries: PlacingTries::default(),
            deliveries: TaskRetry::new("deliveries"),
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
    let is_of_claim =
        |row: &&ClaimRow| row.request.id == request && claim.file.epoch == Some(row.epoch);
    let row = rows.iter().find(is_of_claim);
    let situation = situation(agent, request, &claim, row).await?;
    // A row that was changed by hand is not a lost claim.
    if row.is_none() && task.defective.contains(request) && !situation.has_result {
        return Ok(());
    }
    match (next_step(situation), row) {
        (ClaimStep::Report, _) => agent.reports_wake.notify_one(),
        (ClaimStep::NotePlaced, _) => agent.book.note_placed(request),
        (ClaimStep::Place, Some(row)) => place(agent, database, row, &mut task.tries).await?,
        (ClaimStep::Blocked, Some(row)) => {
            wait_for_name(agent, database, row, &mut task.tries).await?;
        }
        (ClaimStep::GiveBack, Some(row)) => {
            let why = format!("host {} does not have its file any more", agent.host());
            give_back(agent, database, row, &why).await?;
        }
        (ClaimStep::Withdraw, _) => {
            tracing::warn!(request, "another host has the claim now; its files are removed here");
            let file_name = format!("{request}.md");
            withdraw(&agent.config.approved(), &file_name, &claim.file.document_sha256)?;
            agent.forget(request)?;
        }
        (ClaimStep::Forget, _) => agent.forget(request)?,
        // Without a row of this epoch, none of the other steps is taken.
        (ClaimStep::Wait | ClaimStep::Place | ClaimStep::Blocked | ClaimStep::GiveBack, _) => {}
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
    if found == SubmissionPresence::Absent {
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
    tries: &mut PlacingTries,
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
    tries: &mut PlacingTries,
) -> Result<(), FleetAgentError> {
    let why = format!("host {} has other files with the name of the request", agent.host());
    match tries.failed(&row.request.id, &why, Instant::now()) < BLOCKED_MAX {
        true => Ok(()),
        false => give_back(agent, database, row, &why).await,
    }
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
