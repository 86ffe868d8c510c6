//! Decides one start. Only a committed row of the database permits it, and only for the claim and
//! the nonce of this process. Every error leaves the start undecided, and the daemon asks again.

use std::time::Instant;

use fleet::gate::{GateAnswer, StandingUseQuery, StartQuery};
use model::{RequestId, Sha256, StandingId};
use spool::random_bytes;

use super::agent_state::Agent;
use super::error::FleetAgentError;
use super::link::DatabaseLink;
use super::model::{ClaimFile, LocalClaim};
use crate::database::{StartDecision, StartRow};

/// Decides a start. The daemon repeats its query until it gets a decision, and all repetitions
/// together have one effect.
pub(super) async fn decide(agent: &Agent, query: &StartQuery) -> GateAnswer {
    if let Err(reason) = check(query) {
        return GateAnswer::Refused { reason };
    }
    let _prior = agent.start_priority.begin();
    let fresh = match random_bytes() {
        Ok(fresh) => fresh,
        Err(error) => {
            return undecided(format!("random numbers: {error}; help: check the kernel"));
        }
    };
    let Some(nonce) = agent.nonces.begin(&query.request, &query.document_sha256, fresh) else {
        return undecided(format!("start of {}: it is being decided; help: wait", query.request));
    };
    let answer = decide_alone(agent, query, nonce).await;
    agent.nonces.end(&query.request);
    if matches!(answer, GateAnswer::Refused { .. }) {
        agent.nonces.forget(&query.request);
    }
    answer
}

/// Decides while no other query of the same request is being decided.
async fn decide_alone(agent: &Agent, query: &StartQuery, nonce: String) -> GateAnswer {
    let epoch = match claimed_epoch(agent, query).await {
        Ok(epoch) => epoch,
        Err(answer) => return answer,
    };
    let row = StartRow {
        request: query.request.clone(),
        document_sha256: query.document_sha256.clone(),
        host: agent.host().clone(),
        epoch,
        nonce,
        standing: query.standing.clone(),
    };
    let asked_at = Instant::now();
    match ask_database(agent, &row).await {
        Ok(StartDecision::Started) => {
            let database_ms = asked_at.elapsed().as_secs_f64() * 1e3;
            agent.book.note_started(&row.request);
            agent.wake_for_room();
            tracing::info!(request = row.request, database_ms, "started");
            GateAnswer::Start
        }
        Ok(StartDecision::Refused(refusal)) => {
            let reason = format!("start of {}: {refusal}", row.request);
            tracing::warn!("{reason}");
            // A local request stays noted until its record is published. Otherwise that record
            // could end a later claim of the same request.
            agent.claims_wake.notify_one();
            GateAnswer::Refused { reason }
        }
        Err(error) => undecided(error.to_string()),
    }
}

/// Returns the epoch of the claim, or `None` for a request that was submitted on this host. Its
/// start is noted durably first, so that its record is reported after every interruption.
async fn claimed_epoch(agent: &Agent, query: &StartQuery) -> Result<Option<i64>, GateAnswer> {
    let request = &query.request;
    if let Some(claim) = agent.book.claim(request) {
        let is_same = claim.file.document_sha256 == query.document_sha256;
        return match (is_same, claim.file.epoch) {
            (true, epoch) => check_reported(agent, request, &claim)
                .await
                .map(|()| epoch)
                .map_err(|error| undecided(error.to_string())),
            (false, Some(_)) => Err(GateAnswer::Refused {
                reason: format!(
                    "start of {request}: this host has claimed another document with this id; \
                     help: give one of them another id"
                ),
            }),
            // The record of the other document is still to be reported.
            (false, None) => Err(undecided(format!(
                "start of {request}: another document with this id is not reported yet; help: wait"
            ))),
        };
    }
    let noted = async {
        agent.results.refresh().await?;
        let file = ClaimFile {
            document_sha256: query.document_sha256.clone(),
            epoch: None,
            known_results: agent.results.names_of(request, &query.document_sha256),
        };
        // A claim of the database may have come while the results were listed.
        match agent.book.claim(request) {
            Some(_) => Err(FleetAgentError::lasting(format!(
                "start of {request}: it is being claimed; help: wait"
            ))),
            None => agent.book.insert(request, file, false),
        }
    };
    noted.await.map(|()| None).map_err(|error| undecided(error.to_string()))
}

