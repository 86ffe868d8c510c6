//! The process of one worker slot. It prepares everything that needs no plan, waits at the control
//! socket, serves one session, and ends.
//!
//! Only a worker reads what a client sends, and only from one client: any damage that a client
//! could do ends with this process. Its exit status must report what it leaves behind. It must
//! report that nothing is left only if it saw its sandbox's tree dead, because the slot is then
//! used again.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use model::Layer;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};

use super::cell::{self, Asked};
use super::cgroup::Knobs;
use super::door::Door;
use super::filter::MemoryWatch;
use super::house::House;
use super::network::Network;
use super::options::Options;
use super::shell::Shell;
use super::worker_slot::Seat;
use super::{Failed, view};
use crate::messages::{Evidence, FromLauncher, ToLauncher};
use crate::plan;
use crate::steps::SetupStep;
use crate::wire;

/// The most time that a client may take to send its first message.
const FIRST_WORDS_TIME_MAX: Duration = Duration::from_secs(10);

/// The longest that a client may wait for a sandbox, milliseconds.
const START_MS_MAX: u64 = 3_600_000;

/// The state that a worker leaves behind, as its exit status. Any other status counts as the worst
/// of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remains {
    Nothing,
    /// Counters in the network namespace, from which a later sandbox could learn about this one.
    NetworkTraces,
    /// A tree that was not seen to end.
    PerhapsProcesses,
    /// Nothing, but no sandbox could be made: this launcher's view of the host lacks a layer.
    BrokenHost,
}

impl Remains {
    fn status(self) -> i32 {
        match self {
            Self::Nothing => 0,
            Self::PerhapsProcesses => 1,
            Self::NetworkTraces => 2,
            Self::BrokenHost => 3,
        }
    }

    pub(super) fn of_status(status: i32) -> Self {
        match status {
            0 => Self::Nothing,
            2 => Self::NetworkTraces,
            3 => Self::BrokenHost,
            _ => Self::PerhapsProcesses,
        }
    }
}

/// Runs the worker and never returns. A write to `taken` asks the launcher for another worker.
pub(super) fn live(
    options: &Options,
    seat: &Seat,
    house: &House,
    door: &Door,
    taken: impl Fn() -> io::Result<()>,
) -> ! {
    let remains = wait_and_serve(options, seat, house, door, taken).unwrap_or_else(|error| {
        eprintln!("toolexec-launch: worker: {error}");
        Remains::PerhapsProcesses
    });
    std::process::exit(remains.status())
}

/// Reports to the next client why no sandbox can be made, and ends.
pub(super) fn refuse(options: &Options, door: &Door, failed: Failed) -> ! {
    let told = settle_down().and_then(|()| match door.next(options)? {
        Some(control) => tell_unable(&control, failed),
        None => Ok(()),
    });
    if let Err(error) = told {
        eprintln!("toolexec-launch: worker: {error}");
    }
    std::process::exit(0)
}

fn settle_down() -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    Ok(SigSet::all().thread_unblock()?)
}

/// Waits for a session and serves it. An error is one of this process before its sandbox's init
/// existed.
fn wait_and_serve(
    options: &Options,
    seat: &Seat,
    house: &House,
    door: &Door,
    taken: impl Fn() -> io::Result<()>,
) -> io::Result<Remains> {
    settle_down()?;
    let raised = raise_shell(options, seat, house);
    let traces = network_traces();
    SetupStep::end();
    let Some(control) = door.next(options)? else {
        return Ok(Remains::Nothing);
    };
    taken()?;
    let (mut shell, knobs) = match raised {
        Ok(raised) => raised,
        Err(failed) => {
            let remains = match failed.layer {
                Some(_) => Remains::BrokenHost,
                None => Remains::Nothing,
            };
            tell_unable(&control, failed)?;
            return Ok(remains);
        }
    };
    let broken = match converse(options, house, &mut shell, knobs, &control) {
        Ok(Met::BrokenHost) => true,
        Ok(Met::Client) => false,
        Err(error) => {
            eprintln!("toolexec-launch: session: {error}");
            false
        }
    };
    if !shell.end() {
        return Ok(Remains::PerhapsProcesses);
    }
    if broken {
        return Ok(Remains::BrokenHost);
    }
    Ok(match (traces, network_traces()) {
        (Ok(before), Ok(after)) if before == after => Remains::Nothing,
        _ => Remains::NetworkTraces,
    })
}

