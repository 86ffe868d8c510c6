//! The tool's process from its start to the death of its tree, as pid 1 of the sandbox sees it.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{WaitOptions, wait};

use super::super::{Failed, confine};
use super::model::{InitContext, ToolStreams};
use crate::messages::{ToInit, ToolReport};
use crate::outcome::ToolEnd;
use crate::plan::ExecSpec;
use crate::report::Accounting;
use crate::sys;
use crate::wire;

pub(super) fn start_tool(
    birth: &InitContext<'_>,
    binary: &Path,
    order: &ExecSpec,
    streams: ToolStreams,
) -> Result<Pid, Failed> {
    let execute = || -> io::Result<libc::pid_t> {
        let word = |text: &[u8]| CString::new(text).map_err(io::Error::other);
        let path = word(binary.as_os_str().as_bytes())?;
        let argv = order.argv.iter().map(|w| word(w.as_bytes())).collect::<io::Result<Vec<_>>>()?;
        let variable =
            |(name, value): &(String, String)| word(format!("{name}={value}").as_bytes());
        let env = order.env.iter().map(variable).collect::<io::Result<Vec<_>>>()?;
        let null = File::open("/dev/null")?;
        let become_tool = || become_tool(birth, order, &null, &streams);
        sys::vfork_exec(&become_tool, &path, &argv, &env)
    };
    execute().map(Pid::from_raw).map_err(Failed::at(&format!("execute {}", binary.display())))
}

/// Our last code in the tool's process. It shares init's memory and must not change it.
fn become_tool(
    birth: &InitContext<'_>,
    order: &ExecSpec,
    null: &File,
    streams: &ToolStreams,
) -> io::Result<()> {
    rustix::process::setsid()?;
    let directory = if order.work.is_some() { "/out/work" } else { "/in" };
    rustix::process::chdir(directory)?;
    nix::unistd::dup2_stdin(null)?;
    nix::unistd::dup2_stdout(&streams.stdout)?;
    nix::unistd::dup2_stderr(&streams.stderr)?;
    sys::close_on_exec_from(3)?;
    confine::exec_rlimits(&order.limits, birth.mode, birth.memory)?;
    sys::reset_signals(&birth.base_root.ignored_signals);
    Ok(())
}

/// The end of the tool, as its init saw it.
pub(super) struct TreeEnd {
    end: ToolEnd,
    /// Number of processes alive until then.
    processes_last: u32,
    timed_out: bool,
}

/// Reaps until the tool has ended, the launcher sends `Kill`, the daemon has closed `lifeline`, or
/// `kill_at` has passed; then kills what is left of the tree. This must work even if launcher and daemon are stuck.
pub(super) fn wait_for_tool(
    birth: &InitContext<'_>,
    tool: Pid,
    (children, lifeline): (&SignalFd, &OwnedFd),
    kill_at: Option<Instant>,
) -> Result<TreeEnd, Failed> {
    let mut ended = ReapResult::default();
    let mut timed_out = false;
    while ended.end.is_none() {
        let mut waited = [
            PollFd::new(&birth.channel, PollFlags::IN),
            PollFd::new(children, PollFlags::IN),
            PollFd::new(lifeline, PollFlags::empty()),
        ];
        let left = kill_at.map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut waited, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno).map_err(Failed::at("wait for the tool")),
        }
        timed_out = kill_at.is_some_and(|at| Instant::now() >= at);
        let daemon_gone = !waited[2].revents().is_empty();
        let channel_events = waited[0].revents();
        while children.read_signal().map_err(Failed::at("watch children"))?.is_some() {}
        ended = reap(tool, WaitOptions::NOHANG)?;
        // `Kill`, or the launcher is gone: the tree ends now in both cases. The frame must be read:
        // closing the socket with it unread would appear as an error at the other end.
        if !channel_events.is_empty() {
            if let Ok(Some((bytes, _))) = wire::receive(&birth.channel)
                && ToInit::decode(&bytes) != Ok(ToInit::Kill)
            {
                eprintln!("toolexec-launch: sandbox init: unexpected message from the launcher");
            }
            break;
        }
        if daemon_gone || timed_out {
            break;
        }
    }
    timed_out &= ended.end.is_none();
    // Every process of the namespace descends from a child of its init.
    let last = if ended.none_left { ReapResult::default() } else { kill_all(tool)? };
    let unknown = || Failed { layer: None, step: "tool: not reaped".into(), errno: 0 };
    let processes_last = last.count + u32::from(ended.end.is_some());
    Ok(TreeEnd { end: ended.end.or(last.end).ok_or_else(unknown)?, processes_last, timed_out })
}

/// Kills and reaps every other process of the namespace.
fn kill_all(tool: Pid) -> Result<ReapResult, Failed> {
    // One call for all: the kernel holds the task list while it signals, so no fork escapes.
    match kill(Pid::from_raw(-1), Signal::SIGKILL) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
        Err(errno) => return Err(errno).map_err(Failed::at("kill the process tree")),
    }
    reap(tool, WaitOptions::empty())
}

#[derive(Default)]
struct ReapResult {
    count: u32,
    /// The tool's own end, if it is among them.
    end: Option<ToolEnd>,
    /// True if the process has no child any more.
    none_left: bool,
}

/// Waits for every child (with NOHANG, every ended one), even clones with another exit signal.
fn reap(tool: Pid, options: WaitOptions) -> Result<ReapResult, Failed> {
    let options = options | WaitOptions::from_bits_retain(libc::__WALL.unsigned_abs());
    let mut reaped = ReapResult::default();
    loop {
        let (pid, status) = match wait(options) {
            Ok(Some(ended)) => ended,
            Ok(None) => return Ok(reaped),
            Err(rustix::io::Errno::CHILD) => return Ok(ReapResult { none_left: true, ..reaped }),
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno).map_err(Failed::at("reap a process")),
        };
        reaped.count += 1;
        if pid.as_raw_nonzero().get() != tool.as_raw() {
            continue;
        }
        let small = |number: i32| u8::try_from(number & 0xff).unwrap_or(u8::MAX);
        // wait(2): bit 7 of the raw status is the core dump flag.
        let core_dumped = status.as_raw() & 0x80 != 0;
        reaped.end = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(ToolEnd::Exited(small(code))),
            (_, Some(signal)) => Some(ToolEnd::Signaled { signal: small(signal), core_dumped }),
            _ => reaped.end,
        };
    }
}

/// Reads the values that are visible only from inside, after the tree is dead.
pub(super) fn final_counts(ended: TreeEnd) -> ToolReport {
    let TreeEnd { end, processes_last, timed_out } = ended;
    let mut accounting = Accounting::default();
    if let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) {
        let count = |n: i64| u64::try_from(n).ok();
        accounting.cpu_user_us = count(usage.user_time().num_microseconds());
        accounting.cpu_system_us = count(usage.system_time().num_microseconds());
        accounting.switches_voluntary = count(usage.voluntary_context_switches());
        accounting.switches_forced = count(usage.involuntary_context_switches());
        accounting.blocks_in = count(usage.block_reads());
        accounting.blocks_out = count(usage.block_writes());
    }
    ToolReport { end, accounting, processes_last, timed_out }
}
