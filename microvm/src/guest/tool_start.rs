//! The process that becomes the tool. It has one thread, and keeps no descriptor but the tool's
//! three.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Gid, Uid, chdir, chroot, setgroups, setresgid, setresuid, setsid};

use super::cgroup;
use super::failure::InitFailure;
use super::mounts::{TOOL_ID, TOOL_ROOT};

const CANNOT_START: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Becomes the tool, or returns the status that a shell would have.
pub(super) fn become_tool(argv: Vec<OsString>) -> ExitCode {
    let Some((program, arguments)) = argv.split_first() else {
        return refuse(CANNOT_START, "no program");
    };
    if let Err(failure) = give_up_rights() {
        return refuse(CANNOT_START, &failure.to_string());
    }
    let error = Command::new(program).args(arguments).exec();
    let missing = error.kind() == io::ErrorKind::NotFound;
    let status = if missing { NOT_FOUND } else { CANNOT_START };
    refuse(status, &format!("{}: {error}", program.display()))
}

fn give_up_rights() -> Result<(), InitFailure> {
    let (user, group) = (Uid::from_raw(TOOL_ID), Gid::from_raw(TOOL_ID));
    cgroup::enter().map_err(InitFailure::at("control group"))?;
    setsid().map_err(InitFailure::at("setsid"))?;
    chroot(TOOL_ROOT).map_err(InitFailure::at("chroot"))?;
    chdir("/in").map_err(InitFailure::at("/in"))?;
    // Pid 1 has none, for the modes of its device nodes.
    umask(Mode::S_IWGRP | Mode::S_IWOTH);
    setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(InitFailure::at("setrlimit"))?;
    setgroups(&[]).map_err(InitFailure::at("setgroups"))?;
    setresgid(group, group, group).map_err(InitFailure::at("setresgid"))?;
    setresuid(user, user, user).map_err(InitFailure::at("setresuid"))?;
    prctl::set_no_new_privs().map_err(InitFailure::at("no_new_privs"))
}

fn refuse(status: u8, why: &str) -> ExitCode {
    drop(writeln!(io::stderr(), "toolexec-guest-init: {why}"));
    ExitCode::from(status)
}
