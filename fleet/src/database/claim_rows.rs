//! Claims as they are read and written, several at once.

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::bound::{SqlValues, StatementBound};
use super::error::DatabaseError;
use super::model::RowDefect;
use super::stored::StoredRequest;
use super::sum::ClaimFacts;

const WRITE: &str = "UPDATE toolexec.claim c \
     SET state = n.state, host = n.host, epoch = n.epoch, sum = n.sum \
     FROM unnest($1, $2, $3, $4, $5) AS n (request, state, host, epoch, sum) \
     WHERE c.request = n.request";

/// The sound rows and the defects of one look-up.
#[derive(Default)]
pub(super) struct JudgedClaims {
    pub(super) sound: Vec<StoredRequest>,
    pub(super) defects: Vec<RowDefect>,
}

impl JudgedClaims {
    pub(super) fn of(rows: &[Row]) -> Self {
        let mut judged = Self::default();
        for row in rows {
            match StoredRequest::judged(row) {
                Ok(stored) => judged.sound.push(stored),
                Err(defect) => judged.defects.push(defect),
            }
        }
        judged
    }
}

/// Writes the new state of claims that this transaction has locked.
pub(super) async fn write_claims(
    act: &'static str,
    bound: &StatementBound,
    client: &Client,
    claims: &[ClaimFacts],
) -> Result<(), DatabaseError> {
    if claims.is_empty() {
        return Ok(());
    }
    let requests: Vec<&str> = claims.iter().map(|it| it.request.as_str()).collect();
    let states: Vec<&str> = claims.iter().map(|it| it.state.as_str()).collect();
    let hosts: Vec<Option<&str>> = claims.iter().map(|it| it.host.as_deref()).collect();
    let epochs: Vec<i64> = claims.iter().map(|it| it.epoch).collect();
    let sums: Vec<String> = claims.iter().map(ClaimFacts::sum).collect();
    let values: SqlValues<'_> = &[
        (&requests, Type::TEXT_ARRAY),
        (&states, Type::TEXT_ARRAY),
        (&hosts, Type::TEXT_ARRAY),
        (&epochs, Type::INT8_ARRAY),
        (&sums, Type::TEXT_ARRAY),
    ];
    let written = bound.execute_planned(act, client, WRITE, values).await?;
    match usize::try_from(written) == Ok(claims.len()) {
        true => Ok(()),
        false => Err(DatabaseError::conflict(act)),
    }
}
