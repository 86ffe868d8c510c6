//! A sandbox's init in its namespaces and control groups, started before its command is known. It
//! must never serve a second sandbox. No process of its tree outlives it, and its groups are
//! removed when the tree is dead.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use model::{LauncherMode, Layer};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Signal, pidfd_send_signal};

use super::Failed;
use super::base_root::BaseRoot;
use super::cgroup::{ControlGroup, Knobs};
use super::filter::MemoryWatch;
use super::identity::ToolIdentity;
use super::init::{InitContext, run_init};
use crate::process::{ProcessState, ends_within};
use crate::sys::{self, ClonedChild, Fork};

/// The most time that init may take to end.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// The interval between checks of a group that should be empty.
const EMPTY_CHECK_INTERVAL: Duration = Duration::from_millis(1);

pub(super) struct SandboxProcess {
    cloned: ClonedChild,
    /// The socket to init.
    pub(super) channel: OwnedFd,
    pub(super) identity: ToolIdentity,
    pub(super) mode: LauncherMode,
    /// Removed when the tree is dead.
    group: Option<ControlGroup>,
    state: InitState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InitState {
    Alive,
    Ended,
    /// Killed, but not seen to end.
    Unknown,
}

impl SandboxProcess {
    /// Starts init. Returns it with the control group's files, or the reason why it has no group.
    pub(super) fn start(
        mode: LauncherMode,
        identity: ToolIdentity,
        base_root: &BaseRoot,
        group: Result<ControlGroup, Failed>,
    ) -> Result<(Self, Result<Knobs, Failed>), Failed> {
        let (group, knobs, procs_files) = match group {
            Ok(group) => {
                let knobs = group
                    .knobs()
                    .map_err(Failed::without(Layer::Cgroup, "open the limit files"))?;
                let procs_files = group.procs_files()?;
                (Some(group), Ok(knobs), procs_files)
            }
            Err(failed) => (None, Err(failed), Vec::new()),
        };
        let pair =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (channel, inits_channel) = pair.map_err(Failed::at("create a socket pair"))?;
        let namespaces = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
        let cloned = match group.as_ref().and_then(ControlGroup::clone_target) {
            Some(group) => sys::clone_process_into(namespaces, group)
                .map_err(no_clone(Layer::Cgroup, "clone the sandbox's init into its cgroup")),
            None => sys::clone_process(namespaces)
                .map_err(no_clone(Layer::Namespaces, "clone the sandbox's init")),
        };
        let memory = if knobs.is_ok() { MemoryWatch::Kernel } else { MemoryWatch::Sampled };
        match cloned? {
            Fork::Child => run_init(
                InitContext { mode, identity, base_root, channel: inits_channel, memory },
                procs_files,
            ),
            Fork::Parent(cloned) => {
                let life = InitState::Alive;
                Ok((Self { cloned, channel, identity, mode, group, state: life }, knobs))
            }
        }
    }

    /// Returns init's pid in the launcher's namespace.
    pub(super) fn init(&self) -> Pid {
        Pid::from_raw(self.cloned.pid)
    }

    /// Returns a descriptor that becomes readable when init has ended.
    pub(super) fn pidfd(&self) -> &OwnedFd {
        &self.cloned.pidfd
    }

    /// Kills the tree through its group, and through init, with which its pid namespace ends.
    pub(super) fn kill(&self) {
        if let Some(group) = &self.group
            && let Err(error) = group.kill()
        {
            eprintln!("toolexec-launch: sandbox cgroup: cannot be killed: {error}");
        }
        self.kill_init();
    }

    fn kill_init(&self) {
        match pidfd_send_signal(&self.cloned.pidfd, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(errno) => eprintln!("toolexec-launch: sandbox init: cannot be killed: {errno}"),
        }
    }

    /// Waits until init and its pid namespace have ended and its groups are empty; false if unseen.
    pub(super) fn end(&mut self) -> bool {
        if self.state == InitState::Alive {
            // An init that has sent its report ends by itself; any other has nothing left to do.
            self.kill_init();
            let ended = self.wait_and_reap() && self.is_empty();
            self.state = if ended { InitState::Ended } else { InitState::Unknown };
        }
        self.state == InitState::Ended
    }

    /// Waits until the groups are empty. The end of the pid namespace already implies it; this
    /// check of the kernel's second source must not be skipped.
    fn is_empty(&self) -> bool {
        let Some(group) = &self.group else { return true };
        let deadline = Instant::now() + END_TIME_MAX;
        loop {
            match group.tasks() {
                Ok(0) => return true,
                Ok(_) if Instant::now() < deadline => {}
                Ok(left) => {
                    eprintln!("toolexec-launch: sandbox cgroup: {left} tasks are left");
                    return false;
                }
                Err(error) => {
                    eprintln!("toolexec-launch: sandbox cgroup: cannot count its tasks: {error}");
                    return false;
                }
            }
            self.kill();
            std::thread::sleep(EMPTY_CHECK_INTERVAL);
        }
    }

    fn wait_and_reap(&self) -> bool {
        if !ends_within(&self.cloned.pidfd, END_TIME_MAX) {
            let state = ProcessState::read(self.cloned.pid.unsigned_abs());
            let state = state.map_or_else(String::new, |it| format!(": {it}"));
            eprintln!("toolexec-launch: sandbox init: cannot be killed{state}");
            return false;
        }
        match waitpid(self.init(), Some(WaitPidFlag::__WALL)) {
            Ok(_) => true,
            Err(errno) => {
                eprintln!("toolexec-launch: sandbox init: cannot be reaped: {errno}");
                false
            }
        }
    }
}

/// Builds the error of a clone. A host that is short of memory or processes still has namespaces.
fn no_clone(layer: Layer, step: &str) -> impl FnOnce(std::io::Error) -> Failed {
    move |error| match sys::errno_of(&error) {
        libc::EPERM | libc::EINVAL | libc::ENOSYS | libc::ENOSPC | libc::EUSERS => {
            Failed::without(layer, step)(error)
        }
        _ => Failed::at(step)(error),
    }
}

impl Drop for SandboxProcess {
    /// Runs before the group is dropped, which cannot be removed while it contains processes.
    fn drop(&mut self) {
        self.end();
    }
}
