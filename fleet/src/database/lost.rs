//! Orders about lost hosts.

use fleet::model::FleetState;
use tokio_postgres::types::Type;

use super::bound::{SqlValues, retried};
use super::claim_rows::{JudgedClaims, write_claims};
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::{Channel, LostAnswer, LostRow};
use super::listing::stored_requests;
use super::model::RowDefect;
use super::sum::ClaimFacts;

const ACT: &str = "declare a host lost";

const INSERT_LOST: &str =
    "INSERT INTO toolexec.lost (host, order_text, signature) VALUES ($1, $2, $3)";

/// The next statement sees a start that commits while this one waits for its lock. A later start
/// sees the order. Locks of rows would miss the inserted row of a local start.
const LOCK: &str = "LOCK TABLE toolexec.claim IN SHARE ROW EXCLUSIVE MODE";

const OPEN: &str =
    stored_requests!("WHERE c.host = $1 AND c.state IN ('claimed', 'started') ORDER BY c.request");

impl Database {
    /// Declares a host lost. Its started requests become indeterminate, and its claimed ones wait
    /// for another host. The role must be the owner of the tables.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn declare_lost(
        &mut self,
        lost: &LostRow,
    ) -> Result<LostAnswer, DatabaseError> {
        let (answer, defects) = retried!(self.declare_lost_once(lost))?;
        defects.into_iter().for_each(|defect| self.remember_defect(defect));
        self.wake(Channel::Requests).await;
        self.wake(Channel::Results).await;
        Ok(answer)
    }

    async fn declare_lost_once(
        &mut self,
        lost: &LostRow,
    ) -> Result<(LostAnswer, Vec<RowDefect>), DatabaseError> {
        let bound = self.bound.clone();
        let transaction = bound.begin(ACT, &mut self.client).await?;
        let client = transaction.client();
        let values: SqlValues<'_> = &[
            (&lost.host.as_str(), Type::TEXT),
            (&lost.order, Type::TEXT),
            (&lost.signature, Type::TEXT),
        ];
        bound.execute(ACT, client, INSERT_LOST, values).await?;
        bound.run(ACT, client.batch_execute(LOCK)).await?;
        let judged = JudgedClaims::of(&bound.query(ACT, client, OPEN, &values[..1]).await?);
        let open = judged.sound.into_iter().filter_map(|stored| Some(stored.claim?.facts));
        let claims: Vec<ClaimFacts> = open.map(without_host).collect();
        write_claims(ACT, &bound, client, &claims).await?;
        bound.commit(ACT, transaction).await?;
        let is_started = |it: &&ClaimFacts| it.state == FleetState::Indeterminate;
        let started = claims.iter().filter(is_started).map(|it| it.request.clone());
        let indeterminate: Vec<String> = started.collect();
        let released = claims.len() - indeterminate.len();
        let released = u64::try_from(released).unwrap_or(u64::MAX);
        Ok((LostAnswer { indeterminate, released }, judged.defects))
    }
}

/// Returns the claim after its host is lost.
fn without_host(claim: ClaimFacts) -> ClaimFacts {
    match claim.state {
        FleetState::Claimed => {
            let (host, epoch, state) = (None, claim.epoch + 1, FleetState::Queued);
            ClaimFacts { host, epoch, state, ..claim }
        }
        _ => ClaimFacts { state: FleetState::Indeterminate, ..claim },
    }
}
