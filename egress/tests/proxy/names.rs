//! Names that resolve to forbidden addresses, immediately or later.

use std::net::Ipv4Addr;

use egress::frame::{EgressRefusalReason, ServeOrder};

use crate::servers::{HELLO, UnvisitedServer, http, name_server};
use crate::support::{
    HostsFile, LOOPBACK, ProxyRun, arguments, assert_refused, get, order, public, reasons, rule,
};

fn strict(ports: &[u16]) -> ServeOrder {
    order(vec![public("name.example", ports)])
}

#[test]
fn a_name_that_leads_to_no_public_address_is_refused() {
    let server = UnvisitedServer::new();
    let private = "127.0.0.1 10.0.0.1 ::ffff:127.0.0.1 ::1 192.168.1.1 172.16.0.1 100.64.0.1 0.0.0.0 \
        169.254.1.1 224.0.0.1 fe80::1 fc00::1 64:ff9b::127.0.0.1 2002:7f00:1::1 255.255.255.255";
    for address in private.split_whitespace() {
        let hosts = HostsFile::new(&format!("{address} name.example\n"));
        let run = ProxyRun::with(&hosts.arguments(), strict(&[server.port]));
        let answer = run.ask(&get(&format!("http://name.example:{}/", server.port)));
        let report = run.close();
        assert_refused(&answer, "address", &report, EgressRefusalReason::PrivateAddress);
        assert_eq!(report.hosts[0].addresses, [] as [std::net::IpAddr; 0], "{address}");
        assert!(server.is_unvisited());
    }
}

#[test]
fn a_name_that_leads_to_a_metadata_service_is_refused() {
    let metadata = "169.254.169.254 fd00:ec2::254 ::ffff:169.254.169.254 168.63.129.16 169.254.170.23 \
        fd00:ec2::23 fd20:ce::254 100.100.100.200";
    for address in metadata.split_whitespace() {
        let hosts = HostsFile::new(&format!("{address} name.example\n"));
        let run = ProxyRun::with(&hosts.arguments(), strict(&[80]));
        let answer = run.ask(&get("http://name.example/"));
        assert_refused(&answer, "metadata", &run.close(), EgressRefusalReason::MetadataAddress);
    }
}

#[test]
fn a_metadata_service_is_not_among_the_addresses_that_another_private_one_allows() {
    let hosts = HostsFile::new("169.254.169.254 name.example\n");
    let run = ProxyRun::with(&hosts.arguments(), order(vec![rule("name.example", &[80])]));
    let answer = run.ask(&get("http://name.example/"));
    assert_refused(&answer, "metadata", &run.close(), EgressRefusalReason::MetadataAddress);
}

#[test]
fn a_private_address_is_one_hosts_and_no_others() {
    let server = http(HELLO);
    let text = "127.0.0.1 inner.example\n127.0.0.1 other.example\n";
    let rules =
        vec![rule("inner.example", &[server.port]), public("other.example", &[server.port])];
    let run = ProxyRun::among(text, rules);
    // In both orders: the address allowed to one name must not be allowed to the other.
    for (name, status) in [("other", "403"), ("inner", "200"), ("other", "403")] {
        let answer = run.ask(&get(&format!("http://{name}.example:{}/", server.port)));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{name}: {answer}");
    }
    let (head, _) = run.tunnel(&format!("other.example:{}", server.port));
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    let report = run.close();
    let used: Vec<_> = report.hosts.iter().map(|host| host.connections).collect();
    assert_eq!(used, [1, 0]);
    assert_eq!(
        reasons(&report),
        [(EgressRefusalReason::PrivateAddress, 2), (EgressRefusalReason::PrivateAddress, 1)]
    );
    assert!(report.refusals[0].asked.contains("other.example"), "{report:?}");
}

