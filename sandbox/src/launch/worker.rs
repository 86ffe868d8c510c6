//! The process of one worker slot. It prepares everything that needs no plan, waits at the control
//! socket, serves one session, and ends. Only a worker reads what a client sends, and only from one
//! client, so that any damage ends with this process. Its exit status must report what it leaves
//! behind: nothing, only if it saw its sandbox's tree dead, because the slot is then used again.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use model::Layer;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};

use super::base_root::BaseRoot;
use super::cgroup::Knobs;
use super::control_socket::ControlSocket;
use super::filter::MemoryWatch;
use super::network::ProxyNetwork;
use super::options::Options;
use super::sandbox_process::SandboxProcess;
use super::supervisor::{self, SessionRequest};
use super::worker_slot::WorkerSlot;
use super::{Failed, view};
use crate::messages::{EvidenceMessage, FromLauncher, ToLauncher};
use crate::plan;
use crate::steps::SetupStep;
use crate::wire;

/// The most time that a client may take to send its first message.
const FIRST_MESSAGE_TIME_MAX: Duration = Duration::from_secs(10);

/// The longest that a client may wait for a sandbox, milliseconds.
const START_MS_MAX: u64 = 3_600_000;

/// The state that a worker leaves behind, as its exit status; any other status is the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CleanupState {
    Nothing,
    /// Counters in the network namespace, from which a later sandbox could learn about this one.
    NetworkCounters,
    /// A tree that was not seen to end.
    MaybeProcesses,
    /// Nothing, but no sandbox could be made: this launcher's view of the host lacks a layer.
    BrokenHost,
}

impl CleanupState {
    fn status(self) -> i32 {
        match self {
            Self::Nothing => 0,
            Self::MaybeProcesses => 1,
            Self::NetworkCounters => 2,
            Self::BrokenHost => 3,
        }
    }

    pub(super) fn of_status(status: i32) -> Self {
        match status {
            0 => Self::Nothing,
            2 => Self::NetworkCounters,
            3 => Self::BrokenHost,
            _ => Self::MaybeProcesses,
        }
    }
}

/// Runs the worker and never returns. A write to `taken` asks the launcher for another worker.
pub(super) fn run_worker(
    options: &Options,
    slot: &WorkerSlot,
    base_root: &BaseRoot,
    control_socket: &ControlSocket,
    taken: impl Fn() -> io::Result<()>,
) -> ! {
    let cleanup =
        wait_and_serve(options, slot, base_root, control_socket, taken).unwrap_or_else(|error| {
            eprintln!("toolexec-launch: worker: {error}");
            CleanupState::MaybeProcesses
        });
    std::process::exit(cleanup.status())
}

/// Reports to the next client why no sandbox can be made, and ends.
pub(super) fn refuse(options: &Options, control_socket: &ControlSocket, failed: Failed) -> ! {
    let sent = set_up_signals().and_then(|()| match control_socket.next(options)? {
        Some(control) => send_failure(&control, failed),
        None => Ok(()),
    });
    if let Err(error) = sent {
        eprintln!("toolexec-launch: worker: {error}");
    }
    std::process::exit(0)
}

fn set_up_signals() -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    Ok(SigSet::all().thread_unblock()?)
}

/// Waits for a session and serves it. An error is one before the sandbox's init existed.
fn wait_and_serve(
    options: &Options,
    slot: &WorkerSlot,
    base_root: &BaseRoot,
    control_socket: &ControlSocket,
    taken: impl Fn() -> io::Result<()>,
) -> io::Result<CleanupState> {
    set_up_signals()?;
    let raised = start_sandbox_process(options, slot, base_root);
    SetupStep::end();
    let Some(control) = control_socket.next(options)? else {
        return Ok(CleanupState::Nothing);
    };
    taken()?;
    let (mut shell, knobs) = match raised {
        Ok(raised) => raised,
        Err(failed) => {
            let cleanup = match failed.layer {
                Some(_) => CleanupState::BrokenHost,
                None => CleanupState::Nothing,
            };
            send_failure(&control, failed)?;
            return Ok(cleanup);
        }
    };
    let broken = match serve_session(options, base_root, &mut shell, knobs, &control) {
        Ok(SessionResult::BrokenHost) => true,
        Ok(SessionResult::Served) => false,
        Err(error) => {
            eprintln!("toolexec-launch: session: {error}");
            false
        }
    };
    if !shell.end() {
        return Ok(CleanupState::MaybeProcesses);
    }
    if broken {
        return Ok(CleanupState::BrokenHost);
    }
    Ok(match slot.network.is_new() {
        true => CleanupState::Nothing,
        false => CleanupState::NetworkCounters,
    })
}

