//! The messages that init receives from its launcher: a plan, perhaps a folder to copy, then a
//! command. `None` means that the launcher closed the channel, or that the sandbox must end.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};

use super::super::Failed;
use super::model::{InitContext, ReceivedPlan};
use super::work_copy::copy_folder;
use crate::messages::{FromInit, ToInit};
use crate::plan::{ExecSpec, SandboxNetwork};
use crate::wire;

fn receive(birth: &InitContext<'_>) -> Result<Option<(ToInit, Vec<OwnedFd>)>, Failed> {
    let received =
        wire::receive(&birth.channel).map_err(Failed::at("receive from the launcher"))?;
    let Some((bytes, fds)) = received else {
        return Ok(None);
    };
    match ToInit::decode(&bytes) {
        Ok(ToInit::Kill) => Ok(None),
        Ok(verb) => Ok(Some((verb, fds))),
        Err(error) => Err(io::Error::from(error)).map_err(Failed::at("receive from the launcher")),
    }
}

pub(super) fn receive_plan(birth: &InitContext<'_>) -> Result<Option<ReceivedPlan>, Failed> {
    let (plan, runtime_mounts, fds) = match receive(birth)? {
        None => return Ok(None),
        Some((ToInit::Plan(plan, runtime_mounts), fds)) => (plan, runtime_mounts, fds),
        Some(_) => return Err(Failed::here("launcher: unexpected message")),
    };
    let mut fds = fds.into_iter();
    let missing = || Failed::here("sandbox spec: a descriptor is missing");
    let (evidence, inputs) = (fds.next().ok_or_else(missing)?, fds.next().ok_or_else(missing)?);
    let network = match plan.network {
        SandboxNetwork::Nothing => None,
        SandboxNetwork::Proxy => Some(fds.next().ok_or_else(missing)?),
    };
    Ok(Some(ReceivedPlan { plan, runtime_mounts, evidence, inputs, network, trees: fds.collect() }))
}

/// Waits for the command, and copies the folder that the launcher names before, if any. `lifeline`
/// is the socket to the daemon: without the daemon no command will come, even if the launcher
/// cannot report that.
pub(super) fn receive_exec(
    birth: &InitContext<'_>,
    lifeline: &OwnedFd,
) -> Result<Option<Box<ExecSpec>>, Failed> {
    loop {
        if !wait_for_message(birth, lifeline)? {
            return Ok(None);
        }
        match receive(birth)? {
            None => return Ok(None),
            Some((ToInit::Go(order), _)) => return Ok(Some(order)),
            Some((ToInit::CopyWork(folder), _)) => {
                copy_folder(&folder)?;
                wire::send(&birth.channel, &FromInit::WorkCopied.encode(), &[])
                    .map_err(Failed::at("report the copy of the folder"))?;
            }
            Some(_) => return Err(Failed::here("launcher: unexpected message")),
        }
    }
}

/// Returns false if the daemon is gone.
fn wait_for_message(birth: &InitContext<'_>, lifeline: &OwnedFd) -> Result<bool, Failed> {
    loop {
        let mut waited =
            [PollFd::new(&birth.channel, PollFlags::IN), PollFd::new(lifeline, PollFlags::empty())];
        match poll(&mut waited, None) {
            Ok(_) => return Ok(waited[1].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno).map_err(Failed::at("wait for the command")),
        }
    }
}
