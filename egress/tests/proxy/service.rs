//! The program as a service: separate runs of one client, limited by the service's own options.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use egress::client::{Egress, EgressError};
use egress::frame::{EgressHostRule, ServeRefusal};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};

use crate::servers::{HELLO, http, sink};
use crate::support::{
    HostsFile, LOOPBACK, ProxyRun, assert_gone, eventually, get, order, program, rest, rule,
};

const ONE: &str = "127.0.0.1 one.example\n";

/// The program as its unit starts it, with a listening socket as standard input.
struct ProxyService {
    child: Child,
    path: PathBuf,
}

impl ProxyService {
    fn new(name: &str, arguments: &[&str]) -> Self {
        let name = format!("toolexec-egress-{}-{name}.sock", std::process::id());
        let path = std::env::temp_dir().join(name);
        let flags = SocketFlags::CLOEXEC;
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&listener, 8).unwrap();
        let child = Command::new(program())
            .args(["--allow-private", "127.0.0.0/30"])
            .args(arguments)
            .stdin(Stdio::from(listener))
            .spawn()
            .unwrap();
        Self { child, path }
    }

    fn run(&self, ports: &[u16]) -> Result<ProxyRun, EgressError> {
        self.run_of(rule("one.example", ports))
    }

    fn run_of(&self, rule: EgressHostRule) -> Result<ProxyRun, EgressError> {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let proxy = listener.local_addr().unwrap();
        let order = order(vec![rule]);
        let session = Egress::socket(&self.path).serve(order, &listener)?;
        Ok(ProxyRun { proxy, session })
    }
}

impl Drop for ProxyService {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        fs::remove_file(&self.path).unwrap();
    }
}

fn own_uid() -> String {
    nix::unistd::getuid().to_string()
}

#[test]
fn a_service_keeps_its_runs_apart() {
    let server = http(HELLO);
    let hosts = HostsFile::new(ONE);
    let file = hosts.arguments();
    let file = file.last().unwrap().to_str().unwrap();
    let uid = own_uid();
    let words = ["--client-user", &uid, "--hosts-file", file, "--runs-max", "2"];
    let service = ProxyService::new("apart", &words);
    let uri = format!("http://one.example:{}/", server.port);
    let (first, second) = (service.run(&[server.port]).unwrap(), service.run(&[1]).unwrap());
    let third = service.run(&[1]);
    assert!(matches!(third, Err(EgressError::Unable(ServeRefusal::Busy))), "a third of two");
    assert!(first.ask(&get(&uri)).starts_with("HTTP/1.1 200"));
    assert!(second.ask(&get(&uri)).starts_with("HTTP/1.1 403"));
    let mut kept = second.connect();
    assert_eq!(first.close().hosts[0].connections, 1);
    // The other run continues, with its own rules and connections.
    assert!(second.ask(&get(&uri)).starts_with("HTTP/1.1 403"));
    kept.write_all(get(&uri).as_bytes()).unwrap();
    assert!(rest(&mut kept).starts_with("HTTP/1.1 403"));
    let report = second.close();
    assert_eq!(report.hosts[0].connections, 0);
    assert_eq!(report.refusals[0].times, 3);
    // Both have ended, so another run fits.
    eventually("the service takes another run", || service.run(&[1]).is_ok());
}

#[test]
fn a_service_ends_a_run_whose_client_hangs_up() {
    let server = sink();
    let hosts = HostsFile::new(ONE);
    let file = hosts.arguments();
    let uid = own_uid();
    let words = ["--client-user", &uid, "--hosts-file", file.last().unwrap().to_str().unwrap()];
    let service = ProxyService::new("hang-up", &words);
    let run = service.run(&[server.port]).unwrap();
    let mut tunnel = run.granted(&format!("one.example:{}", server.port));
    drop(run.session);
    assert_eq!(rest(&mut tunnel), "");
    assert_eq!(server.next(), 0);
    assert_gone(run.proxy);
}

#[test]
fn a_service_has_a_ceiling_of_its_own() {
    let server = http(HELLO);
    let service = ProxyService::new("ceiling", &["--client-user", &own_uid()]);
    let named = |name: &str| EgressHostRule { private: Vec::new(), ..rule(name, &[server.port]) };
    for beyond in ["127.0.0.5", "10.0.0.1", "::1", "169.254.169.254", "168.63.129.16"] {
        let address = beyond.parse().unwrap();
        let listed = EgressHostRule { private: vec![address], ..named("one.example") };
        for rule in [named(beyond), listed] {
            let refused = service.run_of(rule).map(drop);
            assert!(
                matches!(&refused, Err(EgressError::Unable(ServeRefusal::Private(it))) if *it == address),
                "{beyond}: {refused:?}"
            );
        }
    }
    let run = service.run_of(named("127.0.0.1")).unwrap();
    let answer = run.ask(&get(&format!("http://127.0.0.1:{}/", server.port)));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    run.close();
}

#[test]
fn a_service_serves_only_its_client() {
    let service = ProxyService::new("client", &["--client-user", "54321"]);
    let refused = service.run(&[80]);
    assert!(matches!(refused, Err(EgressError::Lost(..))), "served another user");
}

#[test]
fn a_service_that_knows_no_client_does_not_start() {
    for words in [&[][..], &["--client-user", "no-such-user-here"]] {
        let mut service = ProxyService::new("nobody", words);
        assert_eq!(service.child.wait().unwrap().code(), Some(3));
    }
}
