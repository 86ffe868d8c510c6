//! Finds the record of a request, by name and content.

use model::{RequestId, ResultId};

use super::server_state::ServerState;
use crate::commands::inspect::results::{final_record, records_among, result_names};
use crate::failure::Failure;

/// The outcome that a record states. It is not verified.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct RecordedOutcome {
    pub(super) id: ResultId,
    pub(super) outcome: String,
    pub(super) has_reason: bool,
}

pub(super) fn recorded_outcome(
    state: &ServerState,
    id: &RequestId,
) -> Result<Option<RecordedOutcome>, Failure> {
    let records = records_among(state.spool(), &result_names(state.spool())?, id.as_str());
    let recorded = final_record(records).and_then(|record| {
        let (outcome, has_reason) = (record.as_str().to_owned(), record.reason().is_some());
        Some(RecordedOutcome { id: record.name().parse().ok()?, outcome, has_reason })
    });
    Ok(recorded)
}
