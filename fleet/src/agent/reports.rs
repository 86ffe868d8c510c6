//! Reports the records of this host, and takes part in the witnessing of logs on the same
//! connection. A claim is forgotten only after the database has its record, or has refused it for
//! good: the record then stays on this host.

use std::rc::Rc;
use std::time::{Duration, Instant};

use model::{ResultId, Sha256};
use tokio::time::{sleep, timeout};

use super::agent_state::Agent;
use super::document_tries::DocumentTries;
use super::error::FleetAgentError;
use super::link::DatabaseLink;
use super::model::LocalClaim;
use super::results::FoundRecord;
use super::retry::TaskRetry;
use super::start_priority::ReportBlobs;
use crate::bytes::{PackedResult, pack_result};
use crate::database::{Database, ReportAnswer, ResultRow};
use crate::witness::Witness;

/// The longest wait for a call of the database, which may carry the bytes of a result.
const CALL_TIME_MAX: Duration = Duration::from_secs(60);
/// Results appear without a notice, so their directory is looked at this often.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The interval of the rounds of witnesses.
const WITNESS_INTERVAL: Duration = Duration::from_secs(10);

/// Reports until the agent stops.
pub(super) async fn run(agent: Rc<Agent>, mut witness: Witness) {
    let mut link = DatabaseLink::new("toolexec-fleet reports", CALL_TIME_MAX);
    let mut retry = TaskRetry::new("reports");
    let mut tries = DocumentTries::new("reported");
    let mut witnessing = TaskRetry::new("witness");
    let mut witness_at = Instant::now();
    loop {
        let worked = match round(&agent, &mut link, &mut tries).await {
            Ok(()) if witness_at <= Instant::now() => {
                witness_at = Instant::now() + WITNESS_INTERVAL;
                witness_round(&agent, &mut link, &mut witness, &mut witnessing).await
            }
            worked => worked,
        };
        match worked {
            Ok(()) => {
                retry.worked();
                timeout(LOOK_INTERVAL, agent.reports_wake.notified()).await.unwrap_or_default();
            }
            Err(error) => {
                link.close();
                sleep(retry.failed(&error.to_string())).await;
            }
        }
    }
}

/// Reports every record that ends a claim.
async fn round(
    agent: &Agent,
    link: &mut DatabaseLink,
    tries: &mut DocumentTries,
) -> Result<(), FleetAgentError> {
    agent.results.refresh().await?;
    let mut found = Vec::new();
    for request in agent.book.requests() {
        let Some(claim) = agent.book.claim(&request) else { continue };
        if let Some(record) = agent.results.end_of(&request, &claim) {
            found.push((request, claim, record));
        }
    }
    tries.keep(|id| found.iter().any(|(request, ..)| request == id));
    for (at, (request, claim, record)) in found.iter().enumerate() {
        let unreported = found.len().saturating_sub(at);
        let unreported = u64::try_from(unreported).unwrap_or(u64::MAX);
        agent.readiness.borrow_mut().count_unreported(unreported);
        if !tries.may_try(request, Instant::now()) {
            continue;
        }
        let database = link.database(&agent.target).await?;
        match report(agent, database, request, claim, record).await {
            Ok(()) => tries.forget(request),
            Err(FleetAgentError::Link(error)) if error.is_momentary() => return Err(error.into()),
            // One record that cannot be reported must not stop the others.
            Err(error) => {
                tries.failed(request, &error.to_string(), Instant::now());
                link.close();
            }
        }
    }
    let left = found.iter().filter(|(request, ..)| agent.book.claim(request).is_some()).count();
    agent.readiness.borrow_mut().count_unreported(u64::try_from(left).unwrap_or(u64::MAX));
    Ok(())
}

async fn report(
    agent: &Agent,
    database: &mut Database,
    request: &str,
    claim: &LocalClaim,
    record: &FoundRecord,
) -> Result<(), FleetAgentError> {
    let id: ResultId = record.name.parse().map_err(|error| {
        FleetAgentError::lasting(format!("result {}: {error}; help: remove it", record.name))
    })?;
    let bytes = agent.results.read_record(&id)?;
    let priority = &agent.start_priority;
    let mut rows = ReportBlobs { priority, database };
    let packed = pack_result(&agent.results.path(&record.name), &agent.store, &mut rows).await?;
    let PackedResult { manifest_sha256, left_out } = packed;
    let (result, outcome) = (&record.name, &record.outcome);
    for name in left_out {
        tracing::warn!(result, "{name} is too large for the fleet and stays here");
    }
    let row = ResultRow {
        request: request.to_owned(),
        document_sha256: claim.file.document_sha256.clone(),
        host: agent.host().clone(),
        epoch: claim.file.epoch,
        result_id: result.clone(),
        outcome: outcome.clone(),
        exit_code: record.exit_code,
        manifest_sha256,
        record_sha256: Sha256::of(&bytes).to_string(),
    };
    priority.wait().await;
    match rows.database.report(&row).await? {
        ReportAnswer::Recorded => tracing::info!(request, result, outcome, "reported"),
        ReportAnswer::AlreadyRecorded => tracing::info!(request, result, "reported before"),
        ReportAnswer::NotMine => {
            tracing::warn!(request, result, outcome, "the claim was lost: the record stays here");
        }
    }
    agent.forget(request)?;
    agent.wake_for_room();
    Ok(())
}

/// Witnesses the logs of the fleet once. A fault of one log must not stop reports.
async fn witness_round(
    agent: &Agent,
    link: &mut DatabaseLink,
    witness: &mut Witness,
    witnessing: &mut TaskRetry,
) -> Result<(), FleetAgentError> {
    let list = agent.list();
    let database = link.database(&agent.target).await?;
    match witness.round(database, &list, &agent.config.log).await {
        Ok(()) => witnessing.worked(),
        Err(error) => {
            // The next round comes after its interval.
            witnessing.failed(&error.to_string());
            link.close();
        }
    }
    Ok(())
}
