//! The launcher's side of one sandbox: makes it, watches it, ends it, and reports on it.
//!
//! This process enforces every limit that the kernel does not. It has three ways to end a tree: it
//! asks init, it kills init (and thereby the whole pid namespace), and its own death has the same
//! effect. If the daemon's connection breaks, the sandbox is killed at once: no tool may run that
//! will not be recorded.

mod collecting;
mod model;
mod waking;
mod watching;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use ::model::{LimitName, Mechanism};

use self::model::{Cell, Started, Stopped};
use self::waking::{Listening, Woken, stopped};
use self::watching::Watch;
use super::cgroup::{CpuTimes, Knobs};
use super::denials::Denials;
use super::house::House;
use super::network::Network;
use super::options::Options;
use super::sampler::Sampler;
use super::shell::Shell;
use super::sockets::{Kinds, Sockets, open_diag};
use super::windows::Windows;
use super::{Failed, affinity, collector, confine, programs, view};
use crate::messages::{FromInit, FromLauncher, ToInit, ToLauncher};
use crate::plan::{CellPlan, Order};
use crate::process::ProcessState;
use crate::report::{LimitInForce, Mark, Step};
use crate::steps::SetupStep;
use crate::wire;

/// The most time from the start request to the tool's first instruction; the daemon waits longer.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// The most time that a sandbox may wait for a command.
const PREPARED_TIME_MAX: Duration = Duration::from_secs(900);
/// The most time that a ready sandbox waits for `Go`, while the daemon's intent becomes durable.
const READY_TIME_MAX: Duration = Duration::from_secs(120);

/// The first message of a session.
pub(super) struct Asked {
    pub(super) plan: Box<CellPlan>,
    /// The socket to which streams and files are sent.
    pub(super) evidence: OwnedFd,
    /// Made for this sandbox, if its plan requests a network.
    pub(super) network: Option<Network>,
    /// The deadline for building the sandbox or reporting why it failed.
    pub(super) build_until: Instant,
}

/// Serves one session to its end. An error means that the tool was never started; the caller
/// reports it to the daemon. After the start request, every failure is part of the ending.
pub(super) fn live_through(
    options: &Options,
    house: &House,
    shell: &mut Shell,
    knobs: Option<&Knobs>,
    asked: Asked,
    control: &OwnedFd,
) -> Result<(), Failed> {
    let Asked { plan, evidence, network, build_until } = asked;
    let alarm = knobs.and_then(Knobs::alarm);
    let mut cell = Cell { house, shell, control, evidence, denials: None, alarm };
    cell.serve(options, plan, (network, build_until), knobs)
}

/// A sandbox that is confined and empty, with the message that reports it.
struct Built {
    windows: Windows,
    prepared: FromLauncher,
    network: Option<Network>,
    /// A command that arrived before the sandbox was built.
    taken: Option<Taken>,
}

/// A command, and its enforced limits that need no sandbox.
struct Taken {
    order: Box<Order>,
    in_force: Vec<LimitInForce>,
}

impl Taken {
    fn new(options: &Options, order: Box<Order>, knobs: Option<&Knobs>) -> Result<Self, Failed> {
        options.check_order(&order)?;
        let limits = &order.limits;
        let mut in_force =
            vec![LimitInForce::exact(LimitName::WallMs, Mechanism::Timer, limits.wall_ms_max)];
        let of_each_process = confine::limits_in_force(limits, options.mode);
        in_force.extend(of_each_process.map_err(Failed::at("read a resource limit"))?);
        if let Some(knobs) = knobs {
            in_force.extend(knobs.limit(limits).map_err(Failed::at("set the cgroup limits"))?);
            let (cpu, mechanism) = (limits.cpu_ms_max, Mechanism::Sampled);
            in_force.push(LimitInForce::exact(LimitName::CpuMs, mechanism, cpu));
        }
        Ok(Self { order, in_force })
    }
}

