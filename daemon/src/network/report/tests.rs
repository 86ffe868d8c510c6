//! Accepted reports are those that an honest proxy can produce, and no others.

use std::collections::BTreeMap;

use policies::GrantedHost;

use super::*;

fn granted() -> GrantedNetwork {
    let host = || GrantedHost { ports: vec![443], private: Vec::new() };
    let hosts = ["a.example", "b.example"].map(|name| (name.to_owned(), host()));
    GrantedNetwork { hosts: BTreeMap::from(hosts), bytes_max: 100, connections_max: 1 }
}

fn used(name: &str, connections: u64, bytes: u64) -> frame::EgressHostUse {
    let addresses = vec!["192.0.2.7".parse().unwrap(); ADDRESSES_MAX];
    let (bytes_out, bytes_in) = (bytes / 2, bytes - bytes / 2);
    frame::EgressHostUse { name: name.to_owned(), addresses, connections, bytes_out, bytes_in }
}

fn refusals(number: usize, length: usize) -> Vec<frame::EgressRefusal> {
    let refusal = || frame::EgressRefusal {
        asked: "x".repeat(length),
        reason: frame::EgressRefusalReason::Host,
        times: u64::MAX,
    };
    (0..number).map(|_| refusal()).collect()
}

/// A report at all limits at once.
fn plausible_report() -> frame::Report {
    frame::Report {
        hosts: vec![used("a.example", 1, 100), used("b.example", 0, 0)],
        refusals: refusals(REFUSALS_MAX, REQUEST_TEXT_BYTES_MAX),
        refusals_left_out: u64::MAX,
    }
}

#[test]
fn plausible_report_is_accepted() {
    let report =
        checked_report(plausible_report(), &granted(), EgressConfinement::Landlock).unwrap();
    assert_eq!(report.hosts.len(), 2);
    assert_eq!(report.refusals.len(), REFUSALS_MAX);
}

#[test]
fn implausible_report_is_refused() {
    let (a, b) = (|| used("a.example", 1, 100), || used("b.example", 0, 0));
    let mut crowded = b();
    crowded.addresses.push("192.0.2.8".parse().unwrap());
    let hosts = |hosts: Vec<_>| frame::Report { hosts, ..plausible_report() };
    let with = |refusals| frame::Report { refusals, ..plausible_report() };
    for (what, report, why) in [
        ("no host", hosts(vec![]), EgressReportFault::Hosts),
        ("one left out", hosts(vec![a()]), EgressReportFault::Hosts),
        ("one too many", hosts(vec![a(), b(), used("c.example", 0, 0)]), EgressReportFault::Hosts),
        ("another order", hosts(vec![b(), a()]), EgressReportFault::Hosts),
        ("twice the same", hosts(vec![a(), a()]), EgressReportFault::Hosts),
        ("no name", hosts(vec![a(), used("not a host\n", 0, 0)]), EgressReportFault::Hosts),
        ("nine addresses", hosts(vec![a(), crowded]), EgressReportFault::Addresses),
        ("a byte too many", hosts(vec![a(), used("b.example", 1, 1)]), EgressReportFault::Bytes),
        (
            "bytes come round",
            hosts(vec![a(), used("b.example", 1, u64::MAX)]),
            EgressReportFault::Bytes,
        ),
        ("no connection", hosts(vec![used("a.example", 0, 1), b()]), EgressReportFault::Bytes),
        ("65 refusals", with(refusals(REFUSALS_MAX + 1, 1)), EgressReportFault::Refusals),
        (
            "a long refusal",
            with(refusals(1, REQUEST_TEXT_BYTES_MAX + 1)),
            EgressReportFault::Refusals,
        ),
    ] {
        let judged = checked_report(report, &granted(), EgressConfinement::Landlock);
        assert_eq!(judged.err(), Some(why), "{what}");
    }
}
