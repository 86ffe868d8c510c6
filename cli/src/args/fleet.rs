//! Options for the database of a fleet (docs/fleet.md).

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::fleet_client::FleetClient;

/// The database of a fleet, in place of a spool.
#[derive(Args, Default)]
pub(crate) struct FleetOption {
    /// Use the fleet with this database, such as postgres://alice@db/toolexec
    #[arg(long, value_name = "URL")]
    pub(crate) fleet: Option<String>,
    #[command(flatten)]
    access: FleetAccessOptions,
}

/// The store through which files move, if it is not the database.
#[derive(Args, Default)]
pub(crate) struct FleetStoreOption {
    /// Move files of the fleet through this store, such as s3://bucket/prefix
    /// [default: its database]
    #[arg(long, value_name = "URL", requires = "fleet")]
    pub(crate) store: Option<String>,
}

/// The database of a fleet, for the commands about fleets.
#[derive(Args)]
pub(crate) struct FleetDatabaseOption {
    /// Use this database, such as postgres://alice@db/toolexec
    #[arg(long, value_name = "URL")]
    database: String,
    #[command(flatten)]
    access: FleetAccessOptions,
}

/// The way in which the database knows its client and its client knows it.
#[derive(Args, Default)]
struct FleetAccessOptions {
    /// Read the password of the database role from this file [default: none]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Trust the authorities in this PEM file for the certificate of the database
    /// [default: those of this host]
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

impl FleetOption {
    /// Returns the fleet, or `None` if none is named.
    pub(crate) fn client(&self) -> Result<Option<FleetClient>, Failure> {
        match &self.fleet {
            Some(database) => self.access.client(database).map(Some),
            None => self.access.refuse().map(|()| None),
        }
    }

    /// Returns the fleet with its store.
    pub(crate) fn client_with(
        &self,
        store: &FleetStoreOption,
    ) -> Result<Option<FleetClient>, Failure> {
        Ok(self.client()?.map(|client| client.with_store(store.store.clone())))
    }
}

impl FleetDatabaseOption {
    pub(crate) fn client(&self) -> Result<FleetClient, Failure> {
        self.access.client(&self.database)
    }
}

impl FleetAccessOptions {
    fn client(&self, database: &str) -> Result<FleetClient, Failure> {
        let client = FleetClient::new(database)?;
        Ok(client.with_access(self.password_file.clone(), self.ca_file.clone()))
    }

    /// Refuses the options of a database that is not named.
    fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--password-file", self.password_file.is_some()),
            ("--ca-file", self.ca_file.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::Message(format!(
                "{option}: is for a fleet; help: name it with --fleet"
            ))),
        }
    }
}
