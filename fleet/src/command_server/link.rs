//! The connection of one command.

use std::time::Duration;

use fleet::commands::FleetCommand;

use crate::database::{Database, DatabaseError, DatabaseOptions, SynchronousCommit};

/// The longest wait for a connection, and for each statement. Lists may be long.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Connects to a database that may have no tables.
pub(super) async fn connect(command: &FleetCommand) -> Result<Database, DatabaseError> {
    let options = DatabaseOptions {
        url: command.database.clone(),
        password_file: command.password_file.clone(),
        ca_file: command.ca_file.clone(),
        application: "toolexec",
        timeout: TIMEOUT,
        synchronous_commit: SynchronousCommit::On,
    };
    Database::connect(&options).await
}

/// Connects to the database of a fleet, with tables of the known version.
pub(super) async fn connect_checked(command: &FleetCommand) -> Result<Database, DatabaseError> {
    let mut database = connect(command).await?;
    database.check_schema().await?;
    Ok(database)
}
