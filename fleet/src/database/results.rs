//! Reports of records.

use fleet::model::FleetState;
use tokio_postgres::types::Type;

use super::bound::{SqlValues, retried};
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::Channel;
use super::model::{ReportAnswer, ResultRow};
use super::report_rules::{ReportStep, judge_report};
use super::sum::{ClaimFacts, result_sum};

const ACT: &str = "report a result";

const INSERT_RESULT: &str = "INSERT INTO toolexec.result \
     (request, document_sha256, host, epoch, result_id, outcome, exit_code, manifest_sha256, \
     record_sha256, sum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

const END_CLAIM: &str = "UPDATE toolexec.claim SET state = 'ended', sum = $4 \
     WHERE request = $1 AND host = $2 AND epoch = $3 \
     AND state IN ('claimed', 'started', 'indeterminate')";

impl Database {
    /// Reports the record of a request.
    ///
    /// # Errors
    /// [`DatabaseError`], also if a row of the request was changed by hand. After an unknown
    /// outcome the same call gives the answer.
    pub(crate) async fn report(
        &mut self,
        result: &ResultRow,
    ) -> Result<ReportAnswer, DatabaseError> {
        let answer = retried!(self.report_once(result))?;
        if answer == ReportAnswer::Recorded {
            self.wake(Channel::Results).await;
        }
        Ok(answer)
    }

    async fn report_once(&mut self, result: &ResultRow) -> Result<ReportAnswer, DatabaseError> {
        let stored = self.stored(&result.request).await?;
        if let Some(defect) = stored.as_ref().and_then(|stored| stored.defect()) {
            self.remember_defect(defect.clone());
            return Err(defect.into());
        }
        let claim = match judge_report(result, stored.as_ref()) {
            ReportStep::Decided(answer) => return Ok(answer),
            ReportStep::Record(claim) => claim,
        };
        let ended = ClaimFacts { state: FleetState::Ended, ..claim };
        let (sum, sum_of_claim) = (result_sum(result), ended.sum());
        let bound = self.bound.clone();
        bound.plan_all(ACT, &self.client, &[INSERT_RESULT, END_CLAIM]).await?;
        let transaction = bound.begin(ACT, &mut self.client).await?;
        let client = transaction.client();
        let values: SqlValues<'_> = &[
            (&result.request, Type::TEXT),
            (&result.document_sha256, Type::TEXT),
            (&result.host.as_str(), Type::TEXT),
            (&ended.epoch, Type::INT8),
            (&result.result_id, Type::TEXT),
            (&result.outcome, Type::TEXT),
            (&result.exit_code, Type::INT4),
            (&result.manifest_sha256, Type::TEXT),
            (&result.record_sha256, Type::TEXT),
            (&sum, Type::TEXT),
        ];
        let inserted = bound.execute_planned(ACT, client, INSERT_RESULT, values);
        let values: SqlValues<'_> = &[
            (&ended.request, Type::TEXT),
            (&ended.host, Type::TEXT),
            (&ended.epoch, Type::INT8),
            (&sum_of_claim, Type::TEXT),
        ];
        let ending = bound.execute_planned(ACT, client, END_CLAIM, values);
        // Sent together, as the statements of a start.
        let (_, changed) = tokio::try_join!(biased; inserted, ending)?;
        if changed != 1 {
            return Err(DatabaseError::conflict(ACT));
        }
        bound.commit(ACT, transaction).await?;
        Ok(ReportAnswer::Recorded)
    }
}
