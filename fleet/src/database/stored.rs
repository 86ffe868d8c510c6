//! The rows of one request as they are stored, read by one statement, and the search for rows that
//! were changed by hand.

use fleet::commands::FleetRequest;
use fleet::model::{FleetState, HostName};
use tokio_postgres::Row;

use super::error::DatabaseError;
use super::model::{RequestKind, RequestRow, ResultRow, RowDefect};
use super::row::{count, field, host_name, parsed};
use super::sum::{ClaimFacts, StartFacts, request_sum, result_sum};

/// The columns of a document.
macro_rules! request_columns {
    () => {
        "r.id AS r_id, r.document_sha256 AS r_document, r.manifest_sha256 AS r_manifest, \
         r.kind AS r_kind, r.audience AS r_audience, r.bytes AS r_bytes, \
         r.signatures AS r_signatures, r.submitted_by AS r_submitted_by, r.sum AS r_sum, \
         to_char(r.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') \
         AS r_submitted"
    };
}

/// The columns of all rows of a request: `r` is the document, `c` its claim, `s` its start, and `o`
/// its outcome.
macro_rules! state_columns {
    () => {
        concat!(
            $crate::database::stored::request_columns!(),
            ", c.request AS c_request, c.document_sha256 AS c_document, c.audience AS c_audience, \
             c.host AS c_host, c.epoch AS c_epoch, c.state AS c_state, c.sum AS c_sum, \
             s.request AS s_request, s.document_sha256 AS s_document, s.host AS s_host, \
             s.epoch AS s_epoch, s.nonce AS s_nonce, s.sum AS s_sum, \
             o.request AS o_request, o.document_sha256 AS o_document, o.host AS o_host, \
             o.epoch AS o_epoch, o.result_id AS o_result_id, o.outcome AS o_outcome, \
             o.exit_code AS o_exit_code, o.manifest_sha256 AS o_manifest, \
             o.record_sha256 AS o_record, o.sum AS o_sum "
        )
    };
}

pub(super) use request_columns;
pub(super) use state_columns;

pub(super) const CHANGED: &str = "its sum does not match its fields";
pub(super) const UNREADABLE: &str = "it has a value that no program of the fleet writes";
const MISSING: &str = "it is missing";
const FOREIGN: &str = "it does not belong to the other rows of the request";
const PREMATURE: &str = "the state of the claim does not have it";

/// Facts with the sum that is stored beside them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Summed<T> {
    pub(super) facts: T,
    pub(super) sum: String,
}

/// All rows of one request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StoredRequest {
    pub(super) request: Summed<RequestRow>,
    pub(super) submitted_utc: String,
    pub(super) claim: Option<Summed<ClaimFacts>>,
    pub(super) start: Option<Summed<StartFacts>>,
    pub(super) result: Option<Summed<ResultRow>>,
}

