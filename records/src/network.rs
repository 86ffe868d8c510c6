//! The network use of a run, as the record states it. An unknown use is `unknown`, and a host that
//! may have been reached is listed as a destination: missing data must never look like no use.

use std::net::IpAddr;

use validator::NetworkAccess;

use crate::tool_text::ToolRedaction;
use crate::untrusted::Redaction;
use crate::yaml::{FactMap, FactNode};

/// The maximum number of refusals that the Safety Notes list.
const LISTED_REFUSALS_MAX: usize = 5;

/// The known network use of a run. It is kept even if the rest of the run is lost.
#[derive(Clone, Debug)]
pub enum NetworkUse {
    /// No host was granted, or nothing was started. Nothing was reached.
    Nothing,
    /// These hosts may have been reached. Empty if the granted hosts are unknown too.
    Unknown {
        /// The names of the granted hosts.
        granted: Vec<String>,
        /// The reason, which the record states.
        why: UnknownUseReason,
    },
    /// The egress proxy's report.
    Known(NetworkReport),
}

/// The reason why a run's network use is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownUseReason {
    /// The egress proxy ended before it reported.
    ProxyLost,
    /// The egress proxy sent an impossible report.
    ReportInvalid,
    /// The daemon or the host stopped before it asked the egress proxy.
    NeverAsked,
}

impl UnknownUseReason {
    fn as_str(self) -> &'static str {
        match self {
            Self::ProxyLost => "the report of the proxy was lost",
            Self::ReportInvalid => "the report of the proxy does not fit this run",
            Self::NeverAsked => "the proxy was not asked for its report",
        }
    }
}

model::closed_set! {
    /// The mechanism that confined the egress proxy.
    pub enum ProxyConfinement {
        /// Landlock, with every right that the proxy asked for.
        Landlock = "landlock",
        /// Landlock, with the rights that the kernel knows.
        LandlockPartly = "landlock_partly",
        /// `no_new_privs` alone: the kernel has no Landlock.
        NoNewPrivs = "no_new_privs",
    }
}

/// The report of the egress proxy.
#[derive(Clone, Debug)]
pub struct NetworkReport {
    /// The mechanism that confined the proxy.
    pub proxy_confined_by: ProxyConfinement,
    /// Every granted host, used or not.
    pub hosts: Vec<RecordedHostUse>,
    /// The first refusals.
    pub refusals: Vec<RecordedRefusal>,
    /// The number of refusals that `refusals` omits.
    pub refusals_left_out: u64,
}

/// The use of one host.
#[derive(Clone, Debug)]
pub struct RecordedHostUse {
    /// The host's name.
    pub host: String,
    /// The addresses to which the name was pinned for the run.
    pub addresses: Vec<IpAddr>,
    /// The number of connections.
    pub connections: u64,
    /// Bytes sent by the tool.
    pub bytes_out: u64,
    /// Bytes received by the tool.
    pub bytes_in: u64,
}

/// A request of the tool that the proxy refused.
#[derive(Clone, Debug)]
pub struct RecordedRefusal {
    /// The destination, in the tool's text.
    pub destination: String,
    /// The reason, in the proxy's text.
    pub reason: String,
    /// The number of such requests.
    pub times: u64,
}

impl NetworkUse {
    /// Returns `none` or `allowlist`.
    pub(crate) fn as_str(&self) -> &'static str {
        let access = match self {
            Self::Nothing => NetworkAccess::None,
            Self::Unknown { .. } | Self::Known(_) => NetworkAccess::Allowlist,
        };
        access.as_str()
    }

    /// Returns the hosts that were or may have been reached.
    pub(crate) fn destinations(&self) -> Vec<&str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Unknown { granted, .. } => granted.iter().map(String::as_str).collect(),
            Self::Known(report) => {
                let reached = report.hosts.iter().filter(|host| host.connections > 0);
                reached.map(|host| host.host.as_str()).collect()
            }
        }
    }

    /// Returns the value for the front matter.
    pub(crate) fn to_node(&self, show: Redaction, tool: &ToolRedaction) -> FactNode {
        match self {
            Self::Nothing => FactNode::Null,
            Self::Unknown { .. } => FactNode::Keyword("unknown"),
            Self::Known(report) => FactNode::Map(vec![
                ("proxy_confined_by", FactNode::Keyword(report.proxy_confined_by.as_str())),
                ("hosts", FactNode::maps(report.hosts.iter().map(|host| host_row(host, show)))),
                (
                    "refusals",
                    FactNode::maps(report.refusals.iter().map(|it| refusal_row(it, tool))),
                ),
                ("refusals_left_out", FactNode::Uint(report.refusals_left_out)),
            ]),
        }
    }

    /// Returns the text after `Network confirmation:`.
    pub(crate) fn confirmation(&self, show: Redaction) -> String {
        match self {
            Self::Nothing => "none used".to_owned(),
            Self::Unknown { granted, why } if granted.is_empty() => {
                format!("unknown, {}; the allowed hosts are unknown too", why.as_str())
            }
            Self::Unknown { granted, why } => {
                let granted = show.body_text(&granted.join(", "));
                format!("unknown, {}; allowed hosts: {granted}", why.as_str())
            }
            Self::Known(report) => {
                let reached: Vec<String> = report
                    .hosts
                    .iter()
                    .filter(|host| host.connections > 0)
                    .map(|host| reached(host, show))
                    .collect();
                if reached.is_empty() {
                    return "allowlist, no destination reached".to_owned();
                }
                format!("allowlist: {}", reached.join("; "))
            }
        }
    }

    /// Returns the refused requests for the Safety Notes: this program's text, and the tool's.
    pub(crate) fn refused(&self) -> Option<(String, Option<String>)> {
        let report = match self {
            Self::Nothing => return None,
            Self::Unknown { why, .. } => {
                return Some((format!("{}; refused requests are unknown", why.as_str()), None));
            }
            Self::Known(report) => report,
        };
        // The proxy's counts are untrusted and could overflow.
        let all = report
            .refusals
            .iter()
            .fold(report.refusals_left_out, |all, it| all.saturating_add(it.times));
        if all == 0 {
            return None;
        }
        let some = report.refusals.iter().take(LISTED_REFUSALS_MAX);
        let some: Vec<&str> = some.map(|it| it.destination.as_str()).collect();
        Some((format!("{all} requests to destinations refused: "), Some(some.join(", "))))
    }
}

fn reached(host: &RecordedHostUse, show: Redaction) -> String {
    format!(
        "{} ({} connections, {} bytes out, {} bytes in)",
        show.body_text(&host.host),
        host.connections,
        host.bytes_out,
        host.bytes_in
    )
}

fn host_row(host: &RecordedHostUse, show: Redaction) -> FactMap {
    vec![
        ("host", show.exact_node(&host.host)),
        ("addresses", FactNode::texts(host.addresses.iter().map(ToString::to_string))),
        ("connections", FactNode::Uint(host.connections)),
        ("bytes_out", FactNode::Uint(host.bytes_out)),
        ("bytes_in", FactNode::Uint(host.bytes_in)),
    ]
}

fn refusal_row(refusal: &RecordedRefusal, tool: &ToolRedaction) -> FactMap {
    vec![
        ("asked", tool.text_node(&refusal.destination)),
        ("reason", tool.text_node(&refusal.reason)),
        ("times", FactNode::Uint(refusal.times)),
    ]
}
