//! The network of a cell that may reach its proxy: a namespace of its own in which loopback is up, and
//! the one socket that listens there.
//!
//! A cell gets a fresh one, made when it is asked for and given to no other cell: with loopback up, even
//! Landlock's newest ABI leaves UDP between two cells. The launcher needs no right over networks for it:
//! a helper process makes the namespace inside a user namespace of its own, where it has every right.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, socketpair};

use super::Failed;
use super::sockets::open_diag;
use crate::plan::PROXY_PORT;
use crate::report::Layer;
use crate::sys::{self, Fork};
use crate::wire;

/// Connections that wait until the proxy takes them.
const WAITING_MAX: i32 = 64;

pub(super) struct Network {
    /// For the cell's init to move into.
    pub(super) namespace: OwnedFd,
    /// Of that namespace, wherever it is used.
    pub(super) listener: OwnedFd,
    /// Of that namespace too: asks what lies in its sockets.
    pub(super) diag: OwnedFd,
}

impl Network {
    pub(super) fn make() -> Result<Self, Failed> {
        let layer = Layer::Namespaces;
        let (words, fds) = ask_helper()
            .map_err(Failed::without(layer, "make the cell's network"))?
            .ok_or_else(|| Failed::here("make the cell's network: the helper died"))?;
        match <[OwnedFd; 3]>::try_from(fds) {
            Ok([namespace, listener, diag]) => Ok(Self { namespace, listener, diag }),
            Err(_) => Err(refused(&words)),
        }
    }
}

/// What a helper process had to say, and what it sent; it has ended when this returns.
fn ask_helper() -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let (ours, helpers) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    match sys::fork()? {
        Fork::Child => help(&helpers),
        Fork::Parent(pid) => {
            drop(helpers);
            let told = wire::receive(&ours);
            waitpid(Pid::from_raw(pid), Some(WaitPidFlag::__WALL))?;
            told
        }
    }
}

/// What the helper said instead of sending what it had made: an errno.
fn refused(words: &[u8]) -> Failed {
    let errno = words.try_into().map_or(0, i32::from_le_bytes);
    Failed {
        layer: Some(Layer::Namespaces),
        step: "make the cell's network in a user namespace".to_owned(),
        errno,
    }
}

/// The helper's whole life.
fn help(launcher: &OwnedFd) -> ! {
    let said = match made() {
        Ok(Network { namespace, listener, diag }) => {
            wire::send(launcher, b"made", &[namespace.as_fd(), listener.as_fd(), diag.as_fd()])
        }
        Err(error) => wire::send(launcher, &sys::errno_of(&error).to_le_bytes(), &[]),
    };
    std::process::exit(i32::from(said.is_err()))
}

fn made() -> io::Result<Network> {
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
    let namespace = File::open("/proc/self/ns/net")?.into();
    let listener =
        socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sys::bring_loopback_up(listener.as_fd())?;
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    listen(&listener, WAITING_MAX)?;
    Ok(Network { namespace, listener, diag: open_diag()? })
}