impl StoredRequest {
    /// Reads a row with [`state_columns`].
    pub(super) fn read(row: &Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            request: Summed { facts: read_request(row)?, sum: field(row, "r_sum")? },
            submitted_utc: field(row, "r_submitted")?,
            claim: read_claim(row)?,
            start: read_start(row)?,
            result: read_result(row)?,
        })
    }

    /// Reads a row, unless a value of it was changed by hand. The error has a defect only.
    pub(super) fn judged(row: &Row) -> Result<Self, RowDefect> {
        match Self::read(row) {
            Ok(stored) => stored.defect().map_or(Ok(stored), Err),
            Err(_) => Err(RowDefect {
                table: "request, claim, start or result",
                request: field(row, "r_id").unwrap_or_default(),
                fault: UNREADABLE,
            }),
        }
    }

    /// Returns the first defect. Rows of one statement are of one moment, so they must agree.
    pub(super) fn defect(&self) -> Option<RowDefect> {
        let fault = if self.request.sum != request_sum(&self.request.facts) {
            Some(("request", CHANGED))
        } else if self.request.facts.kind == RequestKind::Standing {
            self.claim.is_some().then_some(("claim", FOREIGN))
        } else {
            match &self.claim {
                None => Some(("claim", MISSING)),
                Some(claim) => self.fault_of_claim(claim),
            }
        };
        let request = self.request.facts.id.clone();
        fault.map(|(table, fault)| RowDefect { table, request, fault })
    }

    fn fault_of_claim(&self, claim: &Summed<ClaimFacts>) -> Option<(&'static str, &'static str)> {
        let (facts, document) = (&claim.facts, &self.request.facts);
        if claim.sum != facts.sum() {
            return Some(("claim", CHANGED));
        }
        if facts.document_sha256 != document.document_sha256 || facts.audience != document.audience
        {
            return Some(("claim", FOREIGN));
        }
        self.fault_of_start(facts).or_else(|| self.fault_of_result(facts))
    }

    fn fault_of_start(&self, claim: &ClaimFacts) -> Option<(&'static str, &'static str)> {
        use FleetState::{Claimed, Ended, Indeterminate, Queued, Started};
        let fault = match (&self.start, claim.state) {
            (None, Started | Indeterminate) => MISSING,
            (None, Queued | Claimed | Ended) => return None,
            (Some(start), _) if start.sum != start.facts.sum() => CHANGED,
            (Some(_), Queued | Claimed) => PREMATURE,
            (Some(Summed { facts, .. }), Started | Indeterminate | Ended) => {
                let is_of_claim = facts.document_sha256 == claim.document_sha256
                    && Some(&facts.host) == claim.host.as_ref()
                    && facts.epoch == claim.epoch;
                return (!is_of_claim).then_some(("start", FOREIGN));
            }
        };
        Some(("start", fault))
    }

    fn fault_of_result(&self, claim: &ClaimFacts) -> Option<(&'static str, &'static str)> {
        let has_ended = claim.state == FleetState::Ended;
        let fault = match &self.result {
            None if has_ended => MISSING,
            None => return None,
            Some(result) if result.sum != result_sum(&result.facts) => CHANGED,
            Some(_) if !has_ended => PREMATURE,
            Some(Summed { facts, .. }) => {
                let is_of_claim = facts.document_sha256 == claim.document_sha256
                    && Some(facts.host.as_str()) == claim.host.as_deref()
                    && facts.epoch == Some(claim.epoch);
                return (!is_of_claim).then_some(("result", FOREIGN));
            }
        };
        Some(("result", fault))
    }

    /// Returns the state; `Queued` for a standing approval, which has none.
    pub(super) fn state(&self) -> FleetState {
        self.claim.as_ref().map_or(FleetState::Queued, |claim| claim.facts.state)
    }

    /// Returns the request as commands show it.
    pub(super) fn to_fleet_request(&self) -> FleetRequest {
        let document = &self.request.facts;
        let host = self.claim.as_ref().and_then(|claim| claim.facts.host.as_deref());
        let result = self.result.as_ref().map(|result| &result.facts);
        FleetRequest {
            request: document.id.clone(),
            document_sha256: document.document_sha256.clone(),
            audience: document.audience.clone(),
            state: self.state(),
            submitted_by: document.submitted_by.clone(),
            submitted_utc: self.submitted_utc.clone(),
            host: host.and_then(|host| HostName::parse(host).ok()),
            result: result.map(|result| result.result_id.clone()),
            outcome: result.map(|result| result.outcome.clone()),
            exit_code: result.map(|result| result.exit_code),
        }
    }
}

/// Reads a row with [`request_columns`].
pub(super) fn read_request(row: &Row) -> Result<RequestRow, DatabaseError> {
    Ok(RequestRow {
        id: field(row, "r_id")?,
        document_sha256: field(row, "r_document")?,
        manifest_sha256: field(row, "r_manifest")?,
        kind: parsed(row, "r_kind", RequestKind::named)?,
        audience: field(row, "r_audience")?,
        bytes: count(row, "r_bytes")?,
        signatures: field(row, "r_signatures")?,
        submitted_by: field(row, "r_submitted_by")?,
    })
}

fn read_claim(row: &Row) -> Result<Option<Summed<ClaimFacts>>, DatabaseError> {
    let Some(request) = field(row, "c_request")? else { return Ok(None) };
    let facts = ClaimFacts {
        request,
        document_sha256: field(row, "c_document")?,
        audience: field(row, "c_audience")?,
        host: field(row, "c_host")?,
        epoch: field(row, "c_epoch")?,
        state: parsed(row, "c_state", FleetState::named)?,
    };
    Ok(Some(Summed { facts, sum: field(row, "c_sum")? }))
}

fn read_start(row: &Row) -> Result<Option<Summed<StartFacts>>, DatabaseError> {
    let Some(request) = field(row, "s_request")? else { return Ok(None) };
    let facts = StartFacts {
        request,
        document_sha256: field(row, "s_document")?,
        host: field(row, "s_host")?,
        epoch: field(row, "s_epoch")?,
        nonce: field(row, "s_nonce")?,
    };
    Ok(Some(Summed { facts, sum: field(row, "s_sum")? }))
}

fn read_result(row: &Row) -> Result<Option<Summed<ResultRow>>, DatabaseError> {
    let Some(request) = field(row, "o_request")? else { return Ok(None) };
    let facts = ResultRow {
        request,
        document_sha256: field(row, "o_document")?,
        host: host_name(row, "o_host")?,
        epoch: Some(field(row, "o_epoch")?),
        result_id: field(row, "o_result_id")?,
        outcome: field(row, "o_outcome")?,
        exit_code: field(row, "o_exit_code")?,
        manifest_sha256: field(row, "o_manifest")?,
        record_sha256: field(row, "o_record")?,
    };
    Ok(Some(Summed { facts, sum: field(row, "o_sum")? }))
}

#[cfg(test)]
mod tests;