/// Checks that no record of an earlier try waits for its report: it would end the claim during the
/// run that this start permits.
async fn check_reported(
    agent: &Agent,
    request: &str,
    claim: &LocalClaim,
) -> Result<(), FleetAgentError> {
    agent.results.refresh().await?;
    let Some(record) = agent.results.end_of(request, claim) else { return Ok(()) };
    agent.reports_wake.notify_one();
    Err(FleetAgentError::lasting(format!(
        "start of {request}: its record {} is not reported yet; help: wait",
        record.name
    )))
}

/// Asks the database. After a lost answer to a commit it asks once more: the nonce finds the start.
async fn ask_database(agent: &Agent, row: &StartRow) -> Result<StartDecision, FleetAgentError> {
    let mut pooled = agent.starts.take().await;
    let link = pooled.link();
    let first = start(agent, link, row).await;
    let answer = match first {
        Err(error) if error.is_unknown_outcome() => {
            tracing::warn!(request = row.request, "{error}; asking again");
            link.close();
            start(agent, link, row).await
        }
        answer => answer,
    };
    if answer.is_err() {
        link.close();
    }
    answer
}

async fn start(
    agent: &Agent,
    link: &mut DatabaseLink,
    row: &StartRow,
) -> Result<StartDecision, FleetAgentError> {
    let is_new = link.is_closed();
    let database = link.database(&agent.target).await?;
    if is_new {
        // Another database may answer now: a beat shows if it is an older copy.
        agent.beat(database).await?;
    }
    agent.readiness.borrow().may_decide().map_err(FleetAgentError::lasting)?;
    let asked_at = Instant::now();
    let decision = database.start(row).await?;
    agent.readiness.borrow_mut().measured(asked_at.elapsed());
    Ok(decision)
}

/// Checks the form of each text in a query. The request's id becomes a file name.
fn check(query: &StartQuery) -> Result<(), String> {
    let is_digest =
        |text: &str| text.parse::<Sha256>().is_ok_and(|digest| digest.to_string() == text);
    let is_use = |of: &StandingUseQuery| {
        of.approval.parse::<StandingId>().is_ok() && is_digest(&of.document_sha256)
    };
    let is_request = query.request.parse::<RequestId>().is_ok();
    let is_standing = query.standing.as_ref().is_none_or(is_use);
    match is_request && is_digest(&query.document_sha256) && is_standing {
        true => Ok(()),
        false => Err("start: not the id and the digests of a request; help: update toolexecd and \
                      toolexec-fleet together"
            .to_owned()),
    }
}

fn undecided(reason: String) -> GateAnswer {
    GateAnswer::Undecided { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(request: &str, digest: &str) -> StartQuery {
        let (request, document_sha256) = (request.to_owned(), digest.to_owned());
        StartQuery { request, document_sha256, standing: None }
    }

    #[test]
    fn only_ids_and_digests_are_asked_for() {
        let digest = "0a".repeat(32);
        let upper = digest.to_uppercase();
        let request = "TR-20261127-080000Z-a";
        assert_eq!(check(&query(request, &digest)), Ok(()));
        for (request, digest) in [
            ("../TR-20261127-080000Z-a", digest.as_str()),
            ("TR-20261127-080000Z-a/b", digest.as_str()),
            ("", digest.as_str()),
            (request, "0A"),
            (request, upper.as_str()),
        ] {
            assert!(check(&query(request, digest)).is_err(), "{request} {digest}");
        }
        let standing = Some(StandingUseQuery {
            approval: request.to_owned(),
            document_sha256: digest.clone(),
            uses_max: 1,
            uses_per_hour_max: None,
        });
        assert!(check(&StartQuery { standing, ..query(request, &digest) }).is_err());
    }
}
