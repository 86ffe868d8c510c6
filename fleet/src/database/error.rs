//! The errors of the database's calls. Each text names the object, the event, and after `help:` an
//! action.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::address::AddressFault;
use super::fault::{ServerFault, ServerFaultKind};
use super::model::RowDefect;

/// A failed call.
#[derive(Debug)]
pub(crate) enum DatabaseError {
    /// The address cannot be used.
    Address(AddressFault),
    /// The password file or the file of authorities cannot be used.
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// This host has no certificate authorities.
    NoAuthorities,
    /// No connection.
    Connect {
        /// The server, without role and password.
        server: String,
        /// The fault.
        fault: ServerFault,
    },
    /// A statement failed, and nothing was changed.
    Statement {
        /// The operation, as it follows `cannot`.
        act: &'static str,
        /// The fault.
        fault: ServerFault,
    },
    /// The commit was sent, and its answer is unknown: the change was made, or was not.
    UnknownOutcome {
        /// The operation, as it follows `cannot`.
        act: &'static str,
        /// The fault.
        fault: ServerFault,
    },
    /// The server is too old.
    OldServer {
        /// Its version, as `server_version_num` has it.
        version: i32,
    },
    /// The tables are of another version.
    SchemaVersion {
        /// Their version.
        found: i32,
        /// The version that this program knows.
        known: i32,
    },
    /// The tables are of another fleet.
    OtherFleet {
        /// Its name.
        found: String,
    },
    /// The role of the connection is not the host.
    OtherRole {
        /// The role.
        role: String,
        /// The host.
        host: String,
    },
    /// The role is not in the group of hosts.
    NotInGroup {
        /// The role.
        role: String,
    },
    /// Row rights do not bind the role.
    Unbound {
        /// The role.
        role: String,
    },
    /// A value that no program of the fleet writes.
    Value {
        /// The column.
        column: &'static str,
    },
    /// A row was changed by hand.
    Row(RowDefect),
    /// An order about a lost host does not count. The text has help.
    LostOrder(String),
    /// A blob is larger than allowed.
    TooLarge {
        /// Its digest.
        sha256: String,
        /// The limit in bytes.
        bytes_max: u64,
    },
    /// A part of a blob is missing or has another length.
    DamagedBlob {
        /// Its digest.
        sha256: String,
    },
}

impl DatabaseError {
    /// Returns whether the same call can succeed later, without a change by an operator of this
    /// host.
    pub(crate) fn is_momentary(&self) -> bool {
        self.is_unknown_outcome() || self.fault().is_some_and(ServerFaultKind::is_momentary)
    }

    /// Returns whether the change may have been made. The same call with the same arguments gives
    /// the answer.
    pub(crate) fn is_unknown_outcome(&self) -> bool {
        matches!(self, Self::UnknownOutcome { .. })
    }

    /// Returns the kind of the server's fault.
    pub(crate) fn fault(&self) -> Option<ServerFaultKind> {
        match self {
            Self::Connect { fault, .. }
            | Self::Statement { fault, .. }
            | Self::UnknownOutcome { fault, .. } => Some(fault.kind()),
            _ => None,
        }
    }

    /// The error of a statement that was sent together with its commit. Nothing was changed only if
    /// the server said why it refuses the statement.
    pub(super) fn after_commit_was_sent(self) -> Self {
        match self {
            Self::Statement { act, fault } if !fault.kind().is_answer() => {
                Self::UnknownOutcome { act, fault }
            }
            other => other,
        }
    }

    /// The error of an operation whose rows were changed meanwhile. Another try sees them.
    pub(super) fn conflict(act: &'static str) -> Self {
        Self::Statement { act, fault: ServerFault::own(ServerFaultKind::Conflict) }
    }
}

impl From<RowDefect> for DatabaseError {
    fn from(defect: RowDefect) -> Self {
        Self::Row(defect)
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(fault) => write!(f, "address of the database: {fault}"),
            Self::File { path, error } => write!(
                f,
                "{}: {error}; help: name a regular file that this user may read; only this user, \
                 if it has a password",
                path.display()
            ),
            Self::NoAuthorities => f.write_str(
                "database: this host has no certificate authorities; help: on Debian, run \
                 `apt-get install ca-certificates`, or name a file of authorities",
            ),
            Self::Connect { server, fault } => {
                write!(f, "database at {server}: no connection: {fault}")
            }
            Self::Statement { act, fault } => write!(f, "database: cannot {act}: {fault}"),
            Self::UnknownOutcome { act, fault } => {
                write!(f, "database: it is unknown if it could {act}: {fault}")
            }
            Self::Row(defect) => write!(f, "database: {defect}"),
            Self::LostOrder(why) => write!(f, "database: {why}"),
            Self::Value { column } => write!(
                f,
                "database: column {column} has a value that no program of the fleet writes; help: \
                 find out who changed the row"
            ),
            _ => self.fmt_object(f),
        }
    }
}

impl DatabaseError {
    /// Writes the messages about roles, tables and blobs.
    fn fmt_object(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OldServer { version } => write!(
                f,
                "database: the server is PostgreSQL {}; help: use version 13 or later",
                version / 10_000
            ),
            Self::SchemaVersion { found, known } => write!(
                f,
                "database: its tables have version {found}, and this program knows version \
                 {known}; help: update the older one; `toolexec fleet init` updates tables"
            ),
            Self::OtherFleet { found } => write!(
                f,
                "database: it belongs to the fleet `{found}`; help: check the address, or use \
                 another database"
            ),
            Self::OtherRole { role, host } => write!(
                f,
                "database: the role `{role}` is not the host `{host}`; help: name the host as the \
                 role in the address: postgres://{host}@SERVER/DATABASE"
            ),
            Self::NotInGroup { role } => write!(
                f,
                "database: the role `{role}` is not a host; help: as the owner, run `GRANT \
                 toolexec_host TO \"{role}\"`"
            ),
            Self::Unbound { role } => write!(
                f,
                "database: row rights do not bind the role `{role}`; help: use a role that is \
                 neither a superuser nor the owner of the tables"
            ),
            Self::TooLarge { sha256, bytes_max } => write!(
                f,
                "blob {sha256}: larger than {bytes_max} bytes; help: use a store (`--store`) for \
                 large files"
            ),
            Self::DamagedBlob { sha256 } => write!(
                f,
                "blob {sha256}: a part is missing or changed; help: submit the files again under \
                 another id"
            ),
            other => write!(f, "database: {other:?}; help: report this as a bug"),
        }
    }
}

impl std::error::Error for DatabaseError {}
