//! Names that resolve to the proxy's own host by an address that looks public.

use std::net::TcpListener;
use std::process::Command;

use egress::frame::EgressRefusalReason;
use nix::sched::{CloneFlags, unshare};

use crate::skip::skip;
use crate::support::{
    HostsFile, ProxyRun, assert_refused, eventually, get, order, public, reasons,
};

/// One of an interface, a second one of it, one of a network routed to the host, and IPv6.
const OWN: [&str; 4] = ["9.9.9.9", "9.9.9.10", "8.8.4.77", "2620:fe::9"];
const SETUP: &str = "ip link set lo up && ip addr add 9.9.9.9/24 dev lo && \
    ip addr add 9.9.9.10/24 dev lo && ip route add local 8.8.4.0/24 dev lo && \
    ip -6 addr add 2620:fe::9/128 dev lo";

#[test]
fn a_name_that_leads_to_the_host_itself_is_refused() {
    const TEST: &str = "a_name_that_leads_to_the_host_itself_is_refused";
    // A thread with its own network namespace.
    let tool = std::thread::spawn(|| {
        if let Err(why) = unshare(CloneFlags::CLONE_NEWNET) {
            return skip(TEST, &format!("no network namespace: {why}"));
        }
        let prepared = Command::new("sh").args(["-c", SETUP]).output().unwrap();
        if !prepared.status.success() {
            return skip(TEST, &String::from_utf8_lossy(&prepared.stderr).replace('\n', " "));
        }
        let server = TcpListener::bind("[::]:0").unwrap();
        server.set_nonblocking(true).unwrap();
        let port = server.local_addr().unwrap().port();
        let uri = format!("http://name.example:{port}/");
        for address in OWN {
            let hosts = HostsFile::new(&format!("{address} name.example\n"));
            let run =
                ProxyRun::with(&hosts.arguments(), order(vec![public("name.example", &[port])]));
            let answer = run.ask(&get(&uri));
            assert_refused(
                &answer,
                "resolves to this host",
                &run.close(),
                EgressRefusalReason::OwnAddress,
            );
            assert!(server.accept().is_err(), "{address}");
            // The operator may name the address explicitly.
            let mut named = public("name.example", &[port]);
            named.private = vec![address.parse().unwrap()];
            let run = ProxyRun::with(&hosts.arguments(), order(vec![named]));
            let (head, _) = run.tunnel(&format!("name.example:{port}"));
            assert!(head.starts_with("HTTP/1.1 200"), "{address}: {head}");
            // The kernel may finish the connection on this side later than on the other.
            eventually(&format!("{address} is reached"), || server.accept().is_ok());
            assert_eq!(reasons(&run.close()), []);
        }
    });
    tool.join().unwrap();
}
