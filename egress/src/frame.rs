//! The messages between client and proxy: every order, every answer, and their limits.
//!
//! One session serves one run, on its own seqpacket socket: `Serve` with the listening socket,
//! then `Close`. A client that closes the socket ends its run without a report. Frames are JSON:
//! their size is checked before they are parsed, and unknown keys are refused.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The largest frame in bytes. A report at all of the limits below is smaller.
pub const FRAME_BYTES_MAX: usize = 64 * 1024;
/// The most rules in one order.
pub const RULES_MAX: usize = 64;
/// The most ports in one rule.
pub const PORTS_MAX: usize = 16;
/// The most non-public addresses in all rules of one order.
pub const PRIVATE_MAX: usize = 64;
/// The most addresses of one DNS answer that are kept. The others are never dialled.
pub const ADDRESSES_MAX: usize = 8;
/// The most different refusals in a report. The others are only counted.
pub const REFUSALS_MAX: usize = 64;
/// The longest recorded text of a request in bytes. Longer texts are cut.
pub const REQUEST_TEXT_BYTES_MAX: usize = 120;
/// The most concurrent connections that an order may ask for.
pub const CONNECTIONS_MAX: u32 = 256;
/// The longest time that an order may ask for, in milliseconds: one day more than the longest time of
/// a run, because the proxy also serves before and after it.
pub const TIME_MS_MAX: u64 = 367 * 86_400_000;

/// A message of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ProxyOrder {
    /// Begins the run. The frame carries exactly one descriptor: a TCP socket that listens on a
    /// loopback address, in any network namespace.
    Serve(ServeOrder),
    /// Ends every connection of the run. The answer is the report.
    Close,
}

/// The hosts and limits of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeOrder {
    /// The allowed hosts; never empty, because a run without hosts has no proxy.
    pub hosts: Vec<EgressHostRule>,
    /// The most bytes to and from all hosts together.
    pub bytes_max: u64,
    /// The most concurrent connections from the sandbox.
    pub connections_max: u32,
    /// The time limit for the use of hosts, in milliseconds.
    pub time_ms_max: u64,
}

/// One host of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressHostRule {
    /// A full host name in its ASCII form, or an address without brackets.
    pub name: String,
    /// The allowed ports; 443 and 80 if empty.
    pub ports: Vec<u16>,
    /// Non-public addresses that this name alone may resolve to. If the name is itself an address,
    /// it need not be listed here.
    pub private: Vec<IpAddr>,
}

/// A message of the proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ProxyAnswer {
    /// Connections are accepted from now on.
    Serving(EgressConfinement),
    /// This run is not served, now or later.
    Unable(ServeRefusal),
    /// The report, which ends the run.
    Report(Report),
}

/// The confinement that the kernel allowed the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EgressConfinement {
    /// Landlock enforces every restriction that the proxy asked for.
    Landlock,
    /// Landlock enforces the restrictions that this kernel knows.
    LandlockPartly,
    /// This kernel has no Landlock; only `no_new_privs` is active.
    NoNewPrivs,
}

/// The reason why a run is not served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ServeRefusal {
    /// The list of hosts is empty.
    NoHosts,
    /// The rule's name is neither a full host name nor an address, or it occurs in two rules.
    BadHost(String),
    /// A list or number is outside its limits; the text names it.
    Bounds(String),
    /// The proxy's options do not allow this address, which is not public or was listed as private.
    Private(IpAddr),
    /// There was not exactly one descriptor, or it is not a TCP socket listening on a loopback
    /// address.
    NotAListener,
    /// The frame is not an order, or not one that is allowed here.
    Malformed,
    /// The proxy already serves the maximum number of runs.
    Busy,
}

impl ServeRefusal {
    /// Returns the operator's remedy.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoHosts | Self::NotAListener => "report this as a bug",
            Self::BadHost(_) => "list each host once, by its full name or address",
            Self::Bounds(_) => "use fewer hosts, ports or addresses, or lower limits",
            Self::Private(_) => "name it with --allow-private of the proxy",
            Self::Malformed => "use toolexec and toolexec-egress of the same version",
            Self::Busy => "try again later, or raise --runs-max of the proxy",
        }
    }
}

