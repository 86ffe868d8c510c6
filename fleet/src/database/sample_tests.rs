//! Rows for the tests of the pure parts.

use fleet::model::{FleetState, HostName};

use super::model::{RequestKind, RequestRow, ResultRow, StartRow};
use super::start_rules::start_facts;
use super::stored::{StoredRequest, Summed};
use super::sum::{ClaimFacts, request_sum, result_sum};

pub(super) const ID: &str = "TR-20260209-160501Z-x";

pub(super) fn host(name: &str) -> HostName {
    HostName::parse(name).unwrap()
}

pub(super) fn request() -> RequestRow {
    RequestRow {
        id: ID.to_owned(),
        document_sha256: "a".repeat(64),
        manifest_sha256: Some("b".repeat(64)),
        kind: RequestKind::Request,
        audience: Some("gpu".to_owned()),
        bytes: 1234,
        signatures: vec!["1".repeat(64), "2".repeat(64)],
        submitted_by: "submitter".to_owned(),
    }
}

/// A claim of `host-a` with the epoch 3.
pub(super) fn claim(state: FleetState) -> ClaimFacts {
    ClaimFacts {
        request: ID.to_owned(),
        document_sha256: "a".repeat(64),
        audience: Some("gpu".to_owned()),
        host: (state != FleetState::Queued).then(|| "host-a".to_owned()),
        epoch: 3,
        state,
    }
}

/// The start of that claim.
pub(super) fn start() -> StartRow {
    StartRow {
        request: ID.to_owned(),
        document_sha256: "a".repeat(64),
        host: host("host-a"),
        epoch: Some(3),
        nonce: "0123456789abcdef".repeat(2),
        standing: None,
    }
}

/// The result of that claim.
pub(super) fn result() -> ResultRow {
    ResultRow {
        request: ID.to_owned(),
        document_sha256: "a".repeat(64),
        host: host("host-a"),
        epoch: Some(3),
        result_id: format!("TS-20260209-160502Z-{ID}"),
        outcome: "ok".to_owned(),
        exit_code: -1,
        manifest_sha256: "b".repeat(64),
        record_sha256: "c".repeat(64),
    }
}

/// The rows of a request in a state, without a defect.
pub(super) fn stored(state: FleetState) -> StoredRequest {
    let (request, claim) = (request(), claim(state));
    let (start, result) = (start_facts(&start()), result());
    let has_start = !matches!(state, FleetState::Queued | FleetState::Claimed);
    StoredRequest {
        request: Summed { sum: request_sum(&request), facts: request },
        submitted_utc: "2026-02-09T16:05:01Z".to_owned(),
        claim: Some(Summed { sum: claim.sum(), facts: claim }),
        start: has_start.then(|| Summed { sum: start.sum(), facts: start }),
        result: (state == FleetState::Ended)
            .then(|| Summed { sum: result_sum(&result), facts: result }),
    }
}