/// A sandbox's init, with its control group or the reason why it has none.
type Raised = (Shell, Result<Knobs, Failed>);

fn raise_shell(options: &Options, seat: &Seat, house: &House) -> Result<Raised, Failed> {
    SetupStep::Namespaces.begin();
    let layer = Layer::Namespaces;
    setns(&seat.network, CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(layer, "enter the network namespace"))?;
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS)
        .map_err(Failed::without(layer, "unshare mounts, IPC and host name"))?;
    nix::unistd::sethostname("tool-exec").map_err(Failed::at("set the host name"))?;
    SetupStep::MakeCgroups.begin();
    let group = match &house.cgroups {
        Ok(home) => home.make_group(),
        Err(failed) => Err(failed.clone()),
    };
    let memory = if group.is_ok() { MemoryWatch::Kernel } else { MemoryWatch::Sampled };
    SetupStep::BaseMounts.begin();
    view::lay_foundation(seat.identity, memory)?;
    SetupStep::StartInit.begin();
    Shell::raise(options.mode, seat.identity, house, group)
}

/// Reads the counters of the slot's network namespace that a tool can read. Even failing calls are
/// counted, so a tool could leave a message in them for the next sandbox.
fn network_traces() -> io::Result<Vec<Vec<u8>>> {
    const COUNTERS: [&str; 3] = ["snmp", "snmp6", "netstat"];
    let read = |name: &str| match fs::read(format!("/proc/self/net/{name}")) {
        // A kernel without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    };
    COUNTERS.into_iter().map(read).collect()
}

/// The result of a session.
enum Met {
    Client,
    /// This host lacks a layer for every client.
    BrokenHost,
}

/// Serves one session. An error concerns only this client or its connection.
fn converse(
    options: &Options,
    house: &House,
    shell: &mut Shell,
    knobs: Result<Knobs, Failed>,
    control: &OwnedFd,
) -> io::Result<Met> {
    if !wire::wait_to_receive(control, FIRST_WORDS_TIME_MAX)? {
        return Err(io::Error::other("timed out before the first message"));
    }
    let asked_at = Instant::now();
    let Some((bytes, mut fds)) = wire::receive(control)? else {
        return Ok(Met::Client);
    };
    let ToLauncher::Prepare(plan, start_ms_max) = ToLauncher::decode(&bytes)? else {
        return Err(io::Error::other("the first message is not a sandbox spec"));
    };
    let (Some(evidence), true) = (fds.pop(), fds.is_empty()) else {
        return Err(io::Error::other("sandbox spec: expected one descriptor"));
    };
    let taken = Evidence::Taken { pid: std::process::id() }.encode();
    if wire::send_at_once(&evidence, &taken, &[]).is_err() {
        // The client has disconnected: no sandbox is needed.
        return Ok(Met::Client);
    }
    if let Err(failed) = options.check_cell(&plan) {
        return tell_unable(control, failed).map(|()| Met::Client);
    }
    let knobs = match options.without_cgroup(&plan, knobs) {
        Ok(knobs) => knobs,
        Err(failed) => return tell_unable(control, failed).map(|()| Met::BrokenHost),
    };
    let network = match plan.network {
        plan::Network::Nothing => Ok(None),
        plan::Network::Proxy => {
            SetupStep::MakeNetwork.begin();
            Network::make().map(Some)
        }
    };
    // Shorter than the client's own limit, so that it is answered in time.
    let start_ms_max = start_ms_max.min(START_MS_MAX);
    let answer_time_max = Duration::from_millis(start_ms_max - start_ms_max / 8);
    let build_until = asked_at + answer_time_max;
    let lived = network.and_then(|network| {
        let asked = Asked { plan, evidence, network, build_until };
        cell::live_through(options, house, shell, knobs.as_ref(), asked, control)
    });
    let told = lived.or_else(|failed| match tell_unable(control, failed) {
        // A client that is gone needs no report.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        told => told,
    });
    told.map(|()| Met::Client)
}

fn tell_unable(control: &OwnedFd, failed: Failed) -> io::Result<()> {
    let frame = FromLauncher::Unable(failed.into_unable()).encode();
    wire::send_at_once(control.as_fd(), &frame, &[])
}
