//! The decision about a report, from the rows as they are stored.

use fleet::model::FleetState;

use super::model::{ReportAnswer, RequestKind, ResultRow};
use super::start_rules::LOCAL_EPOCH;
use super::stored::StoredRequest;
use super::sum::ClaimFacts;

/// The step that follows a look-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ReportStep {
    /// Nothing is left to do.
    Decided(ReportAnswer),
    /// Insert the result and end this claim.
    Record(ClaimFacts),
}

/// Decides the step. A host reports what it has claimed or started, and also what was declared
/// indeterminate while it was away.
pub(super) fn judge_report(result: &ResultRow, stored: Option<&StoredRequest>) -> ReportStep {
    let decided = ReportStep::Decided;
    let Some(stored) = stored else { return decided(ReportAnswer::NotMine) };
    if let Some(found) = stored.result.as_ref().map(|result| &result.facts) {
        let is_same = found.host == result.host && found.record_sha256 == result.record_sha256;
        return decided(match is_same {
            true => ReportAnswer::AlreadyRecorded,
            false => ReportAnswer::NotMine,
        });
    }
    let Some(claim) = stored.claim.as_ref().map(|claim| &claim.facts) else {
        return decided(ReportAnswer::NotMine);
    };
    // A local run never ends a claim of the fleet, although the first epoch of a claim is the epoch
    // of local requests too.
    let is_of_kind = result.epoch.is_some() || stored.request.facts.kind == RequestKind::Local;
    let is_mine = is_of_kind
        && claim.host.as_deref() == Some(result.host.as_str())
        && claim.epoch == result.epoch.unwrap_or(LOCAL_EPOCH)
        && claim.document_sha256 == result.document_sha256;
    match claim.state {
        FleetState::Claimed | FleetState::Started | FleetState::Indeterminate if is_mine => {
            ReportStep::Record(claim.clone())
        }
        _ => decided(ReportAnswer::NotMine),
    }
}

#[cfg(test)]
mod tests;
