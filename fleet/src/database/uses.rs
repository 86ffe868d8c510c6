//! Uses of standing approvals, counted over all hosts. A lock on the row of the approval orders
//! them; the clock is the database's.

use fleet::gate::StandingUseQuery;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bound::{SqlValues, StatementBound};
use super::error::DatabaseError;
use super::model::{StartRefusal, StartRow};
use super::row::count;
use super::start_rules::judge_use;

const INSERT_STANDING: &str = "INSERT INTO toolexec.standing (document_sha256, approval) \
     VALUES ($1, $2) ON CONFLICT DO NOTHING";

const LOCK: &str = "SELECT approval FROM toolexec.standing WHERE document_sha256 = $1 FOR UPDATE";

/// Read after the lock, so every use that was committed before is seen.
const COUNT: &str = "SELECT count(*) AS uses, \
     count(*) FILTER (WHERE used_at > now() - interval '1 hour') AS uses_of_hour \
     FROM toolexec.standing_use WHERE standing_sha256 = $1";

const INSERT_USE: &str = "INSERT INTO toolexec.standing_use (request, standing_sha256, host) \
     VALUES ($1, $2, $3)";

/// Spends one use for a start that this transaction has inserted, or returns the refusal.
pub(super) async fn spend_use(
    act: &'static str,
    bound: &StatementBound,
    client: &Client,
    start: &StartRow,
    standing: &StandingUseQuery,
) -> Result<Option<StartRefusal>, DatabaseError> {
    let (document, host) = (&standing.document_sha256, start.host.as_str());
    let values: SqlValues<'_> = &[(document, Type::TEXT), (&standing.approval, Type::TEXT)];
    bound.execute(act, client, INSERT_STANDING, values).await?;
    bound.query_planned(act, client, LOCK, &[(document, Type::TEXT)]).await?;
    let rows = bound.query_planned(act, client, COUNT, &[(document, Type::TEXT)]).await?;
    let row = rows.first().ok_or(DatabaseError::Value { column: "uses" })?;
    let (uses, uses_of_hour) = (count(row, "uses")?, count(row, "uses_of_hour")?);
    if let Some(refusal) = judge_use(standing, uses, uses_of_hour) {
        return Ok(Some(refusal));
    }
    let values: SqlValues<'_> =
        &[(&start.request, Type::TEXT), (document, Type::TEXT), (&host, Type::TEXT)];
    bound.execute_planned(act, client, INSERT_USE, values).await?;
    Ok(None)
}
