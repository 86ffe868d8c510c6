//! Tests of the confinement from inside the process.

use std::fs::File;
use std::io::ErrorKind::{PermissionDenied, Unsupported};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::Command;

use super::*;

/// In its own thread, because the confinement applies to the calling thread.
fn confined(reads: ReadableFiles, check: fn()) {
    let held = std::thread::spawn(move || {
        let confinement = confine(reads).expect("confined");
        if confinement == EgressConfinement::NoNewPrivs {
            return eprintln!("SKIPPED confine: this kernel has no Landlock");
        }
        check();
        if confinement == EgressConfinement::Landlock {
            let bound = TcpListener::bind("127.0.0.1:0").map_err(|error| error.kind());
            assert_eq!(bound.map(drop), Err(PermissionDenied));
        }
    });
    held.join().expect("holds");
}

fn opened(path: &str) -> Result<(), std::io::ErrorKind> {
    File::open(path).map(drop).map_err(|error| error.kind())
}

#[test]
fn without_the_systems_resolver_there_is_no_file() {
    confined(ReadableFiles::Nothing, || {
        for path in ["/etc/hosts", "/", "/proc/self/status", "/dev/null"] {
            assert_eq!(opened(path), Err(PermissionDenied), "{path}");
        }
        assert!(File::create("/tmp/toolexec-egress-confined").is_err());
    });
}

#[test]
fn for_one_run_there_is_what_looking_up_reads_and_nothing_beside_it() {
    confined(ReadableFiles::Files, || {
        assert_eq!(opened("/etc/nsswitch.conf"), Ok(()));
        for path in ["/etc", "/etc/passwd", "/etc/shadow", "/proc/self/status", "/var", "/root"] {
            assert_eq!(opened(path), Err(PermissionDenied), "{path}");
        }
    });
}

#[test]
fn for_many_runs_files_may_be_replaced_and_nothing_is_written() {
    confined(ReadableFiles::Directory, || {
        assert_eq!(opened("/etc/passwd"), Ok(()));
        for path in ["/proc/self/status", "/var", "/usr/bin", "/root"] {
            assert_eq!(opened(path), Err(PermissionDenied), "{path}");
        }
        assert!(File::create("/etc/toolexec-egress-confined").is_err());
    });
}

#[test]
fn there_is_no_unix_socket_and_no_program() {
    confined(ReadableFiles::Files, || {
        let unix = UnixStream::connect("/run/dbus/system_bus_socket").map_err(|it| it.kind());
        assert_eq!(unix.map(drop), Err(Unsupported));
        assert_eq!(UnixDatagram::unbound().map(drop).map_err(|it| it.kind()), Err(Unsupported));
        assert_eq!(UnixDatagram::pair().map(drop).map_err(|it| it.kind()), Err(Unsupported));
        assert!(UnixListener::bind("/tmp/toolexec-egress-confined.sock").is_err());
        assert!(Command::new("/bin/true").status().is_err());
    });
}

#[test]
fn names_are_looked_up_and_dialled_all_the_same() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a server");
    let port = server.local_addr().expect("bound").port();
    let held = std::thread::spawn(move || {
        confine(ReadableFiles::Files).expect("confined");
        // The C library looks it up, in a thread that is started after the confinement.
        let connected = std::thread::spawn(move || TcpStream::connect(("localhost", port)));
        drop(connected.join().expect("no panic").expect("localhost"));
        drop(UdpSocket::bind("127.0.0.1:0").expect("a question's socket"));
        assert!(
            !super::super::own_address::Routes::open()
                .expect("routes")
                .is_own([9, 9, 9, 9].into())
                .expect("told")
        );
    });
    held.join().expect("holds");
}
