//! One seat's process: waits at the door with everything made that the next cell needs and no order
//! decides, serves one conversation, and ends.
//!
//! It is the only process that reads what a client sends, and it reads for one client only: whatever a
//! client could do to it ends with this process. It must tell by its exit status what it leaves behind,
//! and that nothing is left only when its cell's tree was seen dead, because then the seat is used again.

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

/// How long a client may take to say what it connected for.
const FIRST_WORDS_TIME_MAX: Duration = Duration::from_secs(10);

/// No client waits longer for a sandbox, milliseconds.
const START_MS_MAX: u64 = 3_600_000;

/// What a seat's process leaves behind, told by its exit status; any other status is the worst of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remains {
    Nothing,
    /// Counts in the network namespace, by which a later cell could know of this one.
    NetworkTraces,
    /// A tree that could not be seen to end.
    PerhapsProcesses,
    /// Nothing, and no sandbox could be made: this launcher's view of the host lacks a layer.
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

/// Lives and never returns. `taken` tells the launcher that the next process is needed.
pub(super) fn live(
    options: &Options,
    seat: &Seat,
    house: &House,
    door: &Door,
    taken: impl Fn() -> io::Result<()>,
) -> ! {
    let remains = wait_and_serve(options, seat, house, door, taken).unwrap_or_else(|error| {
        eprintln!("toolexec-launch: {error}");
        Remains::PerhapsProcesses
    });
    std::process::exit(remains.status())
}

/// Tells the next client why there is no cell for anybody, and ends.
pub(super) fn refuse(options: &Options, door: &Door, failed: Failed) -> ! {
    let told = settle_down().and_then(|()| match door.next(options)? {
        Some(control) => tell_unable(&control, failed),
        None => Ok(()),
    });
    if let Err(error) = told {
        eprintln!("toolexec-launch: {error}");
    }
    std::process::exit(0)
}

fn settle_down() -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    Ok(SigSet::all().thread_unblock()?)
}

/// An error is one of this process before it had a shell.
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
            eprintln!("toolexec-launch: a conversation ended badly: {error}");
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

/// A shell, and what limits and counts its tree or why nothing does.
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

/// What the seat's network namespace has counted, as a tool can read it: even calls that fail are counted,
/// and a tool of the next cell could read what this one wrote in them.
fn network_traces() -> io::Result<Vec<Vec<u8>>> {
    const COUNTERS: [&str; 3] = ["snmp", "snmp6", "netstat"];
    let read = |name: &str| match fs::read(format!("/proc/self/net/{name}")) {
        // A kernel without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    };
    COUNTERS.into_iter().map(read).collect()
}

/// What a conversation met.
enum Met {
    Client,
    /// No client's sandbox can be limited here.
    BrokenHost,
}

/// One conversation. An error is the client's or the connection's, and has hurt nobody else.
fn converse(
    options: &Options,
    house: &House,
    shell: &mut Shell,
    knobs: Result<Knobs, Failed>,
    control: &OwnedFd,
) -> io::Result<Met> {
    if !wire::wait_to_receive(control, FIRST_WORDS_TIME_MAX)? {
        return Err(io::Error::other("it said nothing"));
    }
    let asked_at = Instant::now();
    let Some((bytes, mut fds)) = wire::receive(control)? else {
        return Ok(Met::Client);
    };
    let ToLauncher::Prepare(plan, start_ms_max) = ToLauncher::decode(&bytes)? else {
        return Err(io::Error::other("it did not begin with the plan of a cell"));
    };
    let (Some(evidence), true) = (fds.pop(), fds.is_empty()) else {
        return Err(io::Error::other("the plan of a cell did not come with one descriptor"));
    };
    let taken = Evidence::Taken { pid: std::process::id() }.encode();
    if wire::send_at_once(&evidence, &taken, &[]).is_err() {
        // The client has changed its mind: there is no cell to make.
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
    // Less than the client waits, so that it is answered in time.
    let start_ms_max = start_ms_max.min(START_MS_MAX);
    let answer_time_max = Duration::from_millis(start_ms_max - start_ms_max / 8);
    let build_until = asked_at + answer_time_max;
    let lived = network.and_then(|network| {
        let asked = Asked { plan, evidence, network, build_until };
        cell::live_through(options, house, shell, knobs.as_ref(), asked, control)
    });
    let told = lived.or_else(|failed| match tell_unable(control, failed) {
        // A client that is gone need not be told.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        told => told,
    });
    told.map(|()| Met::Client)
}

fn tell_unable(control: &OwnedFd, failed: Failed) -> io::Result<()> {
    let frame = FromLauncher::Unable(failed.into_unable()).encode();
    wire::send_at_once(control.as_fd(), &frame, &[])
}
