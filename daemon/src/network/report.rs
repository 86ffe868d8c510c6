//! Checks the egress proxy's report before it enters a signed record. The proxy is another program
//! and parses hostile bytes, so that its report is accepted only if it is plausible for this run.
//! Pure. Must never add a host to a record that was not granted, nor omit a granted one.

use std::fmt;

use egress::frame::{self, ADDRESSES_MAX, ASKED_BYTES_MAX, Confinement, REFUSALS_MAX};
use policies::GrantedNetwork;
use records::{HostUse, NetworkReport, ProxyConfinement, Refusal};

/// The reason why a report is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportFault {
    /// The hosts differ from the granted ones, or are in another order.
    Hosts,
    /// A host has more addresses than the proxy keeps.
    Addresses,
    /// More bytes were transferred than granted, or some without a connection.
    Bytes,
    /// There are more or longer refusals than the proxy lists.
    Refusals,
}

impl fmt::Display for ReportFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hosts => "its hosts differ from the granted ones",
            Self::Addresses => "one of its hosts has too many addresses",
            Self::Bytes => "its byte counts exceed the limit or belong to no connection",
            Self::Refusals => "its refusals are too many or too long",
        })
    }
}

/// Checks a report and converts it for the record.
pub(super) fn believed(
    report: frame::Report,
    granted: &GrantedNetwork,
    confinement: Confinement,
) -> Result<NetworkReport, ReportFault> {
    let names = report.hosts.iter().map(|host| host.name.as_str());
    if !names.eq(granted.hosts.keys().map(String::as_str)) {
        return Err(ReportFault::Hosts);
    }
    if report.hosts.iter().any(|host| host.addresses.len() > ADDRESSES_MAX) {
        return Err(ReportFault::Addresses);
    }
    if !bytes_fit(&report.hosts, granted.bytes_max) {
        return Err(ReportFault::Bytes);
    }
    let too_long = |refusal: &frame::Refusal| refusal.asked.len() > ASKED_BYTES_MAX;
    if report.refusals.len() > REFUSALS_MAX || report.refusals.iter().any(too_long) {
        return Err(ReportFault::Refusals);
    }
    Ok(told(report, confinement))
}

fn bytes_fit(hosts: &[frame::HostUse], bytes_max: u64) -> bool {
    let of = |host: &frame::HostUse| host.bytes_in.saturating_add(host.bytes_out);
    let all = hosts.iter().fold(0_u64, |all, host| all.saturating_add(of(host)));
    // A record lists connected hosts as destinations: bytes without a connection would hide one.
    all <= bytes_max && hosts.iter().all(|host| host.connections > 0 || of(host) == 0)
}

fn told(report: frame::Report, confinement: Confinement) -> NetworkReport {
    let host = |host: frame::HostUse| HostUse {
        host: host.name,
        addresses: host.addresses,
        connections: host.connections,
        bytes_out: host.bytes_out,
        bytes_in: host.bytes_in,
    };
    let refusal = |refusal: frame::Refusal| Refusal {
        asked: refusal.asked,
        reason: refusal.reason.to_string(),
        times: refusal.times,
    };
    NetworkReport {
        proxy_confined_by: confined_by(confinement),
        hosts: report.hosts.into_iter().map(host).collect(),
        refusals: report.refusals.into_iter().map(refusal).collect(),
        refusals_left_out: report.refusals_left_out,
    }
}

fn confined_by(confinement: Confinement) -> ProxyConfinement {
    match confinement {
        Confinement::Landlock => ProxyConfinement::Landlock,
        Confinement::LandlockPartly => ProxyConfinement::LandlockPartly,
        Confinement::NoNewPrivs => ProxyConfinement::NoNewPrivs,
    }
}

#[cfg(test)]
mod tests;
