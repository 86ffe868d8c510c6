//! Deliveries: each host of its audience gets a standing approval, and the host that has claimed a
//! request gets its new signatures. The agent notes a delivery in the database after it has placed
//! the files. So it repeats an interrupted one.

use std::time::Instant;

use model::StandingId;

use super::agent_state::Agent;
use super::claim_step::SubmissionPresence;
use super::document_tries::DocumentTries;
use super::error::FleetAgentError;
use super::placing::{PlaceOutcome, submission};
use super::unpacked::place_row;
use crate::database::{Database, RequestKind, RequestRow, delivery_key};

/// The most deliveries of one round.
const COUNT_MAX: u32 = 64;

/// The outcome of one delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DeliveryEnd {
    /// It is placed, or never can be.
    Done,
    /// It is tried again.
    Later,
}

/// Delivers what this host does not have yet.
pub(super) async fn deliver(
    agent: &Agent,
    database: &mut Database,
    tries: &mut DocumentTries,
) -> Result<(), FleetAgentError> {
    // Deliveries that wait for a later try take no places. Otherwise they could block later ones,
    // such as revocations.
    let waiting = tries.waiting(Instant::now());
    let rows = database.deliveries(&agent.ask(COUNT_MAX), &waiting).await?;
    tries.keep(|id| {
        let is_waiting = waiting.iter().any(|key| key == id);
        let is_found = || rows.iter().any(|row| delivery_key(row) == id);
        is_waiting || agent.book.claim(id).is_some() || is_found()
    });
    for row in &rows {
        let key = delivery_key(row);
        if !tries.may_try(&key, Instant::now()) {
            continue;
        }
        let later = match deliver_one(agent, database, row).await {
            Ok(DeliveryEnd::Done) => None,
            Ok(DeliveryEnd::Later) => {
                Some("it waits for its request, or for a free name in approved/".to_owned())
            }
            Err(FleetAgentError::Link(error)) => return Err(error.into()),
            Err(error) if error.is_momentary() => Some(error.to_string()),
            Err(error) => {
                // A delivery that always fails must not delay later ones, such as revocations, for
                // ever.
                tracing::error!("{}: not delivered: {error}", model::escape_line(&row.id));
                None
            }
        };
        match later {
            Some(why) => {
                tries.failed(&key, &why, Instant::now());
            }
            None => {
                note_delivered(agent, database, row).await?;
                tries.forget(&key);
            }
        }
    }
    Ok(())
}

async fn deliver_one(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
) -> Result<DeliveryEnd, FleetAgentError> {
    match row.kind {
        RequestKind::Standing => deliver_standing(agent, database, row).await,
        RequestKind::Request => deliver_signatures(agent, database, row).await,
        // A user of its host placed it there.
        RequestKind::Local => Ok(DeliveryEnd::Done),
    }
}

async fn deliver_standing(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
) -> Result<DeliveryEnd, FleetAgentError> {
    if row.id.parse::<StandingId>().is_err() {
        return Err(FleetAgentError::lasting(
            "its row does not have the id of a standing approval; help: find out who submitted it"
                .to_owned(),
        ));
    }
    let placed = place_row(agent, database, row).await?;
    tracing::info!(standing = row.id, "delivered");
    Ok(end_of(placed))
}

/// Adds new signatures beside a request that waits here. A request that the daemon has taken or
/// recorded needs none.
async fn deliver_signatures(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
) -> Result<DeliveryEnd, FleetAgentError> {
    let Some(claim) = agent.book.claim(&row.id) else { return Ok(DeliveryEnd::Done) };
    let file_name = format!("{}.md", row.id);
    match submission(&agent.config.approved(), &file_name, &row.document_sha256)? {
        SubmissionPresence::Ours => place_row(agent, database, row).await.map(end_of),
        // The request itself is placed first.
        _ if !claim.is_placed && !claim.is_started => Ok(DeliveryEnd::Later),
        _ => Ok(DeliveryEnd::Done),
    }
}

fn end_of(placed: PlaceOutcome) -> DeliveryEnd {
    match placed {
        PlaceOutcome::Placed => DeliveryEnd::Done,
        PlaceOutcome::Blocked => DeliveryEnd::Later,
    }
}

async fn note_delivered(
    agent: &Agent,
    database: &mut Database,
    row: &RequestRow,
) -> Result<(), FleetAgentError> {
    let manifest = row.manifest_sha256.as_deref().unwrap_or_default();
    Ok(database.delivered(agent.host(), &row.document_sha256, manifest).await?)
}
