//! What the kernel keeps apart: a socket of another network namespace, a client of another user, a socket
//! from systemd, and what the program has taken from itself.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;

use egress::client::{Egress, EgressError};
use egress::frame::Unable;
use nix::sched::{CloneFlags, unshare};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};

use crate::servers::{HELLO, http, name_server, sink};
use crate::stand::{
    Hosts, LOOPBACK, Run, arguments, assert_gone, connect, eventually, get, order, program, rest,
    rule,
};

const ONE: &str = "127.0.0.1 one.example\n";

/// Says that this host cannot run a test, and why.
pub(crate) fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED {test}: {reason}\n");
    let Some(log) = std::env::var_os("TOOLEXEC_SKIP_LOG") else {
        return std::io::stderr().write_all(line.as_bytes()).unwrap();
    };
    let log = fs::OpenOptions::new().create(true).append(true).open(log);
    log.unwrap().write_all(line.as_bytes()).unwrap();
}

#[test]
fn a_socket_of_another_network_namespace_is_the_only_way_out_of_it() {
    let server = http(HELLO);
    let port = server.port;
    let ((give, take), (serving, wait)) = (channel(), channel::<()>());
    // On the host this address is taken, so whoever answers there inside is not the host's.
    let taken = TcpListener::bind((LOOPBACK, 0)).unwrap();
    taken.set_nonblocking(true).unwrap();
    let proxy = taken.local_addr().unwrap();
    // The namespace is this thread's alone; what the thread starts is in it as well.
    let tool = std::thread::spawn(move || {
        if let Err(why) = unshare(CloneFlags::CLONE_NEWNET) {
            return drop(give.send(Err(why.to_string())));
        }
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap();
        assert!(up.success());
        assert!(TcpStream::connect((LOOPBACK, port)).is_err(), "it is the host's namespace");
        give.send(Ok(TcpListener::bind(proxy).unwrap())).unwrap();
        wait.recv().unwrap();
        let mut stream = connect(proxy);
        stream.write_all(get(&format!("http://one.example:{port}/")).as_bytes()).unwrap();
        assert!(rest(&mut stream).ends_with("hello\n"));
    });
    let listener = match take.recv().unwrap() {
        Ok(listener) => listener,
        Err(why) => {
            let test = "a_socket_of_another_network_namespace_is_the_only_way_out_of_it";
            return skip(test, &format!("no network namespace: {why}"));
        }
    };
    // The proxy is started from the host's namespace.
    let hosts = Hosts::new(ONE);
    let egress = Egress::spawn(program(), &hosts.arguments());
    let conversation = egress.serve(order(vec![rule("one.example", &[port])]), &listener).unwrap();
    drop(listener);
    serving.send(()).unwrap();
    tool.join().unwrap();
    assert!(taken.accept().is_err(), "somebody came out of the namespace");
    let report = conversation.close().unwrap();
    assert_eq!(report.hosts[0].connections, 1);
    assert_eq!(report.hosts[0].bytes_out, u64::try_from(server.next().len()).unwrap());
}

#[test]
fn the_systems_resolver_is_asked_for_whole_names() {
    const TEST: &str = "the_systems_resolver_is_asked_for_whole_names";
    // A thread with a network of its own, where the host's configuration names our server of names.
    let tool = std::thread::spawn(|| {
        let made = unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS);
        if let Err(why) = made {
            return skip(TEST, &format!("no namespaces: {why}"));
        }
        let configuration =
            Hosts::new("nameserver 127.0.0.1\nsearch corp.example\noptions ndots:5\n");
        let path = configuration.arguments();
        let path = path.last().unwrap().to_str().unwrap();
        let script =
            "ip link set lo up && mount --make-rprivate / && mount --bind \"$0\" /etc/resolv.conf";
        let prepared = Command::new("sh").args(["-c", script, path]).output().unwrap();
        if !prepared.status.success() {
            return skip(TEST, &String::from_utf8_lossy(&prepared.stderr).replace('\n', " "));
        }
        let (_, asked) = name_server(53, &[Ipv4Addr::LOCALHOST]);
        let server = http(HELLO);
        let words = arguments(&["--patience-ms", "8000"]);
        let run = Run::with(&words, order(vec![rule("name.example", &[server.port])]));
        let answer = run.ask(&get(&format!("http://name.example:{}/", server.port)));
        assert!(answer.ends_with("hello\n"), "{answer}");
        assert_eq!(run.close().hosts[0].addresses, [LOOPBACK]);
        assert_eq!(*asked.lock().unwrap(), 1);
    });
    tool.join().unwrap();
}

#[test]
fn the_program_can_gain_no_privileges() {
    let hosts = Hosts::new(ONE);
    let run = Run::with(&hosts.arguments(), order(vec![rule("one.example", &[])]));
    let pid = child_with(hosts.arguments().last().unwrap().to_str().unwrap());
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let fields = ["CapInh", "CapPrm", "CapEff", "CapAmb"].map(|it| format!("{it}:\t{:016x}\n", 0));
    for field in fields.iter().map(String::as_str).chain(["NoNewPrivs:\t1\n", "Seccomp:\t2\n"]) {
        assert!(status.contains(field), "{field}: {status}");
    }
    // Only who may narrow the bounding set has anything to narrow.
    if nix::unistd::getuid().is_root() {
        assert!(status.contains(&format!("CapBnd:\t{:016x}\n", 0)), "{status}");
    }
    run.close();
}

