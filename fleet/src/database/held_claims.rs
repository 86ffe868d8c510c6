//! The requests that a host has, and the way to give one back.

use fleet::model::{FleetState, HostName};
use tokio_postgres::types::Type;

use super::bound::{SqlValues, retried};
use super::claim_rows::JudgedClaims;
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::Channel;
use super::listing::stored_requests;
use super::model::ClaimRow;
use super::sum::ClaimFacts;
use crate::foreign_text::foreign_line;

const GIVE_BACK: &str = "give a request back";

const DECLINE: &str = "INSERT INTO toolexec.declined (request, host, reason) \
     VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

const RELEASE: &str = "UPDATE toolexec.claim \
     SET state = 'queued', host = NULL, epoch = epoch + 1, sum = $4 \
     WHERE request = $1 AND host = $2 AND epoch = $3 AND state = 'claimed'";

const LOSE_RECORD: &str = "UPDATE toolexec.claim SET state = 'indeterminate', sum = $4 \
     WHERE request = $1 AND host = $2 AND epoch = $3 AND state = 'started'";

const MINE: &str = stored_requests!(
    "WHERE c.host = $1 AND c.state IN ('claimed', 'started', 'indeterminate') \
     ORDER BY c.submitted_at, c.request"
);

impl Database {
    /// Returns the requests that this host has claimed or started and not reported, also local
    /// ones.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn my_claims(
        &mut self,
        host: &HostName,
    ) -> Result<Vec<ClaimRow>, DatabaseError> {
        let host = host.as_str();
        let act = "read its claims";
        let rows = self.bound.query(act, &self.client, MINE, &[(&host, Type::TEXT)]).await?;
        let judged = JudgedClaims::of(&rows);
        judged.defects.into_iter().for_each(|defect| self.remember_defect(defect));
        let claims = judged.sound.into_iter().filter_map(|stored| {
            let facts = stored.claim?.facts;
            let request = stored.request.facts;
            Some(ClaimRow { request, epoch: facts.epoch, state: facts.state })
        });
        Ok(claims.collect())
    }

    /// Gives a claim back. This host does not claim the request again. A claim that it has lost
    /// stays as it is.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn give_back(
        &mut self,
        claim: &ClaimRow,
        reason: &str,
    ) -> Result<(), DatabaseError> {
        let role = self.role().await?;
        retried!(self.give_back_once(claim, &role, reason))?;
        self.wake(Channel::Requests).await;
        Ok(())
    }

    /// Makes a started request of this host indeterminate, because the host has lost its record. A
    /// record that the host reports later replaces this. Returns false if the claim has ended
    /// meanwhile.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn lose_record(&mut self, claim: &ClaimRow) -> Result<bool, DatabaseError> {
        let (role, request) = (self.role().await?, &claim.request);
        let lost = ClaimFacts {
            request: request.id.clone(),
            document_sha256: request.document_sha256.clone(),
            audience: request.audience.clone(),
            host: Some(role),
            epoch: claim.epoch,
            state: FleetState::Indeterminate,
        };
        let sum = lost.sum();
        let values: SqlValues<'_> = &[
            (&lost.request, Type::TEXT),
            (&lost.host, Type::TEXT),
            (&lost.epoch, Type::INT8),
            (&sum, Type::TEXT),
        ];
        let act = "declare a record lost";
        let changed = self.bound.execute(act, &self.client, LOSE_RECORD, values).await?;
        self.wake(Channel::Results).await;
        Ok(changed == 1)
    }

    async fn give_back_once(
        &mut self,
        claim: &ClaimRow,
        role: &str,
        reason: &str,
    ) -> Result<(), DatabaseError> {
        let bound = self.bound.clone();
        let request = &claim.request;
        let free = ClaimFacts {
            request: request.id.clone(),
            document_sha256: request.document_sha256.clone(),
            audience: request.audience.clone(),
            host: None,
            epoch: claim.epoch + 1,
            state: FleetState::Queued,
        };
        let (reason, sum) = (foreign_line(reason), free.sum());
        let transaction = bound.begin(GIVE_BACK, &mut self.client).await?;
        let client = transaction.client();
        let values: SqlValues<'_> =
            &[(&request.id, Type::TEXT), (&role, Type::TEXT), (&reason, Type::TEXT)];
        bound.execute(GIVE_BACK, client, DECLINE, values).await?;
        let values: SqlValues<'_> = &[
            (&request.id, Type::TEXT),
            (&role, Type::TEXT),
            (&claim.epoch, Type::INT8),
            (&sum, Type::TEXT),
        ];
        bound.execute(GIVE_BACK, client, RELEASE, values).await?;
        bound.commit(GIVE_BACK, transaction).await
    }
}
