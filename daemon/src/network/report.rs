//! Checks the egress proxy's report before it enters a signed record: another program that parses
//! hostile bytes made it, so it must be plausible for this run. Pure. Must never add a host that
//! was not granted to a record, nor omit a granted one.

use std::fmt;

use egress::frame::{self, ADDRESSES_MAX, EgressConfinement, REFUSALS_MAX, REQUEST_TEXT_BYTES_MAX};
use policies::GrantedNetwork;
use records::{NetworkReport, ProxyConfinement, RecordedHostUse, RecordedRefusal};

/// The reason why a report is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EgressReportFault {
    /// The hosts differ from the granted ones, or are in another order.
    Hosts,
    /// A host has more addresses than the proxy keeps.
    Addresses,
    /// More bytes were transferred than granted, or some without a connection.
    Bytes,
    /// There are more or longer refusals than the proxy lists.
    Refusals,
}

impl fmt::Display for EgressReportFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hosts => "its hosts differ from the granted ones",
            Self::Addresses => "one of its hosts has too many addresses",
            Self::Bytes => "its byte counts exceed the limit or belong to no connection",
            Self::Refusals => "its refusals are too many or too long",
        })
    }
}

pub(super) fn checked_report(
    report: frame::Report,
    granted: &GrantedNetwork,
    confinement: EgressConfinement,
) -> Result<NetworkReport, EgressReportFault> {
    let names = report.hosts.iter().map(|host| host.name.as_str());
    if !names.eq(granted.hosts.keys().map(String::as_str)) {
        return Err(EgressReportFault::Hosts);
    }
    if report.hosts.iter().any(|host| host.addresses.len() > ADDRESSES_MAX) {
        return Err(EgressReportFault::Addresses);
    }
    if !bytes_fit(&report.hosts, granted.bytes_max) {
        return Err(EgressReportFault::Bytes);
    }
    let too_long = |refusal: &frame::EgressRefusal| refusal.asked.len() > REQUEST_TEXT_BYTES_MAX;
    if report.refusals.len() > REFUSALS_MAX || report.refusals.iter().any(too_long) {
        return Err(EgressReportFault::Refusals);
    }
    Ok(to_record(report, confinement))
}

fn bytes_fit(hosts: &[frame::EgressHostUse], bytes_max: u64) -> bool {
    let of = |host: &frame::EgressHostUse| host.bytes_in.saturating_add(host.bytes_out);
    let all = hosts.iter().fold(0_u64, |all, host| all.saturating_add(of(host)));
    // A record lists connected hosts as destinations: bytes without a connection would hide one.
    all <= bytes_max && hosts.iter().all(|host| host.connections > 0 || of(host) == 0)
}

fn to_record(report: frame::Report, confinement: EgressConfinement) -> NetworkReport {
    let host = |host: frame::EgressHostUse| RecordedHostUse {
        host: host.name,
        addresses: host.addresses,
        connections: host.connections,
        bytes_out: host.bytes_out,
        bytes_in: host.bytes_in,
    };
    let refusal = |refusal: frame::EgressRefusal| RecordedRefusal {
        destination: refusal.asked,
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

fn confined_by(confinement: EgressConfinement) -> ProxyConfinement {
    match confinement {
        EgressConfinement::Landlock => ProxyConfinement::Landlock,
        EgressConfinement::LandlockPartly => ProxyConfinement::LandlockPartly,
        EgressConfinement::NoNewPrivs => ProxyConfinement::NoNewPrivs,
    }
}

#[cfg(test)]
mod tests;
