//! The statements of a test, as the owner of the tables, as a role of the fleet, or by hand.

use std::fs;
use std::path::Path;

use super::server::{DATABASE, OWNER, PostgresServer};
use crate::bench::CliOutput;

impl PostgresServer {
    /// The address of the database for a role, by the Unix socket.
    #[must_use]
    pub fn url(&self, role: &str) -> String {
        self.url_of(role, DATABASE)
    }

    /// The address of another database, by the Unix socket.
    #[must_use]
    pub fn url_of(&self, role: &str, database: &str) -> String {
        let (place, port) = (self.socket_directory(), self.port);
        format!("postgres:///{database}?host={}&port={port}&user={role}", place.display())
    }

    /// The address for the owner of the tables.
    #[must_use]
    pub fn owner_url(&self) -> String {
        self.url(OWNER)
    }

    /// Runs statements as a role, in one transaction. Rows are lines, with `|` between columns.
    #[must_use]
    pub fn sql(&self, role: &str, statements: &str) -> CliOutput {
        self.sql_in(role, DATABASE, statements)
    }

    pub(super) fn sql_in(&self, role: &str, database: &str, statements: &str) -> CliOutput {
        let mut psql = self.programs.command(&self.bench, "psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h"]);
        psql.arg(self.socket_directory()).args(["-p", &self.port.to_string(), "-U", role]);
        CliOutput::of(psql.args(["-d", database, "-c", statements]))
    }

    /// Returns the rows of statements of the owner, which must succeed.
    #[track_caller]
    pub fn query(&self, statements: &str) -> String {
        self.query_in(DATABASE, statements)
    }

    /// As [`Self::query`], in another database.
    #[track_caller]
    pub fn query_in(&self, database: &str, statements: &str) -> String {
        let output = self.sql_in(OWNER, database, statements);
        output.assert_code(0);
        output.stdout.trim_end().to_owned()
    }

    /// Changes rows as a person with every right does: no trigger refuses it.
    #[track_caller]
    pub fn edit_by_hand(&self, statement: &str) {
        let without_triggers = format!("SET session_replication_role = replica; {statement}");
        self.query(&without_triggers);
    }

    /// Sets a parameter for every session from now on, and cuts those that exist.
    #[track_caller]
    pub fn set(&self, parameter: &str, value: &str) {
        self.query_in("postgres", &format!("ALTER SYSTEM SET {parameter} = {value}"));
        self.query_in("postgres", "SELECT pg_reload_conf()");
        self.cut_connections();
    }

    /// Ends every connection to the database of the fleet.
    #[track_caller]
    pub fn cut_connections(&self) {
        self.query_in(
            "postgres",
            &format!(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                 WHERE datname = '{DATABASE}'"
            ),
        );
    }

    /// Replaces `pg_hba.conf`, which decides who may log in, and the file applies at once.
    #[track_caller]
    pub fn set_logins(&self, lines: &str) {
        fs::write(self.data().join("pg_hba.conf"), lines).unwrap();
        self.query_in("postgres", "SELECT pg_reload_conf()");
    }

    /// Writes a file that only the user of the server may read.
    #[track_caller]
    pub fn write_private(&self, name: &str, content: &str) {
        use std::os::unix::fs::{PermissionsExt, chown};
        let path = self.data().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&path, Some(self.uid()), None).unwrap();
    }

    /// Moves the database of the fleet, which must be unused, into an empty directory.
    #[track_caller]
    pub fn move_database_to(&self, place: &Path) {
        std::os::unix::fs::chown(place, Some(self.uid()), None).unwrap();
        let statement = format!("CREATE TABLESPACE small LOCATION '{}'", place.display());
        self.query_in("postgres", &statement);
        self.query_in("postgres", &format!("ALTER DATABASE {DATABASE} SET TABLESPACE small"));
    }
}
