//! What a run did with a network, in the record's words. What nobody knows is `unknown`, and what may have
//! been reached is listed as a destination: a reader must never take silence for nothing.

use std::net::IpAddr;

use validator::NetworkAccess;

use crate::outside::Showing;
use crate::tool_text::ToolShowing;
use crate::yaml::{Map, Node};

/// Rows of refusals that the Safety Notes name.
const NAMED_MAX: usize = 5;

/// What is known of a run's network, whatever else of the run could be kept.
#[derive(Clone, Debug)]
pub enum NetworkUse {
    /// No host was granted, or nothing was started: nothing was reached.
    Nothing,
    /// These hosts may have been reached. None are named where not even they are known.
    Unknown { granted: Vec<String>, why: Unaccounted },
    /// The egress proxy's report.
    Known(NetworkReport),
}

/// Why nobody knows what a run did with its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unaccounted {
    /// The egress proxy ended before it was asked, and its report with it.
    ProxyLost,
    /// The egress proxy said what cannot be so.
    ReportUnfit,
    /// The daemon or the host stopped before the egress proxy was asked.
    NeverAsked,
}

impl Unaccounted {
    fn words(self) -> &'static str {
        match self {
            Self::ProxyLost => "the record of the proxy was lost",
            Self::ReportUnfit => "the report of the proxy cannot be this run's",
            Self::NeverAsked => "the proxy was never asked for its record",
        }
    }
}

/// What the egress proxy saw.
#[derive(Clone, Debug)]
pub struct NetworkReport {
    /// What confined the proxy itself, in a word.
    pub proxy_confined_by: &'static str,
    /// Every host that was granted, used or not.
    pub hosts: Vec<HostUse>,
    /// Not all if many: the number of the rest is beside them.
    pub refusals: Vec<Refusal>,
    pub refusals_left_out: u64,
}

/// What was done with one host.
#[derive(Clone, Debug)]
pub struct HostUse {
    pub host: String,
    /// What the name stood for throughout the run.
    pub addresses: Vec<IpAddr>,
    pub connections: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
}

/// Something that the tool asked its proxy for and did not get.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The tool's own words.
    pub asked: String,
    /// Ours.
    pub reason: String,
    pub times: u64,
}

impl NetworkUse {
    /// `none` or `allowlist`.
    pub(crate) fn as_str(&self) -> &'static str {
        let access = match self {
            Self::Nothing => NetworkAccess::None,
            Self::Unknown { .. } | Self::Known(_) => NetworkAccess::Allowlist,
        };
        access.as_str()
    }

    /// Hosts that were reached, or may have been.
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

    /// For the front matter.
    pub(crate) fn node(&self, show: Showing, tool: &ToolShowing) -> Node {
        match self {
            Self::Nothing => Node::Null,
            Self::Unknown { .. } => Node::Word("unknown"),
            Self::Known(report) => Node::Map(vec![
                ("proxy_confined_by", Node::Word(report.proxy_confined_by)),
                ("hosts", Node::maps(report.hosts.iter().map(|host| host_row(host, show)))),
                ("refusals", Node::maps(report.refusals.iter().map(|it| refusal_row(it, tool)))),
                ("refusals_left_out", Node::Uint(report.refusals_left_out)),
            ]),
        }
    }

    /// What follows `Network confirmation:`.
    pub(crate) fn confirmation(&self, show: Showing) -> String {
        match self {
            Self::Nothing => "none used".to_owned(),
            Self::Unknown { granted, why } if granted.is_empty() => {
                format!("unknown, {}; which hosts were allowed is unknown too", why.words())
            }
            Self::Unknown { granted, why } => {
                let granted = show.prose(&granted.join(", "));
                format!("unknown, {}; allowed were {granted}", why.words())
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

    /// What the tool asked for in vain, for the Safety Notes: words of ours, and the tool's own.
    pub(crate) fn refused(&self) -> Option<(String, Option<String>)> {
        let report = match self {
            Self::Nothing => return None,
            Self::Unknown { why, .. } => {
                return Some((format!("{}; what was refused is unknown", why.words()), None));
            }
            Self::Known(report) => report,
        };
        // The proxy's numbers are another program's.
        let all = report
            .refusals
            .iter()
            .fold(report.refusals_left_out, |all, it| all.saturating_add(it.times));
        if all == 0 {
            return None;
        }
        let some = report.refusals.iter().take(NAMED_MAX);
        let some: Vec<&str> = some.map(|it| it.asked.as_str()).collect();
        Some((format!("{all} requests to destinations refused: "), Some(some.join(", "))))
    }
}

fn reached(host: &HostUse, show: Showing) -> String {
    format!(
        "{} ({} connections, {} bytes out, {} bytes in)",
        show.prose(&host.host),
        host.connections,
        host.bytes_out,
        host.bytes_in
    )
}

fn host_row(host: &HostUse, show: Showing) -> Map {
    vec![
        ("host", show.exact(&host.host)),
        ("addresses", Node::texts(host.addresses.iter().map(ToString::to_string))),
        ("connections", Node::Uint(host.connections)),
        ("bytes_out", Node::Uint(host.bytes_out)),
        ("bytes_in", Node::Uint(host.bytes_in)),
    ]
}

fn refusal_row(refusal: &Refusal, tool: &ToolShowing) -> Map {
    vec![
        ("asked", tool.words(&refusal.asked)),
        ("reason", tool.words(&refusal.reason)),
        ("times", Node::Uint(refusal.times)),
    ]
}
