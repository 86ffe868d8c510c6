//! The command line. Each run brings its own hosts; the options limit them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use super::limit::{AddressRange, PrivateAddressLimit};

const LONG: &str = "\
Connect runs to the hosts that they may use, and to nothing else.

The program serves runs over its standard input: either one seqpacket connection (one run, then it \
exits), or a listening seqpacket socket (many runs; StandardInput=socket in a unit). For each run \
it receives a list of hosts and a TCP socket that listens inside the run's sandbox. There it \
answers as an HTTP proxy: CONNECT for TLS, absolute http:// addresses for plain HTTP. toolexecd \
starts this program; do not start it by hand.

Each name is looked up once per run. Addresses that are not public (private, loopback, link-local, \
metadata services, this host's own, and IPv6 forms of those) are reached only if the run's list \
names them; in a service, --allow-private must allow them as well. The TLS in a tunnel must name \
the requested host. Each refusal is answered with its reason and reported.";

const AFTER: &str = "\
Examples:
  toolexec-egress --client-user toolexec          (in a service, with a socket unit)
  toolexec-egress --client-user toolexec --allow-private 10.1.0.0/16
  toolexec-egress --hosts-file pinned.hosts       (on a host without DNS; started by toolexecd)

Exit status: 0 success; 3 the program could not start serving.";

#[derive(Debug, Parser)]
#[command(name = "toolexec-egress", version, about = "Connect runs to the hosts that they may use", long_about = LONG, after_help = AFTER)]
pub(super) struct Options {
    /// Serve only this user, a name or a uid; required with a listening socket
    #[arg(long, value_name = "USER")]
    pub(super) client_user: Option<String>,

    /// Query this name server instead of the system's resolver: an address, with a port if not 53
    #[arg(long, value_name = "ADDR", value_parser = server_address, conflicts_with = "hosts_file")]
    pub(super) resolver: Option<SocketAddr>,

    /// Resolve names from this file only, in the format of /etc/hosts; it is read once
    #[arg(long, value_name = "FILE")]
    pub(super) hosts_file: Option<PathBuf>,

    /// Allow runs to name this address or network although it is not public; may be repeated.
    /// Default: none with a listening socket; with a single connection, those that its client names
    #[arg(long, value_name = "ADDR[/LEN]")]
    allow_private: Vec<AddressRange>,

    /// Limit the wait for a request's head, a ClientHello, a name, a host's answer to a connection,
    /// or the rest of a half-closed tunnel
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(50..=600_000))]
    timeout_ms: u64,

    /// Limit the time without a byte to or from a host
    #[arg(long, value_name = "MS", default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(50..=86_400_000))]
    idle_ms: u64,

    /// Limit the number of concurrent runs
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) runs_max: u16,
}

impl Options {
    /// The one client started the program for itself.
    pub(super) fn private_limit_of_one(&self) -> PrivateAddressLimit {
        if self.allow_private.is_empty() {
            PrivateAddressLimit::Unlimited
        } else {
            self.private_limit_of_many()
        }
    }

    /// The client is another user.
    pub(super) fn private_limit_of_many(&self) -> PrivateAddressLimit {
        PrivateAddressLimit::Only(self.allow_private.clone())
    }

    pub(super) fn timeouts(&self) -> Timeouts {
        Timeouts {
            step: Duration::from_millis(self.timeout_ms),
            idle: Duration::from_millis(self.idle_ms),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// For one step that an honest peer completes at once.
    pub(super) step: Duration,
    pub(super) idle: Duration,
}

fn server_address(text: &str) -> Result<SocketAddr, String> {
    let with_port = text.parse::<SocketAddr>();
    with_port
        .or_else(|_| text.parse().map(|ip| SocketAddr::new(ip, 53)))
        .map_err(|_| "not an address; help: write 192.0.2.53 or [2001:db8::53]:5353".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
        assert_eq!(server_address("192.0.2.1").map(|it| it.port()), Ok(53));
        assert_eq!(server_address("[2001:db8::1]:5353").map(|it| it.port()), Ok(5353));
        assert!(server_address("dns.example").is_err());
    }
}
