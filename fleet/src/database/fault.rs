//! The faults of a database server, classified by the codes of SQLSTATE. Texts of a server are
//! shortened, and deceptive characters are escaped.

use std::error::Error as _;
use std::fmt;

use tokio_postgres::Error;

use crate::foreign_text::foreign_line;

model::closed_set! {
    /// The kind of a fault. The text is the event.
    pub(crate) enum ServerFaultKind {
        /// No connection.
        Unreachable = "it cannot be reached",
        /// The time of this program passed without an answer.
        Silent = "it did not answer in time",
        /// The connection ended.
        Closed = "the connection was cut",
        /// It starts, stops or recovers.
        NotReady = "it is starting or stopping",
        /// SQLSTATE 53100.
        Full = "its disk is full",
        /// Too many connections, or too little memory.
        Overloaded = "it has no resources left",
        /// The time of the server for a statement or a lock passed.
        TimedOut = "the statement took too long",
        /// Another transaction was in the way. The same call can succeed.
        Conflict = "other transactions were in the way",
        /// It accepts no changes.
        ReadOnly = "it is read-only",
        /// The role may not do this.
        Denied = "the role may not do this",
        /// It has no tables of a fleet, or other ones.
        NoTables = "it does not have the tables of a fleet",
        /// The role or its password is wrong.
        Login = "it refuses the login",
        /// The database in the address does not exist.
        NoDatabase = "the database does not exist",
        /// Its certificate does not verify, or it has none.
        Tls = "TLS failed",
        /// A trigger refused a change that the states do not have.
        Rule = "its rules refuse the change",
        /// A trigger refused the claim or start of a disputed host.
        Disputed = "the log of this host is disputed",
        /// A trigger refused the claim or start of a lost host.
        Lost = "this host was declared lost",
        /// Any other error.
        Other = "it reports an error",
    }
}

use ServerFaultKind as Kind;

/// The kinds of the codes that have one. All others are [`ServerFaultKind::Other`].
const CODES: [(&str, Kind); 31] = [
    ("08000", Kind::Closed),
    ("08003", Kind::Closed),
    ("08006", Kind::Closed),
    ("23505", Kind::Conflict),
    ("25006", Kind::ReadOnly),
    ("25P03", Kind::Closed),
    ("28000", Kind::Login),
    ("28P01", Kind::Login),
    ("3D000", Kind::NoDatabase),
    ("3F000", Kind::NoTables),
    ("40001", Kind::Conflict),
    ("40P01", Kind::Conflict),
    ("42501", Kind::Denied),
    ("42703", Kind::NoTables),
    ("42883", Kind::NoTables),
    ("42P01", Kind::NoTables),
    ("42P06", Kind::Conflict),
    ("53000", Kind::Overloaded),
    ("53100", Kind::Full),
    ("53200", Kind::Overloaded),
    ("53300", Kind::Overloaded),
    ("53400", Kind::Overloaded),
    ("55P03", Kind::TimedOut),
    ("57014", Kind::TimedOut),
    ("57P01", Kind::NotReady),
    ("57P02", Kind::NotReady),
    ("57P03", Kind::NotReady),
    ("57P05", Kind::Closed),
    ("TF001", Kind::Rule),
    ("TF002", Kind::Disputed),
    ("TF003", Kind::Lost),
];

/// A fault of the server or of the connection to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ServerFault {
    kind: ServerFaultKind,
    /// The server's own words; empty if it has none.
    text: String,
}

impl ServerFault {
    /// A fault that this program noticed itself.
    pub(super) fn own(kind: ServerFaultKind) -> Self {
        Self { kind, text: String::new() }
    }

    /// Classifies the code and text of a server.
    pub(super) fn of_code(code: &str, text: &str) -> Self {
        let known = CODES.iter().find(|(known, _)| *known == code);
        match known {
            Some((_, kind)) => Self { kind: *kind, text: foreign_line(text) },
            None => Self { kind: Kind::Other, text: foreign_line(&format!("{code} {text}")) },
        }
    }

