//! The isolation by the kernel: a socket of another network namespace, and the confinement.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use egress::client::{Egress, EgressError};
use egress::frame::EgressHostRule;
use nix::sched::{CloneFlags, unshare};

use crate::servers::{HELLO, http, name_server};
use crate::skip::skip;
use crate::support::{
    HostsFile, LOOPBACK, ProxyRun, arguments, connect, get, order, program, rest, rule,
};

const ONE: &str = "127.0.0.1 one.example\n";

#[test]
fn a_socket_of_another_network_namespace_is_the_only_way_out_of_it() {
    let server = http(HELLO);
    let port = server.port;
    let ((give, take), (serving, wait)) = (channel(), channel::<()>());
    // This address is taken on the host, so an answer inside does not come from the host.
    let taken = TcpListener::bind((LOOPBACK, 0)).unwrap();
    taken.set_nonblocking(true).unwrap();
    let proxy = taken.local_addr().unwrap();
    // Only this thread and the processes it starts are in the new namespace.
    let tool = std::thread::spawn(move || {
        if let Err(why) = unshare(CloneFlags::CLONE_NEWNET) {
            return drop(give.send(Err(why.to_string())));
        }
        // A container may lack the right to change a network.
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).output().unwrap();
        if !up.status.success() {
            let why = String::from_utf8_lossy(&up.stderr).replace('\n', " ");
            return drop(give.send(Err(why)));
        }
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
    let hosts = HostsFile::new(ONE);
    let egress = Egress::spawn(program(), &hosts.arguments());
    let session = egress.serve(order(vec![rule("one.example", &[port])]), &listener).unwrap();
    drop(listener);
    serving.send(()).unwrap();
    tool.join().unwrap();
    assert!(taken.accept().is_err(), "a connection left the namespace");
    let report = session.close().unwrap();
    assert_eq!(report.hosts[0].connections, 1);
    assert_eq!(report.hosts[0].bytes_out, u64::try_from(server.next().len()).unwrap());
}

#[test]
fn the_hosts_own_names_are_found_and_others_asked_for_whole() {
    const TEST: &str = "the_hosts_own_names_are_found_and_others_asked_for_whole";
    // In its own network namespace, the host's configuration names the test's DNS server.
    let tool = std::thread::spawn(|| {
        let made = unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS);
        if let Err(why) = made {
            return skip(TEST, &format!("no namespaces: {why}"));
        }
        let configuration =
            HostsFile::new("nameserver 127.0.0.1\nsearch corp.example\noptions ndots:5\n");
        let names = HostsFile::new(
            "no line\n::1%lo x\n127.0.0.7 other.example Inner.Example # name.example\n",
        );
        let script = "ip link set lo up && mount --make-rprivate / && \
            mount --bind \"$0\" /etc/resolv.conf && mount --bind \"$1\" /etc/hosts";
        let mut prepare = Command::new("sh");
        prepare.args(["-c", script]).args([configuration.path(), names.path()]);
        let prepared = prepare.output().unwrap();
        if !prepared.status.success() {
            return skip(TEST, &String::from_utf8_lossy(&prepared.stderr).replace('\n', " "));
        }
        let (_, queries) = name_server(53, &[Ipv4Addr::LOCALHOST]);
        let server = http(HELLO);
        let words = arguments(&["--timeout-ms", "8000"]);
        let run = ProxyRun::with(&words, order(vec![rule("name.example", &[server.port])]));
        let answer = run.ask(&get(&format!("http://name.example:{}/", server.port)));
        assert!(answer.ends_with("hello\n"), "{answer}");
        assert_eq!(run.close().hosts[0].addresses, [LOOPBACK]);
        assert_eq!(*queries.lock().unwrap(), 1);
        // A name in the host's own file is never looked up elsewhere.
        let inner =
            EgressHostRule { private: vec![[127, 0, 0, 7].into()], ..rule("inner.example", &[80]) };
        let run = ProxyRun::with(&words, order(vec![inner]));
        assert!(run.ask(&get("http://inner.example/")).contains("127.0.0.7: connection refused"));
        assert_eq!(run.close().hosts[0].addresses, [std::net::IpAddr::from([127, 0, 0, 7])]);
        assert_eq!(*queries.lock().unwrap(), 1);
    });
    tool.join().unwrap();
}

#[test]
fn the_program_can_gain_no_privileges() {
    let hosts = HostsFile::new(ONE);
    let run = ProxyRun::with(&hosts.arguments(), order(vec![rule("one.example", &[])]));
    let pid = child_with(hosts.arguments().last().unwrap().to_str().unwrap());
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let fields = ["CapInh", "CapPrm", "CapEff", "CapAmb"].map(|it| format!("{it}:\t{:016x}\n", 0));
    for field in fields.iter().map(String::as_str).chain(["NoNewPrivs:\t1\n", "Seccomp:\t2\n"]) {
        assert!(status.contains(field), "{field}: {status}");
    }
    // Only a process that may narrow the bounding set needs to.
    if nix::unistd::getuid().is_root() {
        assert!(status.contains(&format!("CapBnd:\t{:016x}\n", 0)), "{status}");
    }
    run.close();
}

#[test]
fn what_the_caller_left_open_is_closed() {
    let hosts = HostsFile::new(ONE);
    let file = hosts.arguments();
    // A shell opens files and then executes the program.
    let script = "exec 5</etc/passwd 9<>/dev/null && exec \"$0\" \"$@\"";
    let mut words = arguments(&["-c", script, program().to_str().unwrap()]);
    words.extend(file.clone());
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let egress = Egress::spawn(std::path::Path::new("/bin/sh"), &words);
    let session = egress.serve(order(vec![rule("one.example", &[])]), &listener).unwrap();
    let pid = child_with(file.last().unwrap().to_str().unwrap());
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let open = fs::read_link(entry.unwrap().path()).unwrap();
        let ours = open.to_str().unwrap();
        assert!(ours != "/etc/passwd", "{ours} is still open");
    }
    session.close().unwrap();
}

fn child_with(word: &str) -> u32 {
    let mut pids = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.unwrap().file_name().to_str()?.parse().ok()?;
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        line.split(|it| *it == 0).any(|it| it == word.as_bytes()).then_some(pid)
    });
    pids.next().unwrap()
}

#[test]
fn without_a_socket_the_program_says_how_it_is_started() {
    let ended = Command::new(program()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    let output = String::from_utf8(ended.stderr).unwrap();
    assert!(output.contains("not a seqpacket socket"), "{output}");
}

#[test]
fn a_wrong_file_of_answers_is_not_served_from() {
    for text in ["one.example 127.0.0.1\n", "127.0.0.1 a..b\n", "127.0.0.1 10.0.0.1\n"] {
        let hosts = HostsFile::new(text);
        let run = ProxyRun::try_with(&hosts.arguments(), order(vec![rule("one.example", &[])]));
        assert!(matches!(run, Err(EgressError::Lost(..))), "{text}");
    }
}
