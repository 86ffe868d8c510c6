//! The client's side of a run: its beginning, its end, and invalid runs.

use std::io::{IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};

use egress::client::EgressError;
use egress::frame::{
    EgressHostRule, ProxyAnswer, ProxyOrder, ServeOrder, ServeRefusal, TIME_MS_MAX,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
    SocketType, recv, sendmsg, socketpair,
};

use crate::servers::{TestIdentity, sink, tls_echo};
use crate::support::{
    HostsFile, LOOPBACK, ProxyRun, arguments, assert_gone, order, program, reasons, rest, rule,
};

const ONE: &str = "127.0.0.1 one.example\n";

#[track_caller]
fn unable(order: ServeOrder) -> ServeRefusal {
    match ProxyRun::try_with(&[], order) {
        Err(EgressError::Unable(why)) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("served"),
    }
}

#[test]
fn an_empty_list_is_not_served() {
    assert_eq!(unable(order(Vec::new())), ServeRefusal::NoHosts);
}

#[test]
fn a_wrong_list_is_not_served() {
    let bad =
        ["", "*", "*.example.org", "a..b", "127.1", "http://a", "a:80", "[::1", "a b", "::1%lo"];
    for name in bad {
        let why = unable(order(vec![rule("good.example", &[]), rule(name, &[])]));
        assert_eq!(why, ServeRefusal::BadHost(name.to_owned()));
    }
    let twice = vec![rule("a.example", &[]), rule("A.example.", &[80])];
    assert_eq!(unable(order(twice)), ServeRefusal::BadHost("a.example".to_owned()));
}

#[test]
fn numbers_outside_their_bounds_are_not_served() {
    let one = || order(vec![rule("a.example", &[])]);
    let with = |number, name| EgressHostRule { private: vec![LOOPBACK; number], ..rule(name, &[]) };
    let many = (0..65).map(|it| rule(&format!("h{it}.example"), &[])).collect();
    let cases = [
        ("hosts", order(many)),
        ("ports", order(vec![rule("a.example", &[0])])),
        ("ports", order(vec![rule("a.example", &[1; 17])])),
        // The limit is for all rules together, or the frame would have no limit.
        ("private", order(vec![with(40, "a.example"), with(25, "b.example")])),
        ("bytes_max", ServeOrder { bytes_max: 0, ..one() }),
        ("connections_max", ServeOrder { connections_max: 0, ..one() }),
        ("connections_max", ServeOrder { connections_max: 257, ..one() }),
        ("time_ms_max", ServeOrder { time_ms_max: 0, ..one() }),
        ("time_ms_max", ServeOrder { time_ms_max: TIME_MS_MAX + 1, ..one() }),
    ];
    for (what, order) in cases {
        assert_eq!(unable(order), ServeRefusal::Bounds(what.to_owned()));
    }
}

#[test]
fn the_largest_order_is_served() {
    let name = |it: usize| format!("{it:02}{}.{}c", "a".repeat(60), "b.".repeat(94));
    let longest = "2001:1111:2222:3333:4444:5555:6666:7777".parse().unwrap();
    let rule = |it| EgressHostRule {
        name: name(it),
        ports: (65_000..65_016).collect(),
        private: vec![longest],
    };
    let report = ProxyRun::with(&[], order((0..64).map(rule).collect())).close();
    assert_eq!(report.hosts.len(), 64);
    assert_eq!(report.hosts[63].name, name(63));
}

/// Returns the other end of the program's session.
fn raw() -> (Child, OwnedFd) {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    let mut command = Command::new(program());
    let child = command.stdin(Stdio::from(theirs)).stderr(Stdio::null()).spawn().unwrap();
    (child, ours)
}

fn send(socket: &OwnedFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
    }
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL).unwrap();
}

