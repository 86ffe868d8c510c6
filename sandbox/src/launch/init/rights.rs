//! Drops every right of init: it becomes the tool's user, without any capability.

use std::fs;
use std::io::{self, Write};

use model::{LauncherMode, Layer};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use super::super::device::ToolDevice;
use super::super::filter::MemoryWatch;
use super::super::identity::ToolIdentity;
use super::super::{Failed, confine};
use super::model::InitContext;
use crate::plan::SandboxSpec;

/// Returns the tool's only supplementary group in system mode: that of its device, if the tool
/// needs it.
pub(super) fn change_identity(
    birth: &InitContext<'_>,
    plan: &SandboxSpec,
) -> Result<Option<u32>, Failed> {
    let device = ToolDevice::of(plan)?;
    let group = device.as_ref().and_then(|device| device.group(birth.mode));
    birth.identity.assume(birth.mode, group)?;
    if birth.mode == LauncherMode::User || birth.memory == MemoryWatch::Sampled {
        own_user_namespace(birth.identity)?;
        confine::drop_bounding_set()?;
    }
    confine::drop_capabilities()?;
    // Changing ids has reset both of these.
    prctl::set_dumpable(false).map_err(Failed::at("make the process undumpable"))?;
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Failed::at("set the parent-death signal"))?;
    if let Some(device) = device {
        device.require_access()?;
    }
    Ok(group)
}

/// Enters a last user namespace after everything is mounted. The tool then owns no other namespace,
/// and RLIMIT_NPROC counts this sandbox only.
fn own_user_namespace(identity: ToolIdentity) -> Result<(), Failed> {
    let layer = Layer::UserNamespace;
    // A process that has changed its ids may not write its own maps until it is dumpable.
    prctl::set_dumpable(true).map_err(Failed::at("make the process dumpable"))?;
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(Failed::without(layer, "unshare the user namespace"))?;
    let ToolIdentity { uid, gid } = identity;
    write_map("setgroups", "deny").map_err(Failed::without(layer, "deny setgroups"))?;
    write_map("uid_map", &format!("{uid} {uid} 1"))
        .map_err(Failed::without(layer, "map the uid"))?;
    write_map("gid_map", &format!("{gid} {gid} 1")).map_err(Failed::without(layer, "map the gid"))
}

fn write_map(name: &str, text: &str) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/self/{name}"))?
        .write_all(text.as_bytes())
}