#[test]
fn of_an_answer_only_what_may_be_reached_is_dialled() {
    let server = http(HELLO);
    let text = "10.9.8.7 name.example\n127.0.0.1 name.example\n169.254.169.254 name.example\n";
    let run = ProxyRun::among(text, vec![rule("name.example", &[server.port])]);
    for _ in 0..2 {
        let answer = run.ask(&get(&format!("http://name.example:{}/", server.port)));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let report = run.close();
    assert_eq!(report.hosts[0].addresses, [LOOPBACK]);
    // The forbidden addresses are reported, once for the run.
    assert_eq!(
        reasons(&report),
        [(EgressRefusalReason::PrivateAddress, 1), (EgressRefusalReason::MetadataAddress, 1)]
    );
    assert_eq!(report.refusals[0].asked, "name.example -> 10.9.8.7");
}

#[test]
fn every_address_of_a_refused_answer_is_reported() {
    let text = "10.9.8.7 name.example\n10.9.8.6 name.example\n";
    let run = ProxyRun::among(text, vec![public("name.example", &[80])]);
    for _ in 0..2 {
        assert!(run.ask(&get("http://name.example/")).starts_with("HTTP/1.1 403"));
    }
    assert_eq!(
        reasons(&run.close()),
        [(EgressRefusalReason::PrivateAddress, 1), (EgressRefusalReason::PrivateAddress, 2)]
    );
}

#[test]
fn fixed_answers_are_the_only_ones() {
    let run =
        ProxyRun::among("127.0.0.1 other.example # name.example\n", vec![rule("localhost", &[80])]);
    assert!(run.ask(&get("http://localhost/")).starts_with("HTTP/1.1 502"));
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Unresolved, 1)]);
}

fn asking(port: u16) -> Vec<std::ffi::OsString> {
    arguments(&["--timeout-ms", "4000", "--resolver", &format!("127.0.0.1:{port}")])
}

#[test]
fn the_first_answer_is_kept_for_the_runs_life() {
    const ANSWERS: &[Ipv4Addr] = &[Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2)];
    let server = http(HELLO);
    let (names, queries) = name_server(0, ANSWERS);
    let rules = || order(vec![rule("name.example", &[server.port])]);
    let uri = format!("http://name.example:{}/", server.port);
    let run = ProxyRun::with(&asking(names), rules());
    for _ in 0..3 {
        assert!(run.ask(&get(&uri)).starts_with("HTTP/1.1 200"));
    }
    let report = run.close();
    assert_eq!(report.hosts[0].addresses, [LOOPBACK]);
    assert_eq!(report.hosts[0].connections, 3);
    assert_eq!(*queries.lock().unwrap(), 1);
    // Another run looks the name up again, and is refused.
    let run = ProxyRun::with(&asking(names), rules());
    let answer = run.ask(&get(&uri));
    assert_refused(
        &answer,
        "-> 127.0.0.2: address",
        &run.close(),
        EgressRefusalReason::PrivateAddress,
    );
    assert_eq!(*queries.lock().unwrap(), 2);
}

#[test]
fn a_refused_answer_is_kept_as_well() {
    const ANSWERS: &[Ipv4Addr] = &[Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::LOCALHOST];
    let server = http(HELLO);
    let (names, queries) = name_server(0, ANSWERS);
    let run = ProxyRun::with(&asking(names), order(vec![rule("name.example", &[server.port])]));
    for _ in 0..2 {
        let answer = run.ask(&get(&format!("http://name.example:{}/", server.port)));
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::PrivateAddress, 2)]);
    assert_eq!(*queries.lock().unwrap(), 1);
}

#[test]
fn a_name_server_that_is_not_there_is_no_answer() {
    let socket = std::net::UdpSocket::bind((LOOPBACK, 0)).unwrap();
    // Nothing else gets the port, and the kernel refuses what does not come from this peer.
    socket.connect((LOOPBACK, 9)).unwrap();
    let resolver = socket.local_addr().unwrap().to_string();
    let arguments = arguments(&["--timeout-ms", "2500", "--resolver", &resolver]);
    let run = ProxyRun::with(&arguments, order(vec![rule("name.example", &[80])]));
    assert!(run.ask(&get("http://name.example/")).starts_with("HTTP/1.1 502"));
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Unresolved, 1)]);
}

#[test]
fn all_who_wait_for_one_name_wait_once() {
    // This server receives queries and never answers.
    let silent = std::net::UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let resolver = format!("127.0.0.1:{}", silent.local_addr().unwrap().port());
    let arguments = arguments(&["--timeout-ms", "4000", "--resolver", &resolver]);
    let run = ProxyRun::with(&arguments, order(vec![rule("name.example", &[80])]));
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                assert!(run.ask(&get("http://name.example/")).starts_with("HTTP/1.1 502"))
            });
        }
    });
    // Ten waits, one after the other, would take 40 s.
    assert!(begun.elapsed() < std::time::Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Unresolved, 10)]);
}
