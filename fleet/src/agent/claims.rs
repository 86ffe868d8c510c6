//! Claims of this host: taken from the database, noted durably, and advanced step by step.

use std::rc::Rc;
use std::time::{Duration, Instant};

use fleet::model::FleetState;
use model::RequestId;
use tokio::time::{sleep, timeout};

use super::agent_state::Agent;
use super::claim_advance::{ClaimsTask, advance};
use super::deliveries::deliver;
use super::error::FleetAgentError;
use super::link::DatabaseLink;
use super::model::ClaimFile;
use super::retry::TaskRetry;
use crate::database::{ClaimRow, Database, RequestKind};

/// The longest wait for a call of the database, which may carry the bytes of inputs.
const CALL_TIME_MAX: Duration = Duration::from_secs(60);
/// The shortest time from one round to the next: every role of the database may send notices
/// without end.
const ROUND_TIME_MIN: Duration = Duration::from_millis(20);

/// Works on claims until the agent stops.
pub(super) async fn run(agent: Rc<Agent>) {
    let mut link = DatabaseLink::new("toolexec-fleet claims", CALL_TIME_MAX);
    let mut retry = TaskRetry::new("claims");
    let mut task = ClaimsTask::new();
    loop {
        let begun = Instant::now();
        match round(&agent, &mut link, &mut task).await {
            Ok(wait) => {
                retry.worked();
                // After the wait, the next round reads the table also without a notice.
                timeout(wait, agent.claims_wake.notified()).await.unwrap_or_default();
                sleep(ROUND_TIME_MIN.saturating_sub(begun.elapsed())).await;
            }
            Err(error) => {
                link.close();
                task.defective.clear();
                sleep(retry.failed(&error.to_string())).await;
            }
        }
    }
}

/// Does what there is to do. Returns the longest wait until the next round.
async fn round(
    agent: &Agent,
    link: &mut DatabaseLink,
    task: &mut ClaimsTask,
) -> Result<Duration, FleetAgentError> {
    agent.book.begin_look();
    let database = link.database(&agent.target).await?;
    let rows = database.my_claims(agent.host()).await?;
    for defect in database.take_new_defects() {
        tracing::error!("{defect}");
        task.defective.insert(defect.request);
    }
    agent.results.refresh().await?;
    for row in &rows {
        adopt(agent, database, row).await?;
    }
    for request in agent.book.requests() {
        advance(agent, database, &request, &rows, task).await?;
    }
    note_returned(agent, database, task).await?;
    match deliver(agent, database, &mut task.tries).await {
        // One delivery that cannot be read must not stop the claims.
        Err(error) if !error.is_momentary() => {
            task.deliveries.failed(&error.to_string());
        }
        delivered => {
            delivered?;
            task.deliveries.worked();
        }
    }
    claim_more(agent, database, task).await?;
    let unstarted = u64::try_from(agent.book.unstarted().len()).unwrap_or(u64::MAX);
    agent.readiness.borrow_mut().count_claims(unstarted);
    // At most half of the takeover time, so that this host soon notices claims that it may take
    // over.
    let wait = agent.config.poll.min(agent.config.takeover / 2);
    Ok(task.tries.next_in(Instant::now()).map_or(wait, |next| next.min(wait)))
}

/// Notes that a host which was declared lost has reported everything that it can. Claims that it
/// has not noted were adopted before, so their records count too.
async fn note_returned(
    agent: &Agent,
    database: &mut Database,
    task: &mut ClaimsTask,
) -> Result<(), FleetAgentError> {
    let (open, now) = (agent.book.requests(), Instant::now());
    task.missing.keep(&open);
    let has_reported = task.missing.has_all(&open, now, agent.config.takeover);
    if agent.readiness.borrow().is_lost() && has_reported {
        database.returned(agent.host()).await?;
    }
    Ok(())
}

/// Claims as many requests as may still wait on this host.
async fn claim_more(
    agent: &Agent,
    database: &mut Database,
    task: &mut ClaimsTask,
) -> Result<(), FleetAgentError> {
    let count = free_places(agent);
    if count == 0 || !agent.may_claim() {
        return Ok(());
    }
    let trust = agent.lost_order_trust();
    let mut rows = database.claim(&agent.ask(count), &trust).await?;
    let rest = count.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    if rest > 0 {
        let takeover = agent.config.takeover;
        rows.extend(database.take_over(&agent.ask(rest), &trust, takeover).await?);
    }
    if rows.is_empty() {
        return Ok(());
    }
    // A result that exists now is not the result of these claims.
    agent.results.refresh().await?;
    for row in &rows {
        tracing::info!(request = row.request.id, epoch = row.epoch, "claimed");
        adopt(agent, database, row).await?;
        advance(agent, database, &row.request.id, &rows, task).await?;
    }
    Ok(())
}

/// Returns the number of requests that this host may still claim.
fn free_places(agent: &Agent) -> u32 {
    let unstarted = agent.book.unstarted();
    let held = spool::held_requests(&agent.config.spool);
    let is_held = |request: &&String| held.contains_key(&format!("{request}.md"));
    let waiting = unstarted.iter().filter(|request| !is_held(request)).count();
    let limit = agent.config.claims_max;
    let size = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let of_all = agent.config.unstarted_max().saturating_sub(size(unstarted.len()));
    limit.saturating_sub(size(waiting)).min(of_all)
}

/// Notes a claim that the database has and this host has not noted: a new one, or one of an
/// interrupted agent.
async fn adopt(
    agent: &Agent,
    database: &mut Database,
    row: &ClaimRow,
) -> Result<(), FleetAgentError> {
    let request = &row.request.id;
    let is_started = row.state != FleetState::Claimed;
    if let Some(claim) = agent.book.claim(request) {
        if is_started && claim.file.epoch == Some(row.epoch) {
            agent.book.note_started(request);
        }
        // `advance` first removes a noted claim with another epoch.
        return Ok(());
    }
    if agent.book.was_removed(request) {
        return Ok(());
    }
    if let Err(why) = check_id(row, is_started) {
        tracing::error!("{why}");
        if !is_started {
            database.give_back(row, &why).await?;
        }
        return Ok(());
    }
    let known_results = match is_started {
        // Its record may exist already, and is not reported yet.
        true => Vec::new(),
        false => agent.results.names_of(request, &row.request.document_sha256),
    };
    let document_sha256 = row.request.document_sha256.clone();
    let file = ClaimFile { document_sha256, epoch: Some(row.epoch), known_results };
    agent.book.insert(request, file, is_started)
}

/// Checks that the id of a row can be a file name. New requests have no dot in their id, so only
/// the id of a started one may have a dot.
fn check_id(row: &ClaimRow, is_started: bool) -> Result<(), String> {
    let id = row.request.id.parse::<RequestId>();
    let is_id = id.is_ok_and(|id| is_started || !id.has_dot());
    match is_id && row.request.kind != RequestKind::Standing {
        true => Ok(()),
        false => Err(format!(
            "request {}: not the id of a request; help: find out who submitted it",
            model::escape_line(&row.request.id)
        )),
    }
}
