//! Bounds every wait for the server, and repeats transactions that others were in the way of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement, Transaction};

use super::error::DatabaseError;
use super::fault::{ServerFault, ServerFaultKind};

/// The time that the server's own limit is ahead of this program's, so that its error arrives. The
/// commit of a start has no limit of the server.
const GRACE: Duration = Duration::from_secs(2);

/// The most repetitions of one transaction.
const RETRIES_MAX: u32 = 6;
const RETRY_PAUSE: Duration = Duration::from_millis(4);

/// The values of a statement, each with the type of its column.
pub(super) type SqlValues<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// The limit of each wait for the server.
#[derive(Clone)]
pub(super) struct StatementBound {
    timeout: Duration,
    /// The statements that the server has planned for this connection.
    planned: Arc<Mutex<HashMap<&'static str, Statement>>>,
}

impl StatementBound {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, planned: Arc::default() }
    }

    /// Waits for one statement. `act` follows `cannot` in the message.
    pub(super) async fn run<T>(
        &self,
        act: &'static str,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, DatabaseError> {
        self.answer(statement).await.map_err(|fault| DatabaseError::Statement { act, fault })
    }

    /// Runs one statement, and returns the number of changed rows.
    pub(super) async fn execute(
        &self,
        act: &'static str,
        client: &Client,
        statement: &str,
        values: SqlValues<'_>,
    ) -> Result<u64, DatabaseError> {
        self.run(act, client.execute_typed(statement, values)).await
    }

    /// Runs one statement, and returns its rows.
    pub(super) async fn query(
        &self,
        act: &'static str,
        client: &Client,
        statement: &str,
        values: SqlValues<'_>,
    ) -> Result<Vec<Row>, DatabaseError> {
        self.run(act, client.query_typed(statement, values)).await
    }

    /// As [`Self::execute`], for a statement that each request needs: the server plans it once.
    pub(super) async fn execute_planned(
        &self,
        act: &'static str,
        client: &Client,
        statement: &'static str,
        values: SqlValues<'_>,
    ) -> Result<u64, DatabaseError> {
        let executing = async {
            let planned = self.plan(client, statement, values).await?;
            client.execute(&planned, &parameters(values)).await
        };
        self.run(act, executing).await
    }

    /// As [`Self::query`], for a statement that each request needs: the server plans it once.
    pub(super) async fn query_planned(
        &self,
        act: &'static str,
        client: &Client,
        statement: &'static str,
        values: SqlValues<'_>,
    ) -> Result<Vec<Row>, DatabaseError> {
        let querying = async {
            let planned = self.plan(client, statement, values).await?;
            client.query(&planned, &parameters(values)).await
        };
        self.run(act, querying).await
    }

    /// Lets the server plan statements, which derives their types from their columns.
    pub(super) async fn plan_all(
        &self,
        act: &'static str,
        client: &Client,
        statements: &[&'static str],
    ) -> Result<(), DatabaseError> {
        for statement in statements {
            self.run(act, self.plan(client, statement, &[])).await?;
        }
        Ok(())
    }

    async fn plan(
        &self,
        client: &Client,
        statement: &'static str,
        values: SqlValues<'_>,
    ) -> Result<Statement, Error> {
        let found = self.lock_planned().get(statement).cloned();
        if let Some(found) = found {
            return Ok(found);
        }
        let types: Vec<Type> = values.iter().map(|(_, it)| it.clone()).collect();
        let planned = client.prepare_typed(statement, &types).await?;
        self.lock_planned().insert(statement, planned.clone());
        Ok(planned)
    }

    fn lock_planned(&self) -> MutexGuard<'_, HashMap<&'static str, Statement>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a transaction. It is taken back unless it is committed.
    pub(super) async fn begin<'c>(
        &self,
        act: &'static str,
        client: &'c mut Client,
    ) -> Result<Transaction<'c>, DatabaseError> {
        self.run(act, client.transaction()).await
    }

    /// Commits. After a conflict nothing was changed; after any other error the outcome is unknown.
    pub(super) async fn commit(
        &self,
        act: &'static str,
        transaction: Transaction<'_>,
    ) -> Result<(), DatabaseError> {
        self.answer_commit(act, transaction.commit()).await
    }

    /// Sends a whole transaction at once, with its commit, and waits for all answers. The server
    /// keeps the order, and after an error it refuses the rest and takes everything back.
    ///
    /// `statements` sends everything before it first waits, and needs none of the answers. So its
    /// planned statements are in the list: one that is not planned would be sent
    /// after the commit, and commit by itself.
    pub(super) async fn transact(
        &self,
        act: &'static str,
        client: &Client,
        planned: &[&'static str],
        statements: impl Future<Output = Result<(), DatabaseError>>,
    ) -> Result<(), DatabaseError> {
        self.plan_all(act, client, planned).await?;
        // Without a transaction each statement commits by itself.
        let begun = async {
            let begun = self.answer(client.batch_execute("BEGIN")).await;
            begun.map_err(|fault| DatabaseError::UnknownOutcome { act, fault })
        };
        let committed = self.answer_commit(act, client.batch_execute("COMMIT"));
        // The first error is the cause.
        let answers = tokio::try_join!(biased; begun, statements, committed);
        answers.map(|_| ()).map_err(DatabaseError::after_commit_was_sent)
    }

    async fn answer_commit(
        &self,
        act: &'static str,
        commit: impl Future<Output = Result<(), Error>>,
    ) -> Result<(), DatabaseError> {
        self.answer(commit).await.map_err(|fault| match fault.kind() {
            ServerFaultKind::Conflict => DatabaseError::Statement { act, fault },
            _ => DatabaseError::UnknownOutcome { act, fault },
        })
    }

    async fn answer<T>(
        &self,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, ServerFault> {
        match tokio::time::timeout(self.timeout + GRACE, statement).await {
            Ok(answer) => answer.map_err(|error| ServerFault::of_error(&error)),
            Err(_) => Err(ServerFault::own(ServerFaultKind::Silent)),
        }
    }
}

fn parameters(values: SqlValues<'_>) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|(value, _)| *value).collect()
}

/// Counts the repetitions of one transaction.
pub(super) struct TransactionRetry {
    tries: u32,
}

impl TransactionRetry {
    pub(super) fn new() -> Self {
        Self { tries: 0 }
    }

    /// Returns whether the transaction may be repeated after this error. A rule can refuse a change
    /// because another transaction was first; the next look-up shows it.
    pub(super) fn allows(&self, error: &DatabaseError) -> bool {
        let kinds = [Some(ServerFaultKind::Conflict), Some(ServerFaultKind::Rule)];
        let is_known = !error.is_unknown_outcome();
        is_known && self.tries < RETRIES_MAX && kinds.contains(&error.fault())
    }

    /// Waits a little longer each time.
    pub(super) async fn pause(&mut self) {
        tokio::time::sleep(RETRY_PAUSE * 2_u32.pow(self.tries)).await;
        self.tries += 1;
    }
}

/// Repeats a call from the start of its transaction, as long as others were in the way.
macro_rules! retried {
    ($call:expr) => {{
        let mut retry = $crate::database::bound::TransactionRetry::new();
        loop {
            match $call.await {
                Err(error) if retry.allows(&error) => retry.pause().await,
                answer => break answer,
            }
        }
    }};
}

pub(super) use retried;

#[cfg(test)]
mod tests {
    use super::{RETRIES_MAX, TransactionRetry};
    use crate::database::error::DatabaseError;
    use crate::database::fault::{ServerFault, ServerFaultKind};

    fn failed(code: &str) -> DatabaseError {
        let fault = ServerFault::of_code(code, "text");
        DatabaseError::Statement { act: "claim requests", fault }
    }

    #[test]
    fn only_a_refusal_is_sure_when_the_commit_was_sent_too() {
        let is_unknown = |code| failed(code).after_commit_was_sent().is_unknown_outcome();
        for code in ["23505", "25006", "40001", "53100", "57014", "TF001", "TF002", "TF003"] {
            assert!(!is_unknown(code), "{code}");
        }
        for code in ["08006", "57P01", "57P02", "XX000"] {
            assert!(is_unknown(code), "{code}");
        }
        let fault = ServerFault::own(ServerFaultKind::Silent);
        let silent = DatabaseError::Statement { act: "claim requests", fault };
        assert!(silent.after_commit_was_sent().is_unknown_outcome());
    }

    #[test]
    fn only_what_changed_nothing_is_repeated() {
        let retry = TransactionRetry::new();
        for code in ["40001", "40P01", "23505", "TF001"] {
            assert!(retry.allows(&failed(code)), "{code}");
        }
        for code in ["53100", "57P01", "57014", "25006", "42501", "TF002", "TF003"] {
            assert!(!retry.allows(&failed(code)), "{code}");
        }
        let fault = ServerFault::own(ServerFaultKind::Conflict);
        let unknown = DatabaseError::UnknownOutcome { act: "claim requests", fault };
        assert!(unknown.is_momentary() && !retry.allows(&unknown));
        let tired = TransactionRetry { tries: RETRIES_MAX };
        assert!(!tired.allows(&failed("40001")));
    }
}
