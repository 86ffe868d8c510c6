//! The collector walks `/out` and sends each regular file to the daemon as a read-only descriptor.
//! It is a process of its own, forked when the sandbox's tree is dead, with the tool's uid and
//! filters, no capability, Landlock restrictions and a deadline, and outside the sandbox's control
//! group, which the tool may have left full. It checks a type before it opens a file, follows no
//! link, and limits entries, depth and bytes. The daemon trusts nothing that it sends.
//!
//! `out_walk` sends the artifacts, `work_walk` the differences between a folder and its work copy.

mod access;
mod out_walk;
mod same_bytes;
mod sender;
mod tree_object;
mod work_walk;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::prctl;
use nix::sys::signal::Signal;

use super::filter::Filters;
use super::identity::ToolIdentity;
use super::{Failed, confine};
use crate::messages::EvidenceMessage;
use crate::plan::Limits;
use crate::sys::{self, ClonedChild, Fork};
use crate::wire;
use access::open_top;
use out_walk::OutWalk;
use sender::EvidenceSender;
pub(super) use work_walk::WorkOriginal;
use work_walk::WorkWalk;

/// Forks the collector, which ends by itself when it has sent everything.
pub(super) fn fork(
    out: BorrowedFd<'_>,
    work: Option<WorkOriginal<'_>>,
    evidence: &OwnedFd,
    limits: &Limits,
    identity: ToolIdentity,
    mode: model::LauncherMode,
    filters: &Filters,
) -> io::Result<ClonedChild> {
    match sys::clone_process(0)? {
        Fork::Child => {
            let mut read = vec![out];
            read.extend(work.map(|original| original.inputs));
            let collected = give_up_rights(&read, evidence, identity, mode, filters)
                .map_err(|failed| failed.to_string())
                .and_then(|()| {
                    collect(out, work, evidence, limits).map_err(|error| error.to_string())
                });
            if let Err(why) = &collected {
                eprintln!("toolexec-launch: collector: {why}");
            }
            std::process::exit(i32::from(collected.is_err()))
        }
        Fork::Parent(cloned) => Ok(cloned),
    }
}

/// Becomes the tool's user permanently, with only these descriptors open. It may read beneath the
/// directories `read`.
fn give_up_rights(
    read: &[BorrowedFd<'_>],
    evidence: &OwnedFd,
    identity: ToolIdentity,
    mode: model::LauncherMode,
    filters: &Filters,
) -> Result<(), Failed> {
    let mut kept = vec![evidence.as_fd()];
    kept.extend_from_slice(read);
    sys::close_all_but(&kept).map_err(Failed::at("close other descriptors"))?;
    identity.assume(mode, None)?;
    confine::drop_capabilities()?;
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Failed::at("set the parent-death signal"))?;
    prctl::set_no_new_privs().map_err(Failed::at("set no_new_privs"))?;
    confine::landlock_only(read)?;
    filters.load_for_collector()
}

/// Walks `/out` and sends its files, ending with `EvidenceMessage::End`.
fn collect(
    out: BorrowedFd<'_>,
    work: Option<WorkOriginal<'_>>,
    evidence: &OwnedFd,
    limits: &Limits,
) -> io::Result<()> {
    let mut sender = EvidenceSender::new(evidence);
    let complete = match open_top(out) {
        Ok(top) => walk(&top, work, &mut sender, limits)?,
        Err(_) => false,
    };
    sender.end(complete)
}

/// Returns false if a walk had to stop before its end.
fn walk(
    top: &OwnedFd,
    work: Option<WorkOriginal<'_>>,
    sender: &mut EvidenceSender<'_>,
    limits: &Limits,
) -> io::Result<bool> {
    let complete = OutWalk::new(sender, limits, work.is_some()).walk(top)?;
    match work {
        Some(original) if complete => WorkWalk::new(sender, limits).walk(top, original),
        _ => Ok(complete),
    }
}

/// Sends the answer for an empty `/out`. The launcher calls it itself and does not block.
pub(super) fn send_empty(evidence: &OwnedFd) -> io::Result<()> {
    wire::send_at_once(evidence, &EvidenceMessage::End { complete: true }.encode(), &[])
}
