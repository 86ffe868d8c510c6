//! What a run did with a network, in the record's words. What nobody knows is `unknown`, and what may have
//! been reached is listed as a destination: a reader must never take silence for nothing.

use std::net::IpAddr;

use sandbox::outcome::Outcome;

use crate::outside::Showing;
use crate::statement::Statement;
use crate::yaml::{Map, Node};

/// Rows of refusals that the Safety Notes name.
const NAMED_MAX: usize = 5;

/// What is known of a run that was granted hosts.
#[derive(Clone, Debug)]
pub enum NetworkUse {
    /// The egress proxy was lost, and its report with it; these hosts may have been reached.
    Unknown { granted: Vec<String> },
    /// The egress proxy's report.
    Known(NetworkReport),
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

/// The network of a statement's run.
pub(crate) enum Used {
    /// There was none, so that nothing was reached.
    Nothing,
    /// Nobody knows; these may have been reached.
    Unknown(Vec<String>),
    Known(NetworkReport),
}

pub(crate) fn used(says: &Statement<'_>) -> Used {
    if let Some(ran) = says.ran {
        return match ran.network {
            None => Used::Nothing,
            Some(NetworkUse::Unknown { granted }) => Used::Unknown(granted.clone()),
            Some(NetworkUse::Known(report)) => Used::Known(report.clone()),
        };
    }
    let asked = says.request().map_or(&[][..], |request| request.network().hosts());
    match says.outcome {
        // It may have run, with all it was granted, which is all it asked for.
        Outcome::Indeterminate if !asked.is_empty() => {
            Used::Unknown(asked.iter().map(|asked| asked.host().to_owned()).collect())
        }
        _ => Used::Nothing,
    }
}

impl Used {
    /// `none` or `allowlist`.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Unknown(_) | Self::Known(_) => "allowlist",
        }
    }

    /// Hosts that were reached, or may have been.
    pub(crate) fn destinations(&self) -> Vec<&str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Unknown(granted) => granted.iter().map(String::as_str).collect(),
            Self::Known(report) => {
                let reached = report.hosts.iter().filter(|host| host.connections > 0);
                reached.map(|host| host.host.as_str()).collect()
            }
        }
    }

    /// For the front matter.
    pub(crate) fn node(&self, show: Showing) -> Node {
        match self {
            Self::Nothing => Node::Null,
            Self::Unknown(_) => Node::Word("unknown"),
            Self::Known(report) => Node::Map(vec![
                ("proxy_confined_by", Node::Word(report.proxy_confined_by)),
                ("hosts", Node::maps(report.hosts.iter().map(|host| host_row(host, show)))),
                ("refusals", Node::maps(report.refusals.iter().map(|it| refusal_row(it, show)))),
                ("refusals_left_out", Node::Uint(report.refusals_left_out)),
            ]),
        }
    }

    /// What follows `Network confirmation:`.
    pub(crate) fn confirmation(&self, show: Showing) -> String {
        match self {
            Self::Nothing => "none used".to_owned(),
            Self::Unknown(granted) => {
                let granted = show.prose(&granted.join(", "));
                format!("unknown, the record of the proxy was lost; allowed were {granted}")
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

    /// What the tool asked for in vain, for the Safety Notes.
    pub(crate) fn refused(&self, show: Showing) -> Option<String> {
        let Self::Known(report) = self else { return None };
        // The proxy's numbers are another program's.
        let all = report
            .refusals
            .iter()
            .fold(report.refusals_left_out, |all, it| all.saturating_add(it.times));
        if all == 0 {
            return None;
        }
        let some = report.refusals.iter().take(NAMED_MAX);
        let some: Vec<String> = some.map(|it| show.prose(&it.asked)).collect();
        Some(format!("{all} requests to destinations refused: {}", some.join(", ")))
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

fn refusal_row(refusal: &Refusal, show: Showing) -> Map {
    vec![
        ("asked", show.words(&refusal.asked)),
        ("reason", show.words(&refusal.reason)),
        ("times", Node::Uint(refusal.times)),
    ]
}
