//! The way to a database.

use std::path::PathBuf;
use std::time::Duration;

model::closed_set! {
    /// The point until which a commit waits. The words are of PostgreSQL's `synchronous_commit`.
    pub(crate) enum SynchronousCommit {
        /// The commit is on the disk of the server and of its synchronous standby, if there is one.
        On = "on",
        /// The synchronous standby has applied it too, so a look-up there sees it.
        RemoteApply = "remote_apply",
    }
}

/// The way to a database.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseOptions {
    /// The address, such as `postgres://host-a@db.example/toolexec`, without a password.
    pub(crate) url: String,
    /// A file with the password. A trailing line break does not count.
    pub(crate) password_file: Option<PathBuf>,
    /// The authorities of the server's certificate as PEM; those of this host if absent.
    pub(crate) ca_file: Option<PathBuf>,
    /// The name by which the server lists this connection.
    pub(crate) application: &'static str,
    /// The longest wait for a connection, and for each statement.
    pub(crate) timeout: Duration,
    /// The point until which each commit waits.
    pub(crate) synchronous_commit: SynchronousCommit,
}
