//! The address of a database. It never has a password, because other users see the arguments of a
//! process. Without TLS only a Unix socket or this host's own loopback is used.

use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::foreign_text::foreign_line;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Silence of a connection before the kernel asks the other side.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVE_RETRIES: u32 = 3;

/// The protection of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DatabaseTransport {
    /// A Unix socket, or loopback.
    Plain,
    /// TLS with a verified certificate.
    Tls,
}

/// A checked address.
pub(super) struct DatabaseAddress {
    pub(super) config: Config,
    pub(super) transport: DatabaseTransport,
}

/// The reason why an address cannot be used. No text repeats the address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AddressFault {
    /// Another scheme, or none.
    Scheme,
    /// It cannot be parsed.
    Syntax(String),
    /// It has a password.
    Password,
    /// It sets options of the session.
    SessionOptions,
    /// It names no server.
    NoServer,
    /// It names Unix sockets and TCP servers.
    Mixed,
    /// It asks for TCP without TLS to another host.
    PlainText,
}

impl DatabaseAddress {
    /// Checks an address. With authorities of its own, loopback has TLS too.
    pub(super) fn parse(url: &str, has_authorities: bool) -> Result<Self, AddressFault> {
        if !SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
            return Err(AddressFault::Scheme);
        }
        let config = url.parse::<Config>().map_err(|error| {
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            AddressFault::Syntax(foreign_line(&cause))
        })?;
        if config.get_password().is_some() {
            return Err(AddressFault::Password);
        }
        if config.get_options().is_some() {
            return Err(AddressFault::SessionOptions);
        }
        let transport = transport(&config, has_authorities)?;
        Ok(Self { config, transport })
    }

    /// Sets everything that bounds a wait, and the name by which the server lists the connection.
    pub(super) fn limit(&mut self, timeout: Duration, application: &str) {
        let mode = match self.transport {
            DatabaseTransport::Plain => SslMode::Disable,
            DatabaseTransport::Tls => SslMode::Require,
        };
        let config = self.config.ssl_mode(mode).application_name(application);
        config.connect_timeout(timeout).tcp_user_timeout(timeout).keepalives(true);
        config.keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_INTERVAL);
        config.keepalives_retries(KEEPALIVE_RETRIES);
        if self.config.get_hosts().len() > 1 {
            self.config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
    }

    /// Returns the servers for messages.
    pub(super) fn servers(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => foreign_line(name),
            Host::Unix(path) => path.display().to_string(),
        });
        let addresses = self.config.get_hostaddrs().iter().map(ToString::to_string);
        let names: Vec<_> =
            if self.config.get_hosts().is_empty() { addresses.collect() } else { hosts.collect() };
        names.join(", ")
    }

    /// Returns the number of servers that are tried in turn.
    pub(super) fn server_count(&self) -> u32 {
        let count = self.config.get_hosts().len().max(self.config.get_hostaddrs().len());
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

fn transport(config: &Config, has_authorities: bool) -> Result<DatabaseTransport, AddressFault> {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let unix = hosts.iter().filter(|host| matches!(host, Host::Unix(_))).count();
    if hosts.is_empty() && addresses.is_empty() {
        return Err(AddressFault::NoServer);
    }
    if unix > 0 {
        return match unix == hosts.len() && addresses.is_empty() {
            true => Ok(DatabaseTransport::Plain),
            false => Err(AddressFault::Mixed),
        };
    }
    let is_loopback = match addresses.is_empty() {
        true => hosts.iter().all(is_loopback_host),
        false => addresses.iter().all(IpAddr::is_loopback),
    };
    match config.get_ssl_mode() {
        SslMode::Disable if !is_loopback => Err(AddressFault::PlainText),
        SslMode::Disable => Ok(DatabaseTransport::Plain),
        SslMode::Prefer if is_loopback && !has_authorities => Ok(DatabaseTransport::Plain),
        _ => Ok(DatabaseTransport::Tls),
    }
}

fn is_loopback_host(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
        Host::Unix(_) => false,
    }
}

impl fmt::Display for AddressFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = "write postgres://ROLE@SERVER/DATABASE";
        match self {
            Self::Scheme => write!(f, "not a URL of PostgreSQL; help: {form}"),
            Self::Syntax(cause) => write!(f, "it cannot be parsed ({cause}); help: {form}"),
            Self::Password => f.write_str(
                "it has a password, which other users of this host can see; help: write the \
                 password into a file that only this user may read, and name that file",
            ),
            Self::SessionOptions => f.write_str(
                "it has `options`, which change the session; help: remove them from the address",
            ),
            Self::NoServer => write!(
                f,
                "it names no server; help: {form}, or for a Unix socket \
                 postgres:///DATABASE?host=/run/postgresql&user=ROLE"
            ),
            Self::Mixed => {
                f.write_str("it names Unix sockets and TCP servers; help: name servers of one kind")
            }
            Self::PlainText => f.write_str(
                "it asks for TCP without TLS to another host; help: remove `sslmode=disable`, and \
                 name the authority of the server's certificate if this host does not know it",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
