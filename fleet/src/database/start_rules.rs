//! The decision about a start, from the rows as they are stored. The transaction that follows
//! commits only if they are still the same. A request that only its own host has is first tried
//! without these rows.

use std::fmt;

use fleet::gate::StandingUseQuery;
use fleet::model::FleetState;

use super::model::{StartDecision, StartRefusal, StartRow};
use super::stored::StoredRequest;
use super::sum::{ClaimFacts, StartFacts};

/// The epoch of a request that its own host decided.
pub(super) const LOCAL_EPOCH: i64 = 0;

/// The step that follows a look-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum StartStep {
    /// Nothing is left to do.
    Decided(StartDecision),
    /// Make the claim started.
    OfClaim(ClaimFacts),
    /// Insert the request, its claim and its start.
    Local,
}

/// Decides the step. A start with the same nonce is the answer to the same query: its commit
/// arrived although its answer was lost.
pub(super) fn judge_start(start: &StartRow, stored: Option<&StoredRequest>) -> StartStep {
    let refused = |refusal| StartStep::Decided(StartDecision::Refused(refusal));
    let Some(stored) = stored else {
        return match start.epoch {
            Some(_) => refused(StartRefusal::Unknown),
            None => StartStep::Local,
        };
    };
    if stored.request.facts.document_sha256 != start.document_sha256 {
        return refused(StartRefusal::OtherDocument);
    }
    let Some(claim) = stored.claim.as_ref().map(|claim| &claim.facts) else {
        return refused(StartRefusal::Unknown);
    };
    let host = || claim.host.clone().unwrap_or_default();
    match claim.state {
        FleetState::Queued => refused(StartRefusal::NotClaimed { host: None }),
        FleetState::Claimed => match is_mine(start, claim) {
            true => StartStep::OfClaim(claim.clone()),
            false => refused(StartRefusal::NotClaimed { host: claim.host.clone() }),
        },
        FleetState::Started => {
            let found = stored.start.as_ref().map(|start| &start.facts);
            match found == Some(&start_facts(start)) {
                true => StartStep::Decided(StartDecision::Started),
                false => refused(StartRefusal::AlreadyStarted { host: host() }),
            }
        }
        FleetState::Indeterminate => refused(StartRefusal::AlreadyStarted { host: host() }),
        FleetState::Ended => refused(StartRefusal::Ended { host: host() }),
    }
}

fn is_mine(start: &StartRow, claim: &ClaimFacts) -> bool {
    claim.host.as_deref() == Some(start.host.as_str()) && start.epoch == Some(claim.epoch)
}

/// Returns the row of a start.
pub(super) fn start_facts(start: &StartRow) -> StartFacts {
    StartFacts {
        request: start.request.clone(),
        document_sha256: start.document_sha256.clone(),
        host: start.host.as_str().to_owned(),
        epoch: start.epoch.unwrap_or(LOCAL_EPOCH),
        nonce: start.nonce.clone(),
    }
}

/// Judges one more use of a standing approval, from the uses of all hosts.
pub(super) fn judge_use(
    standing: &StandingUseQuery,
    uses: u64,
    uses_of_hour: u64,
) -> Option<StartRefusal> {
    if uses >= standing.uses_max {
        return Some(StartRefusal::UsedUp { uses });
    }
    let is_spent = standing.uses_per_hour_max.is_some_and(|most| uses_of_hour >= most);
    is_spent.then_some(StartRefusal::HourUsedUp { uses: uses_of_hour })
}

impl fmt::Display for StartRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("database of the fleet: ")?;
        match self {
            Self::Unknown => f.write_str(
                "it does not have this request; help: submit it with `toolexec submit --fleet`",
            ),
            Self::OtherDocument => f.write_str(
                "it has another document with this id; help: submit the request under another id",
            ),
            Self::NotClaimed { host: None } => f.write_str(
                "the request waits for a host; help: leave it to the host that claims it",
            ),
            Self::NotClaimed { host: Some(host) } => write!(
                f,
                "{host} has the request now; help: read its record with `toolexec show --fleet`"
            ),
            Self::AlreadyStarted { host } => write!(
                f,
                "{host} has started the request, and nothing starts it again; help: read its \
                 record with `toolexec show --fleet`"
            ),
            Self::Ended { host } => write!(
                f,
                "it has the record of {host} for the request; help: read it with `toolexec show \
                 --fleet`"
            ),
            Self::UsedUp { uses } => write!(
                f,
                "all {uses} uses of the standing approval are spent, over all hosts; help: ask for \
                 another standing approval"
            ),
            Self::HourUsedUp { uses } => write!(
                f,
                "all {uses} uses of the standing approval in this hour are spent, over all hosts; \
                 help: submit it later under another id"
            ),
            Self::Disputed => f.write_str(
                "a witness disputes the log of this host; help: compare the log with its witnesses \
                 (docs/fleet.md)",
            ),
            Self::Lost => f.write_str(
                "an operator declared this host lost; help: let the host report what it started; \
                 then it starts requests again",
            ),
            Self::Defect(defect) => write!(f, "{defect}"),
        }
    }
}

#[cfg(test)]
mod tests;
