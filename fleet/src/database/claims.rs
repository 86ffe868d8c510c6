//! Takes requests that wait, and takes over those of hosts without a beat. Locked rows are skipped,
//! so hosts that ask at the same time get different requests.

use std::time::Duration;

use fleet::model::{FleetState, HostName};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::bound::{SqlValues, StatementBound, retried};
use super::claim_rows::{JudgedClaims, write_claims};
use super::connection::Database;
use super::error::DatabaseError;
use super::lost_orders::LostOrderTrust;
use super::model::{ClaimAsk, ClaimRow, RequestRow, RowDefect};
use super::stored::{StoredRequest, state_columns};
use super::sum::ClaimFacts;

const ACT: &str = "claim requests";

/// The most look-ups of one call. A host with hostile rows could add defects for ever.
const LOOKS_MAX: u32 = 16;

/// The rows of claims that a host may take. `$1` is the host, `$2` its labels, `$3` whether it
/// takes requests without an audience, `$4` the ids with defects, and `$5` the most rows. A
/// submitter with `$6` unstarted claims on the host has enough of its places.
macro_rules! free_claims {
    ($state:literal) => {
        concat!(
            "SELECT ",
            state_columns!(),
            "FROM toolexec.claim c \
             JOIN toolexec.request r ON r.id = c.request \
             LEFT JOIN toolexec.start s ON s.request = c.request \
             LEFT JOIN toolexec.result o ON o.request = c.request \
             WHERE ",
            $state,
            " AND (c.audience = $1 OR c.audience = ANY ($2) OR (c.audience IS NULL AND $3)) \
             AND NOT EXISTS (SELECT 1 FROM toolexec.declined d \
             WHERE d.request = c.request AND d.host = $1) \
             AND c.request <> ALL ($4) \
             AND r.submitted_by <> ALL (ARRAY(SELECT q.submitted_by FROM toolexec.claim m \
             JOIN toolexec.request q ON q.id = m.request \
             WHERE m.host = $1 AND m.state = 'claimed' \
             GROUP BY q.submitted_by HAVING count(*) >= $6)) \
             ORDER BY c.submitted_at, c.request LIMIT $5 FOR UPDATE OF c SKIP LOCKED"
        )
    };
}

const QUEUED: &str = free_claims!("c.state = 'queued'");

/// `$7` is the age of a beat in seconds after which a claim may be taken over.
const ABANDONED: &str = free_claims!(
    "c.state = 'claimed' AND c.host <> $1 AND NOT EXISTS (SELECT 1 FROM toolexec.host h \
     WHERE h.name = c.host AND h.beat_at > now() - $7 * interval '1 second')"
);

impl Database {
    /// Claims requests that wait for a host, the oldest first. After an unknown outcome `my_claims`
    /// shows them.
    ///
    /// # Errors
    /// [`DatabaseError`]. A disputed or lost host claims nothing, and no host claims while an order
    /// about a lost one does not count.
    pub(crate) async fn claim(
        &mut self,
        ask: &ClaimAsk,
        trust: &LostOrderTrust,
    ) -> Result<Vec<ClaimRow>, DatabaseError> {
        self.take(ask, trust, None).await
    }

    /// Takes over claims of hosts without a beat for this long, by the clock of the database.
    ///
    /// # Errors
    /// As [`Self::claim`].
    pub(crate) async fn take_over(
        &mut self,
        ask: &ClaimAsk,
        trust: &LostOrderTrust,
        takeover: Duration,
    ) -> Result<Vec<ClaimRow>, DatabaseError> {
        self.take(ask, trust, Some(takeover.as_secs_f64())).await
    }

    /// Repeats the look-up if defects took the places of sound rows.
    async fn take(
        &mut self,
        ask: &ClaimAsk,
        trust: &LostOrderTrust,
        takeover_sec: Option<f64>,
    ) -> Result<Vec<ClaimRow>, DatabaseError> {
        for _ in 0..LOOKS_MAX {
            let (claims, defects) = retried!(self.take_once(ask, trust, takeover_sec))?;
            let is_done = !claims.is_empty() || defects.is_empty();
            defects.into_iter().for_each(|defect| self.remember_defect(defect));
            if is_done {
                return Ok(claims);
            }
        }
        Ok(Vec::new())
    }

    async fn take_once(
        &mut self,
        ask: &ClaimAsk,
        trust: &LostOrderTrust,
        takeover_sec: Option<f64>,
    ) -> Result<(Vec<ClaimRow>, Vec<RowDefect>), DatabaseError> {
        let bound = self.bound.clone();
        let known = self.defects.iter().map(|defect| defect.request.clone()).collect::<Vec<_>>();
        let transaction = bound.begin(ACT, &mut self.client).await?;
        let rows = look(&bound, transaction.client(), ask, &known, takeover_sec).await?;
        if !rows.is_empty() {
            // After the look: if it saw the claims that an order has freed, this sees the order.
            let defect = trust.defect(ACT, &bound, transaction.client()).await?;
            defect.map_or(Ok(()), |why| Err(DatabaseError::LostOrder(why)))?;
        }
        let judged = JudgedClaims::of(&rows);
        let sound = judged.sound.into_iter();
        let (requests, claims): (Vec<_>, Vec<_>) =
            sound.filter_map(|stored| taken(stored, &ask.host)).unzip();
        write_claims(ACT, &bound, transaction.client(), &claims).await?;
        bound.commit(ACT, transaction).await?;
        let rows = requests.into_iter().zip(claims).map(|(request, claim)| ClaimRow {
            request,
            epoch: claim.epoch,
            state: claim.state,
        });
        Ok((rows.collect(), judged.defects))
    }
}

async fn look(
    bound: &StatementBound,
    client: &Client,
    ask: &ClaimAsk,
    known: &[String],
    takeover_sec: Option<f64>,
) -> Result<Vec<Row>, DatabaseError> {
    let labels: Vec<&str> = ask.labels.iter().map(HostName::as_str).collect();
    let (host, count) = (ask.host.as_str(), i64::from(ask.count));
    let submitter_max = i64::from(ask.submitter_max);
    let age_sec = takeover_sec.unwrap_or_default();
    let wanted: SqlValues<'_> = &[
        (&host, Type::TEXT),
        (&labels, Type::TEXT_ARRAY),
        (&ask.without_audience, Type::BOOL),
        (&known, Type::TEXT_ARRAY),
        (&count, Type::INT8),
        (&submitter_max, Type::INT8),
        (&age_sec, Type::FLOAT8),
    ];
    let (select, wanted) = match takeover_sec {
        Some(_) => (ABANDONED, wanted),
        None => (QUEUED, &wanted[..6]),
    };
    bound.query_planned(ACT, client, select, wanted).await
}

/// Returns the claim as this host takes it. A claim that leaves another host gets the next epoch;
/// one that was given back has it already.
fn taken(stored: StoredRequest, host: &HostName) -> Option<(RequestRow, ClaimFacts)> {
    let free = stored.claim?.facts;
    let leaves = i64::from(free.state == FleetState::Claimed);
    let (epoch, state) = (free.epoch + leaves, FleetState::Claimed);
    let host = Some(host.as_str().to_owned());
    Some((stored.request.facts, ClaimFacts { host, epoch, state, ..free }))
}