impl Cell<'_> {
    fn serve(
        &mut self,
        options: &Options,
        plan: Box<CellPlan>,
        (network, build_until): (Option<Network>, Instant),
        knobs: Option<&Knobs>,
    ) -> Result<(), Failed> {
        let started = self.build(options, plan, (network, build_until), knobs).and_then(|built| {
            let (windows, order, watch) = self.make_ready(options, built, knobs)?;
            self.start(order).map(|started| (windows, watch, started))
        });
        let (windows, mut watch, started) = match started {
            Ok(started) => started,
            Err(Stopped::Abandoned) => return Ok(()),
            Err(Stopped::Failed(failed)) => return Err(failed),
        };
        let ending = self.watch(&started, &windows, &mut watch);
        // Once the tool's end is known the tree is dead, and an empty `/out` stays empty.
        let nothing_left = ending.tool.is_some() && windows.out_use().is_ok_and(|out| out.empty);
        let frame = FromLauncher::Ended(Box::new(ending)).encode();
        if wire::send_at_once(self.control, &frame, &[]).is_err() {
            eprintln!("toolexec-launch: daemon: disconnected before the run ended");
            return Ok(());
        }
        let collected = if nothing_left {
            collector::nothing(&self.evidence)
        } else if self.shell.end() {
            self.collect(&windows, &started.limits)
        } else {
            Err(io::Error::other("a process of the tool may still run"))
        };
        // The daemon then sees a walk without its end.
        if let Err(error) = collected {
            eprintln!("toolexec-launch: /out: not collected: {error}");
        }
        Ok(())
    }

    /// Waits until the sandbox is confined and empty.
    fn build(
        &mut self,
        options: &Options,
        plan: Box<CellPlan>,
        (network, build_until): (Option<Network>, Instant),
        knobs: Option<&Knobs>,
    ) -> Result<Built, Stopped> {
        let mut marks = vec![Mark::now(Step::Asked)];
        SetupStep::OpenInputs.begin();
        let inputs = view::inputs(&plan.slot)?;
        SetupStep::CloneRuntime.begin();
        let (furnishings, trees) = programs::furnishings(&plan, &self.house.root_links)?;
        let mut fds = vec![self.evidence.as_fd(), inputs.as_fd()];
        fds.extend(network.as_ref().map(|network| network.namespace.as_fd()));
        fds.extend(trees.iter().map(AsFd::as_fd));
        let verb = ToInit::Plan(plan, furnishings).encode();
        // Before init can receive the plan, so that marks are in order.
        marks.push(Mark::now(Step::Furnished));
        wire::send_at_once(&self.shell.channel, &verb, &fds)
            .map_err(Failed::at("send to the sandbox's init"))?;
        SetupStep::AwaitInit.begin();
        let (mut taken, mut mounts_sha256) = (None, None);
        let (mut confinement, fds) = loop {
            // Limits of a command that has already arrived are set while init builds.
            match self.wake_until(build_until, Listening::ToBoth) {
                Woken::Init(FromInit::Listener, fds) => {
                    let few = |_| Failed::here("sandbox init: sent no seccomp listener");
                    let [listener, mounts] = <[OwnedFd; 2]>::try_from(fds).map_err(few)?;
                    self.denials = Some(Denials::new(self.house.filters.policy(), listener));
                    // In parallel with init's probes.
                    mounts_sha256 = Some(confine::mounts_digest(File::from(mounts))?);
                }
                Woken::Daemon(ToLauncher::Order(order)) if taken.is_none() => {
                    taken = Some(Taken::new(options, order, knobs)?);
                }
                Woken::Init(FromInit::Prepared(confinement, more), fds) => {
                    marks.extend(more);
                    break (confinement, fds);
                }
                // If init dies of it, its end is the next event.
                Woken::Alarm => {}
                Woken::Nothing => return Err(self.init_is_late().into()),
                other => return Err(stopped(other, "build the sandbox")),
            }
        };
        SetupStep::end();
        let nothing = || Failed::here("sandbox init: sent no directories to watch");
        let windows = Windows::from_fds(fds).ok_or_else(nothing)?;
        let unread = || Failed::here("sandbox init: sent no mount table");
        confinement.mounts_sha256 = mounts_sha256.ok_or_else(unread)?;
        Ok(Built { windows, prepared: FromLauncher::Prepared(confinement, marks), network, taken })
    }

    /// Waits for the command and sets all its limits.
    fn make_ready<'k>(
        &mut self,
        options: &Options,
        built: Built,
        knobs: Option<&'k Knobs>,
    ) -> Result<(Windows, Box<Order>, Watch<'k>), Stopped> {
        let Built { windows, prepared, network, taken } = built;
        let prepared = prepared.encode();
        let listener = network.as_ref().map(|network| network.listener.as_fd());
        let tell_prepared = || {
            let listener: Vec<_> = listener.into_iter().collect();
            wire::send_at_once(self.control, &prepared, &listener).map_err(|_| Stopped::Abandoned)
        };
        let (order, mut watch, in_force) = match taken {
            // Both messages together, so that the daemon wakes up only once.
            Some(taken) => {
                let ready = self.put_in_force(taken, &windows, network.as_ref(), knobs)?;
                tell_prepared()?;
                ready
            }
            None => {
                tell_prepared()?;
                let taken = match self.wake(PREPARED_TIME_MAX, Listening::ToBoth) {
                    Woken::Daemon(ToLauncher::Order(order)) => Taken::new(options, order, knobs)?,
                    other => return Err(stopped(other, "receive the command")),
                };
                self.put_in_force(taken, &windows, network.as_ref(), knobs)?
            }
        };
        // The daemon must have the only copy: with another one open here, the tool would wait for a
        // proxy that has exited.
        drop(network);
        self.tell_daemon(&FromLauncher::Ready(in_force))?;
        // In parallel with the daemon making its intent durable.
        watch.begin();
        Ok((windows, order, watch))
    }

    fn put_in_force<'k>(
        &self,
        taken: Taken,
        windows: &Windows,
        network: Option<&Network>,
        knobs: Option<&'k Knobs>,
    ) -> Result<(Box<Order>, Watch<'k>, Vec<LimitInForce>), Failed> {
        let Taken { order, mut in_force } = taken;
        let limits = &order.limits;
        SetupStep::SetLimits.begin();
        let sizes = windows.set_sizes(limits);
        in_force.extend(sizes.map_err(Failed::at("set the sizes of /out, /tmp and /dev/shm"))?);
        let watch = match knobs {
            Some(knobs) => Watch::Kernel { knobs, before: CpuTimes::default() },
            None => {
                let cores = affinity::pin(self.shell.init(), limits.cpu_milli)?;
                in_force.extend(Sampler::limits_in_force(limits, cores));
                Watch::Sampled(Sampler::new(limits, sockets_of(network)?)?)
            }
        };
        SetupStep::end();
        Ok((order, watch, in_force))
    }

    /// Waits from `Go` until the tool's program runs, or may have run.
    fn start(&mut self, order: Box<Order>) -> Result<Started, Stopped> {
        let limits = order.limits;
        self.denials.iter_mut().for_each(Denials::begin);
        match self.wake(READY_TIME_MAX, Listening::ToBoth) {
            Woken::Daemon(ToLauncher::Go) => {}
            other => return Err(stopped(other, "receive the start request")),
        }
        let at = Instant::now();
        self.tell_init(&ToInit::Go(order))?;
        let woken = loop {
            match self.wake_until(at + START_TIME_MAX, Listening::ToInit) {
                // Handled when the watch begins.
                Woken::Alarm => {}
                other => break other,
            }
        };
        match woken {
            Woken::Init(FromInit::Started, _) => {}
            // Only init knows that the tool was not started.
            Woken::Init(FromInit::Unable(unable), _) => return Err(Failed::from(unable).into()),
            Woken::DaemonGone => return Err(Stopped::Abandoned),
            // A tool can be faster than the message that it was started.
            Woken::Violation => {}
            // The tool may run or have run: a limit so low that it kills init appears like this.
            Woken::InitGone => {}
            Woken::Init(..)
            | Woken::Daemon(_)
            | Woken::Blind(_)
            | Woken::Alarm
            | Woken::Nothing => {
                eprintln!("toolexec-launch: tool: its start was not reported; killing it");
                self.shell.kill();
            }
        }
        self.tell_daemon(&FromLauncher::Started)?;
        Ok(Started { limits, at })
    }

    fn tell_daemon(&self, verb: &FromLauncher) -> Result<(), Stopped> {
        // A daemon that is gone or does not read is not a failure of this sandbox.
        wire::send_at_once(self.control, &verb.encode(), &[]).map_err(|_| Stopped::Abandoned)
    }

    /// Returns the error for an init that is late: its step and process state.
    fn init_is_late(&self) -> Failed {
        let pid = self.shell.init().as_raw().unsigned_abs();
        let Some(init) = ProcessState::read(pid) else {
            return Failed::here("cannot build the sandbox: timed out");
        };
        if let Some(stack) = init.stack() {
            eprintln!("toolexec-launch: {init}:\n{}", stack.trim_end());
        }
        let step = init.step().unwrap_or(SetupStep::AwaitInit);
        Failed::here(&format!("{step}: timed out: {init}"))
    }
}

/// Opens the sockets of the sandbox's own network, or of the slot's network, in which this process
/// is.
fn sockets_of(network: Option<&Network>) -> Result<Sockets, Failed> {
    let opened = match network {
        Some(network) => network.diag.try_clone().map(|diag| (diag, Kinds::UnixAndTcp)),
        None => open_diag().map(|diag| (diag, Kinds::Unix)),
    };
    opened
        .and_then(|(diag, kinds)| Sockets::new(diag, kinds))
        .map_err(Failed::at("measure the memory of sockets"))
}