#[test]
fn what_the_caller_left_open_is_closed() {
    let hosts = Hosts::new(ONE);
    let file = hosts.arguments();
    // A shell that has opened a file for itself before it becomes the program.
    let script = "exec 5</etc/passwd 9<>/dev/null && exec \"$0\" \"$@\"";
    let mut words = arguments(&["-c", script, program().to_str().unwrap()]);
    words.extend(file.clone());
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let egress = Egress::spawn(std::path::Path::new("/bin/sh"), &words);
    let conversation = egress.serve(order(vec![rule("one.example", &[])]), &listener).unwrap();
    let pid = child_with(file.last().unwrap().to_str().unwrap());
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let open = fs::read_link(entry.unwrap().path()).unwrap();
        let ours = open.to_str().unwrap();
        assert!(ours != "/etc/passwd", "{ours} is still open");
    }
    conversation.close().unwrap();
}

/// The process that has this among its arguments.
fn child_with(word: &str) -> u32 {
    let mut pids = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.unwrap().file_name().to_str()?.parse().ok()?;
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        line.split(|it| *it == 0).any(|it| it == word.as_bytes()).then_some(pid)
    });
    pids.next().unwrap()
}

/// The program as its unit starts it: a listening socket as standard input.
struct Service {
    child: Child,
    path: PathBuf,
}

impl Service {
    fn new(name: &str, arguments: &[&str]) -> Self {
        let name = format!("toolexec-egress-{}-{name}.sock", std::process::id());
        let path = std::env::temp_dir().join(name);
        let flags = SocketFlags::CLOEXEC;
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&listener, 8).unwrap();
        let child =
            Command::new(program()).args(arguments).stdin(Stdio::from(listener)).spawn().unwrap();
        Self { child, path }
    }

    fn run(&self, ports: &[u16]) -> Result<Run, EgressError> {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let proxy = listener.local_addr().unwrap();
        let order = order(vec![rule("one.example", ports)]);
        let conversation = Egress::socket(&self.path).serve(order, &listener)?;
        Ok(Run { proxy, conversation })
    }
}

impl Drop for Service {
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
    let hosts = Hosts::new(ONE);
    let file = hosts.arguments();
    let file = file.last().unwrap().to_str().unwrap();
    let uid = own_uid();
    let words = ["--client-user", &uid, "--hosts-file", file, "--runs-max", "2"];
    let service = Service::new("apart", &words);
    let uri = format!("http://one.example:{}/", server.port);
    let (first, second) = (service.run(&[server.port]).unwrap(), service.run(&[1]).unwrap());
    let third = service.run(&[1]);
    assert!(matches!(third, Err(EgressError::Unable(Unable::Busy))), "a third of two");
    assert!(first.ask(&get(&uri)).starts_with("HTTP/1.1 200"));
    assert!(second.ask(&get(&uri)).starts_with("HTTP/1.1 403"));
    let mut kept = second.connect();
    assert_eq!(first.close().hosts[0].connections, 1);
    // The other run goes on, with its own rules and its own connections.
    assert!(second.ask(&get(&uri)).starts_with("HTTP/1.1 403"));
    kept.write_all(get(&uri).as_bytes()).unwrap();
    assert!(rest(&mut kept).starts_with("HTTP/1.1 403"));
    let report = second.close();
    assert_eq!(report.hosts[0].connections, 0);
    assert_eq!(report.refusals[0].times, 3);
    // Both are over, so there is room again.
    eventually("the service takes another run", || service.run(&[1]).is_ok());
}

#[test]
fn a_service_ends_a_run_whose_client_hangs_up() {
    let server = sink();
    let hosts = Hosts::new(ONE);
    let file = hosts.arguments();
    let uid = own_uid();
    let words = ["--client-user", &uid, "--hosts-file", file.last().unwrap().to_str().unwrap()];
    let service = Service::new("hang-up", &words);
    let run = service.run(&[server.port]).unwrap();
    let mut tunnel = run.granted(&format!("one.example:{}", server.port));
    drop(run.conversation);
    assert_eq!(rest(&mut tunnel), "");
    assert_eq!(server.next(), 0);
    assert_gone(run.proxy);
}

#[test]
fn a_service_serves_only_its_client() {
    let service = Service::new("client", &["--client-user", "54321"]);
    let refused = service.run(&[80]);
    assert!(matches!(refused, Err(EgressError::Lost(..))), "served another user");
}

#[test]
fn a_service_that_knows_no_client_does_not_start() {
    for words in [&[][..], &["--client-user", "no-such-user-here"]] {
        let mut service = Service::new("nobody", words);
        assert_eq!(service.child.wait().unwrap().code(), Some(2));
    }
}

#[test]
fn without_a_socket_the_program_says_how_it_is_started() {
    let ended = Command::new(program()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("toolexecd starts this program"), "{said}");
}

#[test]
fn a_wrong_file_of_answers_is_not_served_from() {
    for text in ["one.example 127.0.0.1\n", "127.0.0.1 a..b\n", "127.0.0.1 10.0.0.1\n"] {
        let hosts = Hosts::new(text);
        let run = Run::try_with(&hosts.arguments(), order(vec![rule("one.example", &[])]));
        assert!(matches!(run, Err(EgressError::Lost(..))), "{text}");
    }
}
