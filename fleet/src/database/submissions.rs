//! Submissions: documents, and signature files that come after them.

use std::collections::BTreeSet;

use fleet::model::FleetState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::bound::{SqlValues, StatementBound, retried};
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::Channel;
use super::model::{RequestKind, RequestRow, RowDefect, SubmitRowAnswer};
use super::row::{bigint, field};
use super::stored::{CHANGED, read_request, request_columns};
use super::sum::{ClaimFacts, addition_sum, request_sum};

const ACT: &str = "submit";

macro_rules! insert_request {
    () => {
        "INSERT INTO toolexec.request \
         (id, document_sha256, manifest_sha256, kind, audience, bytes, signatures, sum) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
    };
}

/// Fails with a conflict if the id exists.
pub(super) const INSERT_NEW_REQUEST: &str = insert_request!();

const INSERT_REQUEST: &str = concat!(insert_request!(), " ON CONFLICT (id) DO NOTHING");

pub(super) const INSERT_CLAIM: &str = "INSERT INTO toolexec.claim \
     (request, document_sha256, audience, host, epoch, state, sum) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";

const FOUND: &str =
    concat!("SELECT ", request_columns!(), " FROM toolexec.request r WHERE r.id = $1");

const ADDED: &str = "SELECT signatures FROM toolexec.addition WHERE request = $1";

const INSERT_ADDITION: &str = "INSERT INTO toolexec.addition \
     (request, manifest_sha256, bytes, signatures, sum) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT DO NOTHING";

impl Database {
    /// Submits a document. The same document again adds its new signature files only.
    ///
    /// # Errors
    /// [`DatabaseError`]. After an unknown outcome the same call gives the answer.
    pub(crate) async fn submit(
        &mut self,
        row: &RequestRow,
    ) -> Result<SubmitRowAnswer, DatabaseError> {
        let answer = retried!(self.submit_once(row))?;
        self.wake(Channel::Requests).await;
        Ok(answer)
    }

    async fn submit_once(&mut self, row: &RequestRow) -> Result<SubmitRowAnswer, DatabaseError> {
        let bound = self.bound.clone();
        let transaction = bound.begin(ACT, &mut self.client).await?;
        let client = transaction.client();
        let answer = if insert_request(ACT, &bound, client, INSERT_REQUEST, row).await? {
            if row.kind == RequestKind::Request {
                insert_claim(ACT, &bound, client, &queued(row)).await?;
            }
            SubmitRowAnswer::New
        } else {
            add(&bound, client, row).await?
        };
        bound.commit(ACT, transaction).await?;
        Ok(answer)
    }
}

/// Returns the claim of a new request.
fn queued(row: &RequestRow) -> ClaimFacts {
    ClaimFacts {
        request: row.id.clone(),
        document_sha256: row.document_sha256.clone(),
        audience: row.audience.clone(),
        host: None,
        epoch: 0,
        state: FleetState::Queued,
    }
}

/// Inserts a document. Returns false if the statement has inserted none.
pub(super) async fn insert_request(
    act: &'static str,
    bound: &StatementBound,
    client: &Client,
    statement: &'static str,
    row: &RequestRow,
) -> Result<bool, DatabaseError> {
    let (bytes, sum) = (bigint(row.bytes, "bytes")?, request_sum(row));
    let values: SqlValues<'_> = &[
        (&row.id, Type::TEXT),
        (&row.document_sha256, Type::TEXT),
        (&row.manifest_sha256, Type::TEXT),
        (&row.kind.as_str(), Type::TEXT),
        (&row.audience, Type::TEXT),
        (&bytes, Type::INT8),
        (&row.signatures, Type::TEXT_ARRAY),
        (&sum, Type::TEXT),
    ];
    Ok(bound.execute_planned(act, client, statement, values).await? == 1)
}

/// Inserts the claim of a document that this transaction has inserted.
pub(super) async fn insert_claim(
    act: &'static str,
    bound: &StatementBound,
    client: &Client,
    claim: &ClaimFacts,
) -> Result<(), DatabaseError> {
    let sum = claim.sum();
    let values: SqlValues<'_> = &[
        (&claim.request, Type::TEXT),
        (&claim.document_sha256, Type::TEXT),
        (&claim.audience, Type::TEXT),
        (&claim.host, Type::TEXT),
        (&claim.epoch, Type::INT8),
        (&claim.state.as_str(), Type::TEXT),
        (&sum, Type::TEXT),
    ];
    bound.execute_planned(act, client, INSERT_CLAIM, values).await?;
    Ok(())
}

/// Adds the signature files of a document that exists.
async fn add(
    bound: &StatementBound,
    client: &Client,
    row: &RequestRow,
) -> Result<SubmitRowAnswer, DatabaseError> {
    let rows = bound.query(ACT, client, FOUND, &[(&row.id, Type::TEXT)]).await?;
    let found = rows.first().ok_or_else(|| DatabaseError::conflict(ACT))?;
    let known = read_request(found)?;
    if request_sum(&known) != field::<String>(found, "r_sum")? {
        let (table, request, fault) = ("request", known.id, CHANGED);
        return Err(RowDefect { table, request, fault }.into());
    }
    if known.document_sha256 != row.document_sha256 {
        return Ok(SubmitRowAnswer::OtherDocument);
    }
    let earlier = bound.query(ACT, client, ADDED, &[(&row.id, Type::TEXT)]).await?;
    let signatures_added = new_signatures(row, &known, &earlier)?;
    if signatures_added > 0 && known.kind != RequestKind::Local {
        let (bytes, sum) = (bigint(row.bytes, "bytes")?, addition_sum(row));
        let values: SqlValues<'_> = &[
            (&row.id, Type::TEXT),
            (&row.manifest_sha256, Type::TEXT),
            (&bytes, Type::INT8),
            (&row.signatures, Type::TEXT_ARRAY),
            (&sum, Type::TEXT),
        ];
        bound.execute(ACT, client, INSERT_ADDITION, values).await?;
    }
    Ok(SubmitRowAnswer::Known { signatures_added })
}

/// Counts the signature files that neither the document nor an addition has.
fn new_signatures(
    row: &RequestRow,
    known: &RequestRow,
    earlier: &[Row],
) -> Result<u32, DatabaseError> {
    let mut present: BTreeSet<String> = known.signatures.iter().cloned().collect();
    for addition in earlier {
        present.extend(field::<Vec<String>>(addition, "signatures")?);
    }
    let new = row.signatures.iter().filter(|it| !present.contains(*it)).count();
    Ok(u32::try_from(new).unwrap_or(u32::MAX))
}