    /// Classifies an error of a statement.
    pub(super) fn of_error(error: &Error) -> Self {
        if let Some(of_server) = error.as_db_error() {
            return Self::of_code(of_server.code().code(), of_server.message());
        }
        let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        let kind = match io {
            _ if error.is_closed() => Kind::Closed,
            Some(io) if io.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => Kind::Tls,
            Some(_) => Kind::Closed,
            None => Kind::Other,
        };
        Self { kind, text: foreign_line(&chain(error)) }
    }

    /// Classifies an error of a connection that is being made.
    pub(super) fn of_connecting(error: &Error) -> Self {
        let fault = Self::of_error(error);
        match (fault.kind, error.as_db_error()) {
            (Kind::Closed, None) => Self { kind: Kind::Unreachable, ..fault },
            // A missing password, an unsupported method, or a server without TLS.
            (Kind::Other, None) if fault.text.contains("TLS") => Self { kind: Kind::Tls, ..fault },
            (Kind::Other, None) => Self { kind: Kind::Login, ..fault },
            _ => fault,
        }
    }

    /// Returns the kind.
    pub(crate) fn kind(&self) -> ServerFaultKind {
        self.kind
    }
}

impl ServerFaultKind {
    /// Returns whether the same call can succeed later, without a change by an operator of this
    /// host.
    pub(crate) fn is_momentary(self) -> bool {
        match self {
            Self::Unreachable | Self::Silent | Self::Closed | Self::NotReady => true,
            Self::Full | Self::Overloaded | Self::TimedOut | Self::Conflict => true,
            Self::ReadOnly => true,
            Self::Denied | Self::NoTables | Self::Login | Self::NoDatabase | Self::Tls => false,
            Self::Rule | Self::Disputed | Self::Lost | Self::Other => false,
        }
    }

    /// Returns whether a running server has refused the statement. An error without a known code can
    /// also come from a server that breaks down.
    pub(super) fn is_answer(self) -> bool {
        match self {
            Self::Full | Self::Overloaded | Self::TimedOut | Self::Conflict | Self::ReadOnly => {
                true
            }
            Self::Denied | Self::NoTables | Self::Rule | Self::Disputed | Self::Lost => true,
            Self::Unreachable | Self::Silent | Self::Closed | Self::NotReady | Self::Tls => false,
            Self::Login | Self::NoDatabase | Self::Other => false,
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Unreachable => "check that the server runs, and that this host reaches it",
            Self::Silent | Self::Closed => "check the network between this host and the server",
            Self::NotReady => "wait; if it lasts, read the log of the server",
            Self::Full => "free space on the disk of the server",
            Self::Overloaded => "check max_connections and the memory of the server",
            Self::TimedOut => "check the load of the server, and who holds locks (pg_locks)",
            Self::Conflict => "try again",
            Self::ReadOnly => {
                "use the address of the primary server, and check default_transaction_read_only"
            }
            Self::Denied => {
                "use a member of toolexec_submitter or toolexec_host, as `toolexec fleet init` \
                 prints; `init` and `lost` are for the owner of the tables"
            }
            Self::NoTables => "check the address, or run `toolexec fleet init`",
            Self::Login => "check the role, its password file and pg_hba.conf of the server",
            Self::NoDatabase => "check the address, or create the database",
            Self::Tls => "name the authority of the server's certificate, and the name in it",
            Self::Rule => "look at the request with `toolexec show --fleet`",
            Self::Disputed => "compare the log with its witnesses (docs/fleet.md)",
            Self::Lost => "let the host report what it started; then it claims again",
            Self::Other => "read the log of the server",
        }
    }
}

impl fmt::Display for ServerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, text } = self;
        match text.is_empty() {
            true => write!(f, "{kind}; help: {}", kind.help()),
            false => write!(f, "{kind} ({text}); help: {}", kind.help()),
        }
    }
}

/// Returns the texts of an error and its causes.
fn chain(error: &Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(it) = cause {
        text.push_str(": ");
        text.push_str(&it.to_string());
        cause = it.source();
    }
    text
}

#[cfg(test)]
mod tests;
