//! Connections to the database. Each is checked after it was opened: the version of the tables, the
//! fleet and the role of this host. So no task ever works with another fleet's database.

use std::fmt;
use std::time::Duration;

use fleet::model::HostName;
use policies::FleetList;

use super::config::AgentConfig;
use crate::database::{Database, DatabaseError, DatabaseOptions, FleetIdentity};

/// The longest wait for a short call of the database.
pub(super) const CALL_TIME_MAX: Duration = Duration::from_secs(10);

/// The database of this host's fleet.
pub(super) struct DatabaseTarget {
    options: DatabaseOptions,
    host: HostName,
    /// The fleet that the signed list names.
    fleet: String,
    fleet_id: String,
}

/// A failed call of the database, or a database that must not be used.
#[derive(Debug)]
pub(super) enum LinkError {
    /// A call failed.
    Database(DatabaseError),
    /// The database belongs to another fleet than the signed list names.
    OtherFleet {
        /// The fleet of the database.
        found: FleetIdentity,
        /// The id in the signed list.
        wanted: String,
    },
}

impl LinkError {
    /// Returns whether the same call may succeed later, without a change of the database.
    pub(super) fn is_momentary(&self) -> bool {
        match self {
            Self::Database(error) => error.is_momentary(),
            Self::OtherFleet { .. } => false,
        }
    }

    /// Returns whether the call may have been committed.
    pub(super) fn is_unknown_outcome(&self) -> bool {
        match self {
            Self::Database(error) => error.is_unknown_outcome(),
            Self::OtherFleet { .. } => false,
        }
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::OtherFleet { found: FleetIdentity { fleet, fleet_id }, wanted } => write!(
                f,
                "database: belongs to fleet {fleet} with id {fleet_id}, but the fleet list names \
                 id {wanted}; help: correct `database` of the configuration, or have the list of \
                 this fleet signed"
            ),
        }
    }
}

impl std::error::Error for LinkError {}

impl From<DatabaseError> for LinkError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl DatabaseTarget {
    /// Returns the database of the configuration. It must belong to the fleet of the signed list.
    pub(super) fn of(config: &AgentConfig, list: &FleetList) -> Self {
        let options = DatabaseOptions {
            url: config.database.clone(),
            password_file: config.password_file.clone(),
            ca_file: config.ca_file.clone(),
            application: "toolexec-fleet",
            timeout: CALL_TIME_MAX,
            synchronous_commit: config.synchronous_commit,
        };
        Self {
            options,
            host: config.host.clone(),
            fleet: list.fleet().to_owned(),
            fleet_id: list.fleet_id().to_owned(),
        }
    }

    /// Returns the id of the fleet.
    pub(super) fn fleet_id(&self) -> &str {
        &self.fleet_id
    }

    /// Opens a connection and checks it.
    ///
    /// # Errors
    /// The database cannot be reached, or is not this fleet's, or refuses this host.
    async fn connect(
        &self,
        application: &'static str,
        timeout: Duration,
    ) -> Result<Database, LinkError> {
        let options = DatabaseOptions { application, timeout, ..self.options.clone() };
        let mut database = Database::connect(&options).await?;
        let found = database.check_schema().await?;
        if found.fleet_id != self.fleet_id || found.fleet.as_str() != self.fleet {
            return Err(LinkError::OtherFleet { found, wanted: self.fleet_id.clone() });
        }
        database.check_host(&self.host).await?;
        Ok(database)
    }
}

/// One connection of a task, opened anew after an error.
pub(super) struct DatabaseLink {
    application: &'static str,
    timeout: Duration,
    open: Option<Database>,
}

impl DatabaseLink {
    /// Returns a connection that is not open yet. `timeout` limits each call.
    pub(super) fn new(application: &'static str, timeout: Duration) -> Self {
        Self { application, timeout, open: None }
    }

    /// Returns whether the next call opens a new connection, because none is open or it is cut.
    pub(super) fn is_closed(&self) -> bool {
        !self.open.as_ref().is_some_and(Database::is_usable)
    }

    /// Returns the open connection, or opens one.
    ///
    /// # Errors
    /// As a connection to the database.
    pub(super) async fn database(
        &mut self,
        target: &DatabaseTarget,
    ) -> Result<&mut Database, LinkError> {
        let database = match self.open.take().filter(Database::is_usable) {
            Some(database) => database,
            None => target.connect(self.application, self.timeout).await?,
        };
        Ok(self.open.insert(database))
    }

    /// Closes the connection. Call it after every error: the state of the connection is unknown.
    pub(super) fn close(&mut self) {
        self.open = None;
    }
}
