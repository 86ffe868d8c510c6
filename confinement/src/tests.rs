//! Tests of the restrictions from inside the process. Each runs in a thread of its own, because a
//! restriction applies to the calling thread.

use std::fs::File;
use std::io::ErrorKind::{PermissionDenied, Unsupported};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::process::Command;

use landlock::{AccessFs, AccessNet, RulesetCreatedAttr as _, RulesetStatus, path_beneath_rules};

use super::*;

fn in_a_thread(check: impl FnOnce() + Send + 'static) {
    std::thread::spawn(check).join().expect("holds");
}

/// A server for databases, as the tests start it: TCP and a Unix socket.
struct DatabaseServer {
    tcp: TcpListener,
    unix: UnixListener,
}

impl DatabaseServer {
    fn start(name: &str) -> Self {
        let name = format!("toolexec-confinement-{name}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name).expect("a name");
        Self {
            tcp: TcpListener::bind("127.0.0.1:0").expect("TCP"),
            unix: UnixListener::bind_addr(&address).expect("a Unix socket"),
        }
    }
}

#[test]
fn a_runtime_has_neither_a_new_socket_nor_a_file_nor_a_program() {
    let server = DatabaseServer::start("runtime");
    let port = server.tcp.local_addr().expect("bound").port();
    in_a_thread(move || {
        SyscallAllowlist::of_runtime().apply().expect("restricted");
        let connected = TcpStream::connect(("127.0.0.1", port)).map(drop);
        assert_eq!(connected.map_err(|error| error.kind()), Err(Unsupported));
        assert_eq!(UnixStream::pair().map(drop).map_err(|it| it.kind()), Err(Unsupported));
        assert_eq!(File::open("/dev/null").map(drop).map_err(|it| it.kind()), Err(Unsupported));
        assert!(Command::new("/bin/true").status().is_err());
        std::thread::spawn(|| ()).join().expect("a thread");
    });
}

#[test]
fn a_client_of_a_database_has_its_sockets_and_files_and_no_program() {
    let server = DatabaseServer::start("client");
    let port = server.tcp.local_addr().expect("bound").port();
    let unix = server.unix.local_addr().expect("bound");
    in_a_thread(move || {
        let sockets = internet_sockets().into_iter();
        let sockets = sockets.chain([socket_kind(libc::AF_UNIX, libc::SOCK_STREAM)]);
        let allowed = SyscallAllowlist::of_runtime().with(FILE_CALLS).with(CONNECTION_CALLS);
        allowed.with_arguments(libc::SYS_socket, sockets).apply().expect("restricted");
        drop(TcpStream::connect(("127.0.0.1", port)).expect("TCP"));
        drop(UdpSocket::bind("127.0.0.1:0").expect("the socket of a name look-up"));
        drop(UnixStream::connect_addr(&unix).expect("a Unix socket"));
        drop(server.unix.accept().expect("a client of its own"));
        drop(File::open("/dev/null").expect("a file"));
        assert_eq!(UnixDatagram::unbound().map(drop).map_err(|it| it.kind()), Err(Unsupported));
        assert!(Command::new("/bin/true").status().is_err());
    });
}

#[test]
fn the_last_statement_about_a_call_counts() {
    let read_only = [vec![ArgumentRule::masked(2, libc::O_ACCMODE, libc::O_RDONLY)]];
    in_a_thread(move || {
        let allowed = SyscallAllowlist::of_runtime().with(FILE_CALLS);
        allowed.with_arguments(libc::SYS_openat, read_only).apply().expect("restricted");
        drop(File::open("/dev/null").expect("a file to read"));
        assert!(File::options().write(true).open("/dev/null").is_err());
    });
}

#[test]
fn a_call_without_alternatives_is_denied() {
    let all = SyscallAllowlist::of_runtime();
    let fewer = all.clone().with_arguments(libc::SYS_clone, []);
    assert!(all.numbers().contains(&libc::SYS_clone));
    assert!(!fewer.numbers().contains(&libc::SYS_clone));
}

#[test]
fn an_alternative_without_conditions_is_an_error() {
    in_a_thread(|| {
        let allowed = SyscallAllowlist::of_runtime();
        let error = allowed.with_arguments(libc::SYS_kill, [Vec::new()]).apply();
        let message = error.expect_err("kill(2) would be allowed").to_string();
        assert!(message.starts_with("system call filter: "), "{message}");
        // Nothing was restricted.
        drop(TcpListener::bind("127.0.0.1:0").expect("a socket"));
    });
}

#[test]
fn only_the_named_files_can_be_read() {
    const NAMED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    const OTHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
    in_a_thread(|| {
        let tcp = AccessNet::BindTcp | AccessNet::ConnectTcp;
        let status = restrict_access(tcp, |rules| {
            rules.add_rules(path_beneath_rules([NAMED], AccessFs::ReadFile))
        });
        if status.expect("restricted") == RulesetStatus::NotEnforced {
            return eprintln!("SKIPPED access: this kernel has no Landlock");
        }
        drop(File::open(NAMED).expect("named"));
        assert_eq!(File::open(OTHER).map(drop).map_err(|it| it.kind()), Err(PermissionDenied));
        assert!(File::create("/tmp/toolexec-confinement").is_err());
    });
}
