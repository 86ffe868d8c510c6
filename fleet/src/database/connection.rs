//! One connection to the database of a fleet. After an error the caller makes a new one, because a
//! late answer may still be on its way.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::address::DatabaseAddress;
use super::bound::StatementBound;
use super::error::DatabaseError;
use super::fault::{ServerFault, ServerFaultKind};
use super::model::RowDefect;
use super::options::DatabaseOptions;
use super::password::read_password;
use super::row::field;
use super::transport;

/// The oldest server, as `server_version_num` has it: it has `gen_random_uuid`, and times each
/// statement of a message by itself.
const SERVER_VERSION_MIN: i32 = 130_000;

const SESSION: &str = "SELECT current_setting('server_version_num')::int4 AS version, \
     pg_is_in_recovery() AS is_standby, \
     current_setting('transaction_read_only') = 'on' AS is_read_only";

const ROLE: &str = "SELECT session_user::text AS role";

/// One connection. Its calls are in the files beside this one, by group.
pub(crate) struct Database {
    pub(super) client: Client,
    pub(super) bound: StatementBound,
    pub(super) woken: Arc<Notify>,
    /// Rows that were changed by hand, as far as calls have seen them.
    pub(super) defects: BTreeSet<RowDefect>,
    /// Defects that `take_new_defects` has not returned.
    pub(super) new_defects: Vec<RowDefect>,
    driver: JoinHandle<()>,
}

impl Database {
    /// Connects, limits every wait of the session, and checks that the server can be used.
    ///
    /// # Errors
    /// [`DatabaseError`], also for a server that accepts no changes.
    pub(crate) async fn connect(options: &DatabaseOptions) -> Result<Self, DatabaseError> {
        let mut address = DatabaseAddress::parse(&options.url, options.ca_file.is_some())
            .map_err(DatabaseError::Address)?;
        if let Some(path) = &options.password_file {
            address.config.password(read_password(path)?);
        }
        address.limit(options.timeout, options.application);
        let driven = transport::open(&address, options.ca_file.as_deref(), options.timeout).await?;
        let database = Self {
            client: driven.client,
            bound: StatementBound::new(options.timeout),
            woken: driven.woken,
            defects: BTreeSet::new(),
            new_defects: Vec::new(),
            driver: driven.driver,
        };
        database.prepare_session(options).await?;
        Ok(database)
    }

    /// Returns whether the connection is still open.
    pub(crate) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.driver.is_finished()
    }

    async fn prepare_session(&self, options: &DatabaseOptions) -> Result<(), DatabaseError> {
        let act = "use it";
        let limit_ms = options.timeout.as_millis();
        // Names are qualified, so an object in another schema can never stand in for ours.
        let session = format!(
            "SET statement_timeout = {limit_ms}; SET lock_timeout = {limit_ms}; \
             SET idle_in_transaction_session_timeout = {}; SET synchronous_commit = {}; \
             SET search_path = pg_catalog, pg_temp; SET timezone = 'UTC'; \
             SET default_transaction_isolation = 'read committed'; \
             SET client_min_messages = warning",
            limit_ms.saturating_mul(4),
            options.synchronous_commit,
        );
        self.bound.run(act, self.client.batch_execute(&session)).await?;
        let rows = self.bound.query(act, &self.client, SESSION, &[]).await?;
        let row = rows.first().ok_or(DatabaseError::Value { column: "version" })?;
        let version: i32 = field(row, "version")?;
        if version < SERVER_VERSION_MIN {
            return Err(DatabaseError::OldServer { version });
        }
        if field(row, "is_standby")? || field(row, "is_read_only")? {
            let fault = ServerFault::own(ServerFaultKind::ReadOnly);
            return Err(DatabaseError::Statement { act, fault });
        }
        Ok(())
    }

    /// Returns the role of the connection.
    pub(super) async fn role(&self) -> Result<String, DatabaseError> {
        let rows = self.bound.query("read its role", &self.client, ROLE, &[]).await?;
        field(rows.first().ok_or(DatabaseError::Value { column: "role" })?, "role")
    }

    /// Returns the rows changed by hand that calls have seen since the last time.
    pub(crate) fn take_new_defects(&mut self) -> Vec<RowDefect> {
        std::mem::take(&mut self.new_defects)
    }

    /// Remembers a row that was changed by hand.
    pub(super) fn remember_defect(&mut self, defect: RowDefect) {
        if self.defects.insert(defect.clone()) {
            self.new_defects.push(defect);
        }
    }
}

impl Drop for Database {
    /// Cuts the connection. The server takes back a transaction whose commit was not sent.
    fn drop(&mut self) {
        self.driver.abort();
    }
}