impl fmt::Display for ServeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHosts => f.write_str("the list of hosts is empty"),
            Self::BadHost(name) => write!(f, "{name:?} is not a host name, or is listed twice"),
            Self::Bounds(what) => write!(f, "{what} is out of range"),
            Self::Private(address) => {
                write!(f, "{address} is not allowed by the proxy's --allow-private")
            }
            Self::NotAListener => f.write_str("the descriptor is not a listening loopback socket"),
            Self::Malformed => f.write_str("the frame is not an order that is allowed here"),
            Self::Busy => f.write_str("the proxy already serves --runs-max runs"),
        }
    }
}

/// The report of one run's network use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// One entry per rule, in the order of the rules, used or not.
    pub hosts: Vec<EgressHostUse>,
    /// At most [`REFUSALS_MAX`] different refusals, in the order of their first occurrence.
    pub refusals: Vec<EgressRefusal>,
    /// The number of refusals that are not in `refusals`.
    pub refusals_left_out: u64,
}

/// The use of one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressHostUse {
    /// The name from the order, in lower case and without a trailing dot.
    pub name: String,
    /// The addresses of the name during this run; empty if it was never looked up or not allowed.
    pub addresses: Vec<IpAddr>,
    /// The connections made to the host.
    pub connections: u64,
    /// Bytes written to those connections, including TLS and request heads.
    pub bytes_out: u64,
    /// Bytes read from those connections and passed on.
    pub bytes_in: u64,
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressRefusal {
    /// The tool's request: printable ASCII without quotes and backslashes, cut at
    /// [`REQUEST_TEXT_BYTES_MAX`]. The tool chose it: never trust it, never show it unescaped.
    pub asked: String,
    /// The reason. Requests of the same text and reason share one entry.
    pub reason: EgressRefusalReason,
    /// The number of these requests during the run, at least 1.
    pub times: u64,
}

/// The reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EgressRefusalReason {
    /// No rule has this name or address.
    Host,
    /// The rule of this host does not have this port.
    Port,
    /// Plain HTTP to a TLS port, or a scheme other than `http`.
    Scheme,
    /// The name resolves to addresses that are not public.
    PrivateAddress,
    /// The name resolves to a cloud's metadata service, which hands out credentials.
    MetadataAddress,
    /// The name resolves to an address of the proxy's own host.
    OwnAddress,
    /// The name has no address, or no name server answered.
    Unresolved,
    /// None of the addresses accepted a connection, or the connection failed before an answer.
    Unreachable,
    /// The tunnel's first bytes are not TLS, or the ClientHello names another host, none, or hides
    /// the name.
    Sni,
    /// The `Host` field differs from the requested host, or there are several.
    HostField,
    /// The address contains a user name.
    UserInfo,
    /// TRACE, or CONNECT in the form of another method.
    Method,
    /// The host answered with a protocol switch.
    Upgrade,
    /// The bytes are not a request to a proxy.
    Malformed,
    /// The head of the request or of the host's answer is too big.
    HeadTooBig,
    /// An expected message did not arrive in time.
    Slow,
    /// The run's bytes are used up.
    Bytes,
    /// The run has too many concurrent connections.
    Connections,
    /// The run's time is over.
    Time,
}

impl fmt::Display for EgressRefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host: not among this run's hosts",
            Self::Port => "port: not among this host's ports",
            Self::Scheme => "scheme: only http is allowed, and not to port 443",
            Self::PrivateAddress => "address: the name does not resolve to a public address",
            Self::MetadataAddress => "address: the name resolves to a metadata service",
            Self::OwnAddress => "address: the name resolves to this host",
            Self::Unresolved => "name: no address found",
            Self::Unreachable => "connection: the host does not answer",
            Self::Sni => "sni: the tunnel's TLS does not name this host",
            Self::HostField => "host field: names another host",
            Self::UserInfo => "userinfo: user names are not allowed in addresses",
            Self::Method => "method: not supported by this proxy",
            Self::Upgrade => "upgrade: other protocols are not supported by this proxy",
            Self::Malformed => "form: not a request to a proxy",
            Self::HeadTooBig => "head: too large",
            Self::Slow => "time: a message did not arrive in time",
            Self::Bytes => "bytes: this run's byte limit is used up",
            Self::Connections => "connections: too many at once",
            Self::Time => "time: this run's time limit is used up",
        })
    }
}
