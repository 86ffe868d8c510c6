//! One seat's process: waits at the door with everything made that the next cell needs and no order
//! decides, serves one conversation, and ends.
//!
//! It is the only process that reads what a client sends, and it reads for one client only: whatever a
//! client could do to it ends with this process. It must end with status 0 only when its cell's tree is
//! dead and nothing of it is left, because then the seat is used again.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};

use super::cell::{self, Asked, Remains};
use super::cgroup::Knobs;
use super::door::Door;
use super::house::House;
use super::network::Network;
use super::options::Options;
use super::shell::Shell;
use super::zygote::Seat;
use super::{Failed, view};
use crate::frame::{FromLauncher, ToLauncher};
use crate::plan;
use crate::report::Layer;
use crate::wire;

/// A shell, and what limits and counts its tree or why nothing does.
type Raised = (Shell, Result<Knobs, Failed>);

/// Lives and never returns. `taken` tells the launcher that the next process is needed.
pub(super) fn live(
    options: &Options,
    seat: &Seat,
    house: &Result<House, Failed>,
    door: &Door,
    taken: impl Fn() -> io::Result<()>,
) -> ! {
    let status = match wait_and_serve(options, seat, house, door, taken) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("toolexec-launch: {error}");
            1
        }
    };
    std::process::exit(status)
}

fn wait_and_serve(
    options: &Options,
    seat: &Seat,
    house: &Result<House, Failed>,
    door: &Door,
    taken: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    SigSet::all().thread_unblock()?;
    let shell = match house {
        Ok(house) => raise_shell(options, seat, house),
        Err(failed) => Err(failed.clone()),
    };
    let Some(control) = door.next(options)? else {
        return Ok(());
    };
    taken()?;
    serve(options, house, shell, control)
}

fn raise_shell(options: &Options, seat: &Seat, house: &House) -> Result<Raised, Failed> {
    let layer = Layer::Namespaces;
    setns(&seat.network, CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(layer, "enter the network namespace"))?;
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS)
        .map_err(Failed::without(layer, "unshare mounts, IPC and host name"))?;
    nix::unistd::sethostname("tool-exec").map_err(Failed::at("set the host name"))?;
    let group = match &house.cgroups {
        Ok(home) => home.make_group(),
        Err(failed) => Err(failed.clone()),
    };
    view::lay_foundation(seat.identity, group.is_err())?;
    Shell::raise(options.mode, seat.identity, house, group)
}

fn serve(
    options: &Options,
    house: &Result<House, Failed>,
    shell: Result<Raised, Failed>,
    control: OwnedFd,
) -> io::Result<()> {
    let Some((bytes, mut fds)) = wire::receive(&control)? else {
        return Ok(());
    };
    let ToLauncher::Prepare(plan) = ToLauncher::decode(&bytes)? else {
        return Err(io::Error::other("a conversation begins with the plan of a cell"));
    };
    let (Some(evidence), true) = (fds.pop(), fds.is_empty()) else {
        return Err(io::Error::other("the plan of a cell comes with exactly one descriptor"));
    };
    let ran = options.check_cell(&plan).and_then(|()| {
        let house = house.as_ref().map_err(Clone::clone)?;
        let (shell, knobs) = shell?;
        let knobs = options.without_cgroup(&plan, knobs)?;
        let network = match plan.network {
            plan::Network::Nothing => None,
            plan::Network::Proxy => Some(Network::make()?),
        };
        let asked = Asked { plan, evidence, network };
        cell::live_through(options, house, shell, knobs, asked, &control)
    });
    match ran {
        Ok(Remains::Nothing) => Ok(()),
        Ok(Remains::PerhapsProcesses) => {
            Err(io::Error::other("the cell's tree may still be alive"))
        }
        Err(failed) => {
            let frame = FromLauncher::Unable(failed.into_unable()).encode();
            wire::send(control.as_fd(), &frame, &[])
        }
    }
}