/// A sandbox's init, with its control group or the reason why it has none.
type StartedInit = (SandboxProcess, Result<Knobs, Failed>);

fn start_sandbox_process(
    options: &Options,
    slot: &WorkerSlot,
    base_root: &BaseRoot,
) -> Result<StartedInit, Failed> {
    SetupStep::Namespaces.begin();
    let layer = Layer::Namespaces;
    setns(&slot.network.namespace, CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(layer, "enter the network namespace"))?;
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS)
        .map_err(Failed::without(layer, "unshare mounts, IPC and host name"))?;
    nix::unistd::sethostname("tool-exec").map_err(Failed::at("set the host name"))?;
    SetupStep::MakeCgroups.begin();
    if base_root.sweep_due {
        base_root.sweep_groups();
    }
    let group = match &base_root.cgroups {
        Ok(home) => home.make_group(),
        Err(failed) => Err(failed.clone()),
    };
    let memory = if group.is_ok() { MemoryWatch::Kernel } else { MemoryWatch::Sampled };
    SetupStep::BaseMounts.begin();
    view::build_base(slot.identity, memory)?;
    SetupStep::StartInit.begin();
    SandboxProcess::start(options.mode, slot.identity, base_root, group)
}

enum SessionResult {
    Served,
    /// This host lacks a layer for every client.
    BrokenHost,
}

/// Serves one session. An error concerns only this client or its connection.
fn serve_session(
    options: &Options,
    base_root: &BaseRoot,
    shell: &mut SandboxProcess,
    knobs: Result<Knobs, Failed>,
    control: &OwnedFd,
) -> io::Result<SessionResult> {
    if !wire::wait_to_receive(control, FIRST_MESSAGE_TIME_MAX)? {
        return Err(io::Error::other("timed out before the first message"));
    }
    let received_at = Instant::now();
    let Some((bytes, mut fds)) = wire::receive(control)? else {
        return Ok(SessionResult::Served);
    };
    let ToLauncher::Prepare(plan, start_ms_max) = ToLauncher::decode(&bytes)? else {
        return Err(io::Error::other("the first message is not a sandbox spec"));
    };
    let (Some(evidence), true) = (fds.pop(), fds.is_empty()) else {
        return Err(io::Error::other("sandbox spec: expected one descriptor"));
    };
    let taken = EvidenceMessage::Worker { pid: std::process::id() }.encode();
    if wire::send_at_once(&evidence, &taken, &[]).is_err() {
        // The client has disconnected: no sandbox is needed.
        return Ok(SessionResult::Served);
    }
    if let Err(failed) = options.check_sandbox(&plan) {
        return send_failure(control, failed).map(|()| SessionResult::Served);
    }
    let knobs = match options.without_cgroup(&plan, knobs) {
        // The kernel's memory for a virtual machine cannot be sampled.
        Ok(None) if plan.device != plan::SandboxDevice::Nothing => {
            let failed = Failed::here("/dev/kvm: no control group counts its memory on this host");
            return send_failure(control, failed).map(|()| SessionResult::Served);
        }
        Ok(knobs) => knobs,
        Err(failed) => return send_failure(control, failed).map(|()| SessionResult::BrokenHost),
    };
    let network = match plan.network {
        plan::SandboxNetwork::Nothing => Ok(None),
        plan::SandboxNetwork::Proxy => {
            SetupStep::MakeNetwork.begin();
            ProxyNetwork::make().map(Some)
        }
    };
    // Shorter than the client's own limit, so that it is answered in time.
    let start_ms_max = start_ms_max.min(START_MS_MAX);
    let answer_time_max = Duration::from_millis(start_ms_max - start_ms_max / 8);
    let build_until = received_at + answer_time_max;
    let lived = network.and_then(|network| {
        let request = SessionRequest { plan, evidence, network, build_until };
        supervisor::serve_session(options, base_root, shell, knobs.as_ref(), request, control)
    });
    let sent = lived.or_else(|failed| match send_failure(control, failed) {
        // A client that is gone needs no report.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    });
    sent.map(|()| SessionResult::Served)
}

fn send_failure(control: &OwnedFd, failed: Failed) -> io::Result<()> {
    let frame = FromLauncher::SetupFailed(failed.into_unable()).encode();
    wire::send_at_once(control.as_fd(), &frame, &[])
}
