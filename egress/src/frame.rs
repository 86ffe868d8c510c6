//! What is said between the client and the proxy: every order, every answer, and their bounds.
//!
//! One conversation is one run, on a seqpacket socket of its own: `Serve` with the listening socket, then
//! `Close`; a client that hangs up ends its run without a report. Frames are JSON so that they need no
//! code of ours to read; they are bounded before they are read, and unknown keys are refused.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Largest frame, bytes. A report at all of the bounds below stays under it.
pub const FRAME_BYTES_MAX: usize = 64 * 1024;
/// Most rules in one order.
pub const RULES_MAX: usize = 64;
/// Most ports in one rule.
pub const PORTS_MAX: usize = 16;
/// Most addresses that are not public and that all rules of one order together may lead to.
pub const PRIVATE_MAX: usize = 64;
/// Most addresses of one answer that are kept; the rest is never dialled.
pub const ADDRESSES_MAX: usize = 8;
/// Most different refusals in a report; the rest is counted.
pub const REFUSALS_MAX: usize = 64;
/// Longest text of what was asked for, bytes; the rest is cut off.
pub const ASKED_BYTES_MAX: usize = 120;
/// Most connections at once that an order may ask for.
pub const CONNECTIONS_MAX: u32 = 256;
/// Longest time that an order may ask for, milliseconds: a day.
pub const TIME_MS_MAX: u64 = 86_400_000;

/// What the client says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Order {
    /// Begins the run; the frame carries exactly one descriptor, a TCP socket that listens on a loopback
    /// address (of whatever network namespace).
    Serve(Serve),
    /// Ends every connection of the run; answered by the report.
    Close,
}

/// What one run may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    /// Never empty: a run without hosts has no proxy.
    pub hosts: Vec<HostRule>,
    /// Bytes to and from all hosts together.
    pub bytes_max: u64,
    /// Connections from the cell at once.
    pub connections_max: u32,
    /// How long the run may use its hosts, milliseconds.
    pub time_ms_max: u64,
}

/// One host of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRule {
    /// A full host name in its ASCII form, or an address without brackets.
    pub name: String,
    /// 443 and 80 if empty.
    pub ports: Vec<u16>,
    /// Addresses that this name, and no other, may lead to although they are not public. Where the name
    /// is itself an address, that one need not be here.
    pub private: Vec<IpAddr>,
}

/// What the proxy says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Answer {
    /// Connections are accepted from now on.
    Serving(Confinement),
    /// Nothing of this run is served, now or later.
    Unable(Unable),
    /// The run's last word.
    Report(Report),
}

/// What the kernel gave the proxy to confine itself with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// Landlock holds every right that the proxy asked for.
    Landlock,
    /// Landlock holds the rights that this kernel knows.
    LandlockPartly,
    /// This kernel has no Landlock; only `no_new_privs` holds.
    NoNewPrivs,
}

/// Why a run is not served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Unable {
    /// The list of hosts is empty.
    NoHosts,
    /// The rule's name is neither a full host name nor an address, or two rules have it.
    BadHost(String),
    /// A list or a number is outside its bounds; the text names it.
    Bounds(String),
    /// The proxy's own ceiling has not this address, which is not public or was given as such.
    Private(IpAddr),
    /// There was not exactly one descriptor, or it is no TCP socket that listens on a loopback address.
    NotAListener,
    /// The frame is no order, or not one that is allowed here.
    Malformed,
    /// The proxy serves as many runs as it can.
    Busy,
}

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHosts => f.write_str("the list of hosts is empty"),
            Self::BadHost(name) => write!(f, "{name:?} is no host name or is given twice"),
            Self::Bounds(what) => write!(f, "{what} is outside its bounds"),
            Self::Private(address) => {
                write!(f, "{address} is not among what its --allow-private gives")
            }
            Self::NotAListener => f.write_str("the descriptor is no listening loopback socket"),
            Self::Malformed => f.write_str("the frame is no order that is allowed here"),
            Self::Busy => f.write_str("the proxy serves as many runs as it can"),
        }
    }
}

/// What one run did with its hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// One entry per rule, in the order's order, used or not.
    pub hosts: Vec<HostUse>,
    /// At most [`REFUSALS_MAX`] different ones, in the order in which they first happened.
    pub refusals: Vec<Refusal>,
    /// How many times something was refused that is not in `refusals`.
    pub refusals_left_out: u64,
}

/// What was done with one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostUse {
    /// As the order has it, in lower case and without a trailing dot.
    pub name: String,
    /// What the name stood for throughout this run; empty if it was never asked for or not allowed.
    pub addresses: Vec<IpAddr>,
    /// Connections made to it.
    pub connections: u64,
    /// Bytes written to those connections: all of them, TLS and heads of requests included.
    pub bytes_out: u64,
    /// Bytes read from those connections and passed on.
    pub bytes_in: u64,
}

/// Something that was asked for and not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// What the tool asked for: printable ASCII without quotes and backslashes, cut at
    /// [`ASKED_BYTES_MAX`]. The tool chose it: never trust it, never show it unescaped.
    pub asked: String,
    pub reason: Reason,
    /// How many times.
    pub times: u64,
}

/// Why something was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No rule has this name or address.
    Host,
    /// The rule of this host does not have this port.
    Port,
    /// Plain HTTP to a port of TLS, or a scheme that is not `http`.
    Scheme,
    /// The name leads to addresses that are not public.
    PrivateAddress,
    /// The name leads to an address where clouds answer with credentials.
    MetadataAddress,
    /// The name leads to an address of the proxy's own host.
    OwnAddress,
    /// The name has no address, or nobody answered.
    Unresolved,
    /// None of the addresses accepted a connection, or the connection broke before an answer.
    Unreachable,
    /// What came through the tunnel is no TLS, names another host or none, or hides the name.
    Sni,
    /// The `Host` field differs from the host that was asked for, or there are several.
    HostField,
    /// There is a user name in the address.
    UserInfo,
    /// TRACE, or CONNECT in the form of another method.
    Method,
    /// The host answered with another protocol.
    Upgrade,
    /// No request that a proxy could answer.
    Malformed,
    /// The head of the request, or of the host's answer, is too big.
    HeadTooBig,
    /// What should have come did not come in time.
    Slow,
    /// The run's bytes are used up.
    Bytes,
    /// The run has too many connections at once.
    Connections,
    /// The run's time is over.
    Time,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host: not among this run's hosts",
            Self::Port => "port: not among this host's ports",
            Self::Scheme => "scheme: plain http goes to ports of http only",
            Self::PrivateAddress => "address: the name does not lead to a public address",
            Self::MetadataAddress => "address: the name leads to a metadata service",
            Self::OwnAddress => "address: the name leads to this host itself",
            Self::Unresolved => "name: no address found",
            Self::Unreachable => "connection: the host does not answer",
            Self::Sni => "sni: the tunnel's TLS does not name this host",
            Self::HostField => "host field: names another host",
            Self::UserInfo => "userinfo: no user names in addresses",
            Self::Method => "method: not through this proxy",
            Self::Upgrade => "upgrade: no other protocol through this proxy",
            Self::Malformed => "form: no request to a proxy",
            Self::HeadTooBig => "head: too big",
            Self::Slow => "time: too slow",
            Self::Bytes => "bytes: this run's bytes are used up",
            Self::Connections => "connections: too many at once",
            Self::Time => "time: this run's time is over",
        })
    }
}