/// Sends a frame and returns its answer. Checks that the program ends after it.
#[track_caller]
fn answer(bytes: &[u8], fds: &[BorrowedFd<'_>]) -> ProxyAnswer {
    let (mut child, socket) = raw();
    send(&socket, bytes, fds);
    let answer = receive(&socket);
    assert_eq!(recv(&socket, &mut [0; 1][..], RecvFlags::empty()).map(|it| it.0), Ok(0), "goes on");
    child.wait().unwrap();
    answer
}

fn receive(socket: &OwnedFd) -> ProxyAnswer {
    let mut bytes = vec![0; 70_000];
    let (read, _) = recv(socket, &mut bytes[..], RecvFlags::empty()).unwrap();
    serde_json::from_slice(&bytes[..read]).unwrap()
}

fn serve_frame() -> Vec<u8> {
    serde_json::to_vec(&ProxyOrder::Serve(order(vec![rule("a.example", &[])]))).unwrap()
}

#[test]
fn frames_that_are_no_order_are_not_served() {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let fd = [listener.as_fd()];
    let good = String::from_utf8(serve_frame()).unwrap();
    let unknown = good.replacen('{', "{\"x\":1,", 2);
    let cut = &good[..good.len() - 1];
    let negative = good.replace("\"bytes_max\":", "\"bytes_max\":-");
    let mut big = good.clone().into_bytes();
    big.resize(65 * 1024, b' ');
    let deep = "[".repeat(60_000);
    let doubled = format!("{good}{good}");
    let frames: [&[u8]; 9] = [
        b"x",
        b"\0",
        b"\"Close\"",
        unknown.as_bytes(),
        cut.as_bytes(),
        negative.as_bytes(),
        &big,
        deep.as_bytes(),
        doubled.as_bytes(),
    ];
    for frame in frames {
        let got = answer(frame, &fd);
        let start = String::from_utf8_lossy(&frame[..frame.len().min(60)]).into_owned();
        assert_eq!(got, ProxyAnswer::Unable(ServeRefusal::Malformed), "{start}");
    }
    assert_ne!(good, unknown);
    assert_ne!(good, negative);
}

#[test]
fn a_descriptor_that_is_no_loopback_listener_is_not_served() {
    let frame = serve_frame();
    let not_a_listener = ProxyAnswer::Unable(ServeRefusal::NotAListener);
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let other = TcpListener::bind((LOOPBACK, 0)).unwrap();
    assert_eq!(answer(&frame, &[]), not_a_listener);
    assert_eq!(answer(&frame, &[listener.as_fd(), other.as_fd()]), not_a_listener);
    let file = std::fs::File::open("/dev/null").unwrap();
    assert_eq!(answer(&frame, &[file.as_fd()]), not_a_listener);
    let udp = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    assert_eq!(answer(&frame, &[udp.as_fd()]), not_a_listener);
    let connected = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    assert_eq!(answer(&frame, &[connected.as_fd()]), not_a_listener);
    let everywhere = TcpListener::bind(("0.0.0.0", 0)).unwrap();
    assert_eq!(answer(&frame, &[everywhere.as_fd()]), not_a_listener);
    let path = std::env::temp_dir().join(format!("toolexec-egress-{}.sock", std::process::id()));
    let unix = UnixListener::bind(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(answer(&frame, &[unix.as_fd()]), not_a_listener);
    let many = [listener.as_fd(); 8];
    let refused = answer(&frame, &many);
    assert!(matches!(refused, ProxyAnswer::Unable(_)), "{refused:?}");
}

#[test]
fn a_second_order_ends_the_run() {
    for (second, with_fd) in
        [(serve_frame(), true), (serve_frame(), false), (b"\"Close\"".to_vec(), true)]
    {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let proxy = listener.local_addr().unwrap();
        let (mut child, socket) = raw();
        send(&socket, &serve_frame(), &[listener.as_fd()]);
        assert!(matches!(receive(&socket), ProxyAnswer::Serving(_)));
        let fds = [listener.as_fd()];
        send(&socket, &second, if with_fd { &fds } else { &[] });
        assert_eq!(receive(&socket), ProxyAnswer::Unable(ServeRefusal::Malformed));
        child.wait().unwrap();
        drop(listener);
        assert_gone(proxy);
    }
}

#[test]
fn hanging_up_ends_every_connection_at_once() {
    let identity = TestIdentity::new("one.example");
    let server = tls_echo(&identity);
    let quiet = sink();
    let hosts = HostsFile::new(ONE);
    let mut words = hosts.arguments();
    // No timeout ends a connection within the bound below.
    words.splice(..2, arguments(&["--timeout-ms", "60000"]));
    let run = ProxyRun::with(&words, order(vec![rule("one.example", &[server.port, quiet.port])]));
    let mut tls = identity.client(run.granted(&format!("one.example:{}", server.port)), true);
    tls.write_all(b"1").unwrap();
    tls.flush().unwrap();
    let mut waiting = run.granted(&format!("one.example:{}", quiet.port));
    let mut idle = run.connect();
    let begun = std::time::Instant::now();
    drop(run.session);
    assert_eq!(rest(&mut waiting), "");
    assert_eq!(rest(&mut idle), "");
    assert!(std::io::copy(&mut tls, &mut std::io::sink()).is_err(), "the tunnel goes on");
    server.next();
    assert_eq!(quiet.next(), 0);
    assert!(begun.elapsed() < std::time::Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_gone(run.proxy);
}

#[test]
fn closing_ends_every_connection_and_then_reports() {
    let server = sink();
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let mut waiting = run.granted(&format!("one.example:{}", server.port));
    let proxy = run.proxy;
    let report = run.close();
    assert_eq!(rest(&mut waiting), "");
    assert_eq!(report.hosts[0].connections, 1);
    assert_eq!(reasons(&report), []);
    assert_gone(proxy);
}

#[test]
fn a_run_that_was_not_used_reports_nothing_used() {
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[])]);
    let report = run.close();
    assert_eq!(report.hosts.len(), 1);
    assert_eq!(report.hosts[0].connections, 0);
    assert_eq!((report.refusals.len(), report.refusals_left_out), (0, 0));
}
