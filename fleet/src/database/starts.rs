//! The decision about a start. One transaction ensures three things:
//!
//! - The claim is still this host's.
//! - The request has no start yet (a primary key).
//! - A use of the standing approval is left.

use fleet::model::FleetState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Transaction};

use super::bound::{SqlValues, StatementBound, retried};
use super::connection::Database;
use super::error::DatabaseError;
use super::fault::ServerFaultKind;
use super::model::{RequestKind, RequestRow, StartDecision, StartRefusal, StartRow};
use super::start_rules::{LOCAL_EPOCH, StartStep, judge_start, start_facts};
use super::submissions::{INSERT_CLAIM, INSERT_NEW_REQUEST, insert_claim, insert_request};
use super::sum::ClaimFacts;
use super::uses::spend_use;

const ACT: &str = "decide the start";

const TAKE_CLAIM: &str = "UPDATE toolexec.claim SET state = 'started', sum = $5 \
     WHERE request = $1 AND document_sha256 = $2 AND host = $3 AND epoch = $4 \
     AND state = 'claimed'";

const INSERT_START: &str = "INSERT INTO toolexec.start \
     (request, document_sha256, host, epoch, nonce, sum) VALUES ($1, $2, $3, $4, $5, $6)";

/// The statements of a start of a claim. They are sent together, so they are planned before.
const OF_CLAIM: &[&str] = &[TAKE_CLAIM, INSERT_START];

/// The statements of a start that its own host decides.
const LOCAL: &[&str] = &[INSERT_NEW_REQUEST, INSERT_CLAIM, INSERT_START];

/// A timeout of the server would end the wait for its standby and report success. This program has
/// its own timeout, after which the outcome is unknown.
const WAIT_FOR_STANDBY: &str = "SET LOCAL statement_timeout = 0";

impl Database {
    /// Decides one start and commits it. The same query may be asked again, also after an unknown
    /// outcome and on another connection: the nonce finds the start that it has made.
    ///
    /// # Errors
    /// [`DatabaseError`]: nothing was decided, or the outcome is unknown.
    pub(crate) async fn start(&mut self, start: &StartRow) -> Result<StartDecision, DatabaseError> {
        let answer = retried!(self.start_once(start));
        let fault = answer.as_ref().err().and_then(DatabaseError::fault);
        match (fault, answer) {
            (Some(ServerFaultKind::Disputed), _) => {
                Ok(StartDecision::Refused(StartRefusal::Disputed))
            }
            (Some(ServerFaultKind::Lost), _) => Ok(StartDecision::Refused(StartRefusal::Lost)),
            (_, answer) => answer,
        }
    }

    async fn start_once(&mut self, start: &StartRow) -> Result<StartDecision, DatabaseError> {
        if start.epoch.is_none() {
            // Most requests of this host are new, which needs no look-up. If the database refuses
            // the rows, the look-up finds the reason, or the answer to the same query before.
            let answer = self.start_local(start).await;
            if !answer.as_ref().is_err_and(is_refusal) {
                return answer;
            }
        }
        let stored = self.stored(&start.request).await?;
        if let Some(defect) = stored.as_ref().and_then(|stored| stored.defect()) {
            self.remember_defect(defect.clone());
            return Ok(StartDecision::Refused(StartRefusal::Defect(defect)));
        }
        match judge_start(start, stored.as_ref()) {
            StartStep::Decided(decision) => Ok(decision),
            StartStep::OfClaim(claim) => self.start_claim(start, claim).await,
            StartStep::Local => self.start_local(start).await,
        }
    }

    /// Starts a claim, which must still be as it was judged.
    async fn start_claim(
        &mut self,
        start: &StartRow,
        claim: ClaimFacts,
    ) -> Result<StartDecision, DatabaseError> {
        let bound = self.bound.clone();
        bound.plan_all(ACT, &self.client, OF_CLAIM).await?;
        let transaction = bound.begin(ACT, &mut self.client).await?;
        let client = transaction.client();
        let taken = take_claim(&bound, client, claim);
        let started = insert_start(&bound, client, start);
        tokio::try_join!(biased; taken, started)?;
        Self::spend_and_commit(&bound, transaction, start).await
    }

