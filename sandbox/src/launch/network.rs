//! The network of a sandbox that may reach its proxy: a namespace of its own with loopback up, and
//! the one socket that listens there. It must never be used by a second sandbox: with loopback up,
//! even the newest Landlock ABI permits UDP between two. The launcher needs no network privileges:
//! a helper process makes the namespace inside a user namespace of its own, where it has all of
//! them.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use model::Layer;
use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, socketpair};
use rustix::process::{Signal, pidfd_send_signal};

use super::Failed;
use super::sockets::open_diag;
use crate::plan::PROXY_PORT;
use crate::process::ends_within;
use crate::sys::{self, Fork};
use crate::wire;

/// Backlog of connections for the proxy.
const WAITING_MAX: i32 = 64;
/// The most time that the helper may take to answer, and then to end.
const HELPER_TIME_MAX: Duration = Duration::from_secs(5);

pub(super) struct ProxyNetwork {
    /// The network namespace, for the sandbox's init to enter.
    pub(super) namespace: OwnedFd,
    /// The listening socket; it belongs to that namespace in every process that uses it.
    pub(super) listener: OwnedFd,
    /// A sock_diag socket of that namespace, which reports the data queued in its sockets.
    pub(super) diag: OwnedFd,
}

impl ProxyNetwork {
    pub(super) fn make() -> Result<Self, Failed> {
        let layer = Layer::Namespaces;
        let (words, fds) = ask_helper()
            .map_err(Failed::without(layer, "make the sandbox's network"))?
            .ok_or_else(|| Failed::here("sandbox network: the helper died"))?;
        match <[OwnedFd; 3]>::try_from(fds) {
            Ok([namespace, listener, diag]) => Ok(Self { namespace, listener, diag }),
            Err(_) => Err(refused(&words)),
        }
    }
}

/// Runs a helper process to its end and returns its message with descriptors.
fn ask_helper() -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let (ours, helpers) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    match sys::clone_process(0)? {
        Fork::Child => help(&helpers),
        Fork::Parent(helper) => {
            drop(helpers);
            let answer = match wire::wait_to_receive(&ours, HELPER_TIME_MAX)? {
                true => wire::receive(&ours),
                false => Err(io::ErrorKind::TimedOut.into()),
            };
            pidfd_send_signal(&helper.pidfd, Signal::KILL).or_else(|errno| match errno {
                Errno::SRCH => Ok(()),
                errno => Err(errno),
            })?;
            // A helper that cannot be killed is left behind: it holds only its own namespaces.
            if ends_within(&helper.pidfd, HELPER_TIME_MAX) {
                waitpid(Pid::from_raw(helper.pid), Some(WaitPidFlag::__WALL))?;
            }
            answer
        }
    }
}

/// Decodes the helper's error: an errno and the step that failed.
fn refused(words: &[u8]) -> Failed {
    let (errno, step) = words.split_first_chunk().unwrap_or((&[0; 4], b"invalid helper answer"));
    Failed {
        layer: Some(Layer::Namespaces),
        step: format!("sandbox network: {}", String::from_utf8_lossy(step)),
        errno: i32::from_le_bytes(*errno),
    }
}

fn help(launcher: &OwnedFd) -> ! {
    let sent = match made() {
        Ok(ProxyNetwork { namespace, listener, diag }) => {
            wire::send(launcher, b"made", &[namespace.as_fd(), listener.as_fd(), diag.as_fd()])
        }
        Err(Failed { step, errno, .. }) => {
            let words: Vec<u8> = errno.to_le_bytes().into_iter().chain(step.into_bytes()).collect();
            wire::send(launcher, &words, &[])
        }
    };
    std::process::exit(i32::from(sent.is_err()))
}

fn made() -> Result<ProxyNetwork, Failed> {
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)
        .map_err(Failed::at("unshare a user and a network namespace"))?;
    let namespace =
        File::open("/proc/self/ns/net").map_err(Failed::at("open the network namespace"))?.into();
    let listener = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(Failed::at("create the listening socket"))?;
    sys::bring_loopback_up(listener.as_fd()).map_err(Failed::at("bring loopback up"))?;
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))
        .map_err(Failed::at("bind the listening socket"))?;
    listen(&listener, WAITING_MAX).map_err(Failed::at("listen for connections"))?;
    let diag = open_diag().map_err(Failed::at("open the sock_diag socket"))?;
    Ok(ProxyNetwork { namespace, listener, diag })
}