    /// Starts a request that its own host decides.
    async fn start_local(&mut self, start: &StartRow) -> Result<StartDecision, DatabaseError> {
        let bound = self.bound.clone();
        bound.plan_all(ACT, &self.client, LOCAL).await?;
        if start.standing.is_some() {
            let transaction = bound.begin(ACT, &mut self.client).await?;
            insert_local(&bound, transaction.client(), start).await?;
            return Self::spend_and_commit(&bound, transaction, start).await;
        }
        let statements = async {
            let inserted = insert_local(&bound, &self.client, start);
            let waiting = bound.run(ACT, self.client.batch_execute(WAIT_FOR_STANDBY));
            tokio::try_join!(biased; inserted, waiting).map(|_| ())
        };
        bound.transact(ACT, &self.client, LOCAL, statements).await?;
        Ok(StartDecision::Started)
    }

    async fn spend_and_commit(
        bound: &StatementBound,
        transaction: Transaction<'_>,
        start: &StartRow,
    ) -> Result<StartDecision, DatabaseError> {
        let client = transaction.client();
        bound.run(ACT, client.batch_execute(WAIT_FOR_STANDBY)).await?;
        if let Some(standing) = &start.standing {
            let spent = spend_use(ACT, bound, client, start, standing).await?;
            if let Some(refusal) = spent {
                return Ok(StartDecision::Refused(refusal));
            }
        }
        bound.commit(ACT, transaction).await?;
        Ok(StartDecision::Started)
    }
}

fn is_refusal(error: &DatabaseError) -> bool {
    use ServerFaultKind::{Conflict, Disputed, Lost, Rule};
    !error.is_unknown_outcome() && matches!(error.fault(), Some(Conflict | Disputed | Lost | Rule))
}

/// Makes the claim started. It must still be as it was judged.
async fn take_claim(
    bound: &StatementBound,
    client: &Client,
    claim: ClaimFacts,
) -> Result<(), DatabaseError> {
    let started = ClaimFacts { state: FleetState::Started, ..claim };
    let sum = started.sum();
    let values: SqlValues<'_> = &[
        (&started.request, Type::TEXT),
        (&started.document_sha256, Type::TEXT),
        (&started.host, Type::TEXT),
        (&started.epoch, Type::INT8),
        (&sum, Type::TEXT),
    ];
    match bound.execute_planned(ACT, client, TAKE_CLAIM, values).await? {
        1 => Ok(()),
        _ => Err(DatabaseError::conflict(ACT)),
    }
}

/// Inserts a request that its own host decides, with its claim and start.
async fn insert_local(
    bound: &StatementBound,
    client: &Client,
    start: &StartRow,
) -> Result<(), DatabaseError> {
    let request = RequestRow {
        id: start.request.clone(),
        document_sha256: start.document_sha256.clone(),
        manifest_sha256: None,
        kind: RequestKind::Local,
        audience: None,
        bytes: 0,
        signatures: Vec::new(),
        submitted_by: String::new(),
    };
    let claim = ClaimFacts {
        request: start.request.clone(),
        document_sha256: start.document_sha256.clone(),
        audience: None,
        host: Some(start.host.as_str().to_owned()),
        epoch: LOCAL_EPOCH,
        state: FleetState::Started,
    };
    let inserted = insert_request(ACT, bound, client, INSERT_NEW_REQUEST, &request);
    let claimed = insert_claim(ACT, bound, client, &claim);
    let started = insert_start(bound, client, start);
    tokio::try_join!(biased; inserted, claimed, started).map(|_| ())
}

async fn insert_start(
    bound: &StatementBound,
    client: &Client,
    start: &StartRow,
) -> Result<(), DatabaseError> {
    let facts = start_facts(start);
    let sum = facts.sum();
    let values: SqlValues<'_> = &[
        (&facts.request, Type::TEXT),
        (&facts.document_sha256, Type::TEXT),
        (&facts.host, Type::TEXT),
        (&facts.epoch, Type::INT8),
        (&facts.nonce, Type::TEXT),
        (&sum, Type::TEXT),
    ];
    bound.execute_planned(ACT, client, INSERT_START, values).await?;
    Ok(())
}
