//! The launcher's side of one cell: make it, watch it, end it, report it.
//!
//! This process holds every limit that the kernel does not, and three ways to end a tree: it asks init,
//! it kills init (and the kernel with it the whole pid namespace), and its own death does the same.
//! If the daemon's connection breaks the cell is killed at once: nothing runs that nobody will record.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, pidfd_send_signal};

use super::cgroup::{Alarm, Knobs};
use super::denials::Denials;
use super::house::House;
use super::network::Network;
use super::options::Options;
use super::sampler::Sampler;
use super::shell::Shell;
use super::windows::Windows;
use super::{Failed, affinity, collector, confine, programs, view};
use crate::frame::{Ending, FromInit, FromLauncher, ToInit, ToLauncher, ToolReport};
use crate::outcome::Killed;
use crate::plan::{CellPlan, Limits, Order};
use crate::report::{LimitInForce, LimitName, Mechanism};
use crate::sys::Cloned;
use crate::wire;

/// Building a cell takes a millisecond; a cell that is not there by then never will be.
const BUILD_TIME_MAX: Duration = Duration::from_secs(20);
/// How long a cell may wait for an order.
const PREPARED_TIME_MAX: Duration = Duration::from_secs(900);
/// How long a cell with an order waits for its word to go: the daemon's intent must become durable.
const READY_TIME_MAX: Duration = Duration::from_secs(120);
/// How long init may take to end the tree, and then itself, before it is killed.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// How long collecting may take.
const COLLECT_TIME_MAX: Duration = Duration::from_secs(120);
/// Looks in a row that may fail before the tree is ended: a limit nobody can see is no limit.
const BLIND_LOOKS_MAX: u32 = 20;
/// Time between two looks at the counters.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// The same after an alarm, which may come before what it warns of is counted.
const ALARMED_LOOK_INTERVAL: Duration = Duration::from_micros(200);

/// What a conversation began with.
pub(super) struct Asked {
    pub(super) plan: Box<CellPlan>,
    /// Where streams and files are to be sent.
    pub(super) evidence: OwnedFd,
    /// Made for this cell, where its plan asks for one.
    pub(super) network: Option<Network>,
}

/// What a cell leaves behind.
pub(super) enum Remains {
    Nothing,
    /// Its init could not be seen to end.
    PerhapsProcesses,
}

/// Runs one conversation to its end. An error means that nothing was started, and is told to the
/// daemon by the caller; after the start everything that goes wrong is part of the ending.
pub(super) fn live_through(
    options: &Options,
    house: &House,
    shell: Shell,
    knobs: Option<Knobs>,
    asked: Asked,
    control: &OwnedFd,
) -> Result<Remains, Failed> {
    let Asked { plan, evidence, network } = asked;
    let alarm = knobs.as_ref().and_then(Knobs::alarm);
    let mut cell = Cell { house, shell, control, evidence, denials: None, alarm };
    cell.serve(options, plan, network, knobs.as_ref())?;
    Ok(if cell.shell.end() { Remains::Nothing } else { Remains::PerhapsProcesses })
}

/// What holds memory, pids and CPU time to their limits.
enum Watch<'a> {
    Kernel(&'a Knobs),
    Sampled(Sampler),
}

struct Cell<'a> {
    house: &'a House,
    shell: Shell,
    control: &'a OwnedFd,
    evidence: OwnedFd,
    /// Once the cell's filter is loaded.
    denials: Option<Denials<'a>>,
    /// Where the kernel tells when memory is out.
    alarm: Option<&'a Alarm>,
}

/// Whose words are taken; the end of either is always heard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listening {
    ToInit,
    ToBoth,
}

/// What woke the launcher.
enum Woken {
    Init(FromInit, Vec<OwnedFd>),
    Daemon(ToLauncher),
    /// The tool was denied something for which its run must end.
    Violation,
    /// Memory may be out: the counters know.
    Alarm,
    /// The daemon's connection is gone.
    DaemonGone,
    /// Init has ended.
    InitGone,
    /// Nothing within the time given.
    Nothing,
}

/// Why a conversation ended before the tool was started.
enum Stopped {
    /// The daemon changed its mind or is gone; there is nothing to say and nobody to tell.
    Abandoned,
    Failed(Failed),
}

impl From<Failed> for Stopped {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl Cell<'_> {
    fn serve(
        &mut self,
        options: &Options,
        plan: Box<CellPlan>,
        network: Option<Network>,
        knobs: Option<&Knobs>,
    ) -> Result<(), Failed> {
        let started = self.prepare(plan, network).and_then(|windows| {
            let (order, watch) = self.take_order(options, &windows, knobs)?;
            self.start(order).map(|limits| (windows, watch, limits))
        });
        let (windows, mut watch, limits) = match started {
            Ok(started) => started,
            Err(Stopped::Abandoned) => return Ok(()),
            Err(Stopped::Failed(failed)) => return Err(failed),
        };
        let ending = self.watch(&limits, &windows, &mut watch);
        // With the tool's end known the tree is dead, and an empty `/out` will stay so.
        let nothing_left = ending.tool.is_some() && windows.out_use().is_ok_and(|out| out.empty);
        let frame = FromLauncher::Ended(Box::new(ending)).encode();
        if wire::send(self.control, &frame, &[]).is_err() {
            eprintln!("toolexec-launch: the daemon was gone when the run ended");
            return Ok(());
        }
        let collected = if nothing_left {
            collector::nothing(&self.evidence)
        } else if self.shell.end() {
            self.run_collector(&windows, &limits)
        } else {
            Err(io::Error::other("the tree may still be alive"))
        };
        // The walk is then left without its end, which the daemon sees.
        if let Err(error) = collected {
            eprintln!("toolexec-launch: collecting: {error}");
        }
        Ok(())
    }

    /// Until the cell is confined and empty.
    fn prepare(
        &mut self,
        plan: Box<CellPlan>,
        network: Option<Network>,
    ) -> Result<Windows, Stopped> {
        let inputs = view::inputs(&plan.slot)?;
        let (furnishings, trees) = programs::furnishings(&plan, &self.house.root_links)?;
        let mut fds = vec![self.evidence.as_fd(), inputs.as_fd()];
        fds.extend(network.as_ref().map(|network| network.namespace.as_fd()));
        fds.extend(trees.iter().map(AsFd::as_fd));
        let verb = ToInit::Plan(plan, furnishings).encode();
        wire::send(&self.shell.channel, &verb, &fds).map_err(Failed::at("tell the cell's init"))?;
        match self.wake(BUILD_TIME_MAX, Listening::ToInit) {
            Woken::Init(FromInit::Listener, mut fds) if fds.len() == 1 => {
                let policy = self.house.filters.policy();
                self.denials = fds.pop().map(|listener| Denials::new(policy, listener));
            }
            other => return Err(stopped(other, "build the cell")),
        }
        let (confinement, fds) = match self.wake(BUILD_TIME_MAX, Listening::ToInit) {
            Woken::Init(FromInit::Prepared(confinement), fds) => (confinement, fds),
            other => return Err(stopped(other, "build the cell")),
        };
        let nothing = || Failed::here("init sent no windows into the cell");
        let windows = Windows::from_fds(fds).ok_or_else(nothing)?;
        let listener = network.as_ref().map(|network| network.listener.as_fd());
        let frame = FromLauncher::Prepared(confinement).encode();
        // The only one: were a copy kept here, the tool would wait for a proxy that is gone.
        wire::send(self.control, &frame, &listener.into_iter().collect::<Vec<_>>())
            .map_err(|_| Stopped::Abandoned)?;
        Ok(windows)
    }

    /// Until the order's limits are in force.
    fn take_order<'k>(
        &mut self,
        options: &Options,
        windows: &Windows,
        knobs: Option<&'k Knobs>,
    ) -> Result<(Box<Order>, Watch<'k>), Stopped> {
        let order = match self.wake(PREPARED_TIME_MAX, Listening::ToBoth) {
            Woken::Daemon(ToLauncher::Order(order)) => order,
            other => return Err(stopped(other, "wait for an order")),
        };
        options.check_order(&order)?;
        let limits = &order.limits;
        let mut in_force =
            vec![LimitInForce::exact(LimitName::WallMs, Mechanism::Timer, limits.wall_ms_max)];
        let of_each_process = confine::limits_in_force(limits);
        in_force.extend(of_each_process.map_err(Failed::at("read a resource limit"))?);
        in_force.extend(windows.set_sizes(limits).map_err(Failed::at("size the tool's places"))?);
        let watch = match knobs {
            Some(knobs) => {
                let held = knobs.limit(limits).map_err(Failed::at("set the cgroup limits"))?;
                in_force.extend(held);
                let cpu = limits.cpu_ms_max;
                in_force.push(LimitInForce::exact(LimitName::CpuMs, Mechanism::Sampled, cpu));
                Watch::Kernel(knobs)
            }
            None => {
                let cores = affinity::pin(self.shell.init(), limits.cpu_milli)?;
                in_force.extend(Sampler::limits_in_force(limits, cores));
                Watch::Sampled(Sampler::new(limits))
            }
        };
        self.tell_daemon(&FromLauncher::Ready(in_force))?;
        Ok((order, watch))
    }

    /// From the word to go until the tool's program runs.
    fn start(&mut self, order: Box<Order>) -> Result<Limits, Stopped> {
        let limits = order.limits;
        self.denials.iter_mut().for_each(Denials::begin);
        match self.wake(READY_TIME_MAX, Listening::ToBoth) {
            Woken::Daemon(ToLauncher::Go) => self.tell_init(&ToInit::Go(order))?,
            other => return Err(stopped(other, "wait for the word to go")),
        }
        // A tool can be quicker than the word that it runs.
        let started = loop {
            match self.wake(BUILD_TIME_MAX, Listening::ToInit) {
                Woken::Violation | Woken::Alarm => {}
                other => break other,
            }
        };
        let Woken::Init(FromInit::Started, _) = started else {
            return Err(stopped(started, "start the tool"));
        };
        self.tell_daemon(&FromLauncher::Started)?;
        Ok(limits)
    }

    fn tell_daemon(&self, verb: &FromLauncher) -> Result<(), Stopped> {
        // A daemon that is gone is no failure of this cell.
        wire::send(self.control, &verb.encode(), &[]).map_err(|_| Stopped::Abandoned)
    }

    fn tell_init(&self, verb: &ToInit) -> Result<(), Failed> {
        wire::send(&self.shell.channel, &verb.encode(), &[])
            .map_err(Failed::at("tell the cell's init"))
    }

    fn wake(&mut self, patience: Duration, listening: Listening) -> Woken {
        self.wake_until(Instant::now() + patience, listening)
    }

    /// Waits for the next event until `deadline`.
    fn wake_until(&mut self, deadline: Instant, listening: Listening) -> Woken {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let heard = match listening {
                Listening::ToBoth => PollFlags::IN,
                Listening::ToInit => PollFlags::empty(),
            };
            // Without a filter yet there is nobody to answer, and init's end stands in its place.
            let listener = self.denials.as_ref().map(Denials::listener);
            let end = PollFd::new(self.shell.pidfd(), PollFlags::IN);
            let mut waited = [
                PollFd::new(&self.shell.channel, PollFlags::IN),
                PollFd::new(self.control, heard),
                PollFd::new(self.shell.pidfd(), PollFlags::IN),
                PollFd::from_borrowed_fd(
                    listener.unwrap_or(self.shell.pidfd().as_fd()),
                    PollFlags::IN,
                ),
                self.alarm.map_or(end, Alarm::poll_fd),
            ];
            match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => return Woken::Nothing,
                Err(rustix::io::Errno::INTR) => continue,
                // A poll that fails is no reason to leave a tree alone.
                Err(_) => return Woken::InitGone,
                Ok(_) => {}
            }
            let [init, daemon, end, denied, rung] = waited.map(|fd| fd.revents());
            if denied.contains(PollFlags::IN)
                && let Some(denials) = &mut self.denials
            {
                if let Err(error) = denials.answer() {
                    eprintln!("toolexec-launch: answering a denied call: {error}");
                    // Evidence that cannot be had ends the run like an init that cannot be heard.
                    return Woken::InitGone;
                }
                if denials.violation().is_some() {
                    return Woken::Violation;
                }
                continue;
            }
            // What init said before it ended is heard first.
            if init.contains(PollFlags::IN) {
                match wire::receive(&self.shell.channel) {
                    Ok(Some((bytes, fds))) => match FromInit::decode(&bytes) {
                        Ok(verb) => return Woken::Init(verb, fds),
                        Err(_) => return Woken::InitGone,
                    },
                    _ => return Woken::InitGone,
                }
            }
            if let Some(alarm) = self.alarm
                && !rung.is_empty()
            {
                // One that cannot be silenced would be heard for ever; the looks are enough without it.
                if let Err(error) = alarm.silence() {
                    eprintln!("toolexec-launch: hearing that memory is out: {error}");
                    self.alarm = None;
                }
                return Woken::Alarm;
            }
            if daemon.contains(PollFlags::IN) {
                return match wire::receive(self.control) {
                    Ok(Some((bytes, _))) => match ToLauncher::decode(&bytes) {
                        Ok(verb) => Woken::Daemon(verb),
                        Err(_) => Woken::DaemonGone,
                    },
                    _ => Woken::DaemonGone,
                };
            }
            if daemon.intersects(PollFlags::HUP | PollFlags::ERR) {
                return Woken::DaemonGone;
            }
            if !end.is_empty() || !init.is_empty() {
                return Woken::InitGone;
            }
        }
    }

    /// From `Started` to the death of the tree, with every limit held.
    fn watch(&mut self, limits: &Limits, windows: &Windows, watch: &mut Watch<'_>) -> Ending {
        let started = Instant::now();
        let wall = Duration::from_millis(limits.wall_ms_max);
        let mut ending = Ending::default();
        let mut report = None;
        let mut blind = 0;
        let mut alarmed_until = started;
        // What building the cell cost is in the group's count and is not the tool's. Where it cannot be
        // read nothing is taken off, which is the stricter side.
        let built_us = match &*watch {
            Watch::Kernel(knobs) => knobs.cpu_us().unwrap_or(0),
            Watch::Sampled(_) => 0,
        };
        while report.is_none() {
            let alarmed = Instant::now() < alarmed_until;
            let next_look =
                Instant::now() + if alarmed { ALARMED_LOOK_INTERVAL } else { LOOK_INTERVAL };
            let violation = self.denials.as_ref().is_some_and(|it| it.violation().is_some());
            let woken = if violation {
                Woken::Violation
            } else {
                self.wake_until(next_look.min(started + wall), Listening::ToBoth)
            };
            if let (Woken::Alarm, Some(alarm)) = (&woken, self.alarm) {
                alarmed_until = Instant::now() + alarm.leads_by();
            }
            let over = match woken {
                Woken::Init(FromInit::ToolEnded(told), _) => {
                    report = Some(told);
                    continue;
                }
                Woken::Daemon(ToLauncher::Kill(killed)) => Some(killed),
                Woken::Violation => Some(Killed::Violation),
                Woken::Init(..) | Woken::Daemon(_) | Woken::DaemonGone => {
                    self.shell.kill();
                    break;
                }
                Woken::InitGone => break,
                Woken::Nothing | Woken::Alarm if started.elapsed() >= wall => Some(Killed::Wall),
                Woken::Nothing | Woken::Alarm => match over_limit(limits, windows, watch, built_us)
                {
                    Ok(over) => {
                        blind = 0;
                        over
                    }
                    // Limits that cannot be watched are not kept: the tree ends.
                    Err(error) => {
                        blind += 1;
                        if blind < BLIND_LOOKS_MAX {
                            continue;
                        }
                        eprintln!("toolexec-launch: watching the limits: {error}");
                        Some(Killed::Cancelled)
                    }
                },
            };
            if let Some(killed) = over {
                // The wall limit wins a tie with the CPU limit: whoever asks for N seconds of one
                // core and spins meets both in the same moment, which is one look long.
                let tie = killed == Killed::Cpu && started.elapsed() + 2 * LOOK_INTERVAL >= wall;
                ending.killed = Some(if tie { Killed::Wall } else { killed });
                report = self.end_tree();
                break;
            }
        }
        let wall_us = u64::try_from(started.elapsed().as_micros()).ok();
        close_books(&mut ending, report, windows, watch);
        ending.accounting.wall_us = wall_us;
        if let Some(denials) = &self.denials {
            ending.denied = denials.counted();
            ending.violation = denials.violation().map(str::to_owned);
        }
        ending
    }

    /// Asks init to end the tree; kills init with everything else if it does not answer in time.
    fn end_tree(&mut self) -> Option<Box<ToolReport>> {
        let deadline = Instant::now() + END_TIME_MAX;
        if self.tell_init(&ToInit::Kill).is_ok() {
            loop {
                match self.wake_until(deadline, Listening::ToBoth) {
                    Woken::Init(FromInit::ToolEnded(report), _) => return Some(report),
                    // The daemon may go on asking for what is already happening.
                    Woken::Daemon(ToLauncher::Kill(_)) => {}
                    // What is about to die may try more.
                    Woken::Violation | Woken::Alarm => {}
                    _ => break,
                }
            }
        }
        self.shell.kill();
        None
    }

    /// Has `/out` walked.
    fn run_collector(&self, windows: &Windows, limits: &Limits) -> io::Result<()> {
        let Cloned { pid, pidfd } = collector::fork(
            windows.out(),
            &self.evidence,
            limits,
            self.shell.identity,
            self.shell.mode,
            &self.house.filters,
        )?;
        let waited = wait_for_either(&pidfd, self.control, COLLECT_TIME_MAX);
        if waited != First::Process {
            pidfd_send_signal(&pidfd, Signal::KILL)?;
        }
        waitpid(Pid::from_raw(pid), Some(WaitPidFlag::__WALL))?;
        match waited {
            // Nobody is there to miss anything.
            First::Process | First::Hangup => Ok(()),
            First::Neither => Err(io::Error::other("took too long and was ended")),
        }
    }
}

fn stopped(woken: Woken, doing: &str) -> Stopped {
    let failed = |why: &str| Stopped::Failed(Failed::here(&format!("{doing}: {why}")));
    match woken {
        Woken::Init(FromInit::Unable(unable), _) => {
            Stopped::Failed(Failed { layer: unable.layer, step: unable.step, errno: unable.errno })
        }
        Woken::DaemonGone => Stopped::Abandoned,
        Woken::InitGone => failed("the cell's init died"),
        Woken::Nothing => failed("took too long"),
        Woken::Alarm => failed("memory ran out"),
        Woken::Init(..) | Woken::Daemon(_) | Woken::Violation => {
            failed("somebody spoke out of turn")
        }
    }
}

fn over_limit(
    limits: &Limits,
    windows: &Windows,
    watch: &mut Watch<'_>,
    built_us: u64,
) -> io::Result<Option<Killed>> {
    let (over_memory, cpu_us) = match watch {
        Watch::Kernel(knobs) => (knobs.oom_kills()? > 0, knobs.cpu_us()?),
        Watch::Sampled(sampler) => (sampler.over_memory(windows)?, sampler.cpu_us()),
    };
    Ok(if over_memory {
        Some(Killed::Memory)
    } else if cpu_us.saturating_sub(built_us) / 1000 >= limits.cpu_ms_max {
        Some(Killed::Cpu)
    } else {
        None
    })
}

/// Everything that is counted, now that nothing counts any more.
fn close_books(
    ending: &mut Ending,
    report: Option<Box<ToolReport>>,
    windows: &Windows,
    watch: &Watch<'_>,
) {
    if let Some(report) = report {
        ending.tool = Some(report.end);
        ending.accounting = report.accounting;
    }
    if let Ok(out) = windows.out_use() {
        ending.out_full = out.full;
        ending.accounting.out_bytes = Some(out.bytes);
    }
    match watch {
        Watch::Kernel(knobs) => {
            knobs.account(&mut ending.accounting);
            ending.pids_limit_hit = ending.accounting.pids_refused.unwrap_or(0) > 0;
        }
        Watch::Sampled(sampler) => {
            sampler.account(&mut ending.accounting);
            ending.pids_limit_hit = sampler.pids_limit_hit();
        }
    }
}

/// What ended first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Process,
    /// The connection to the daemon.
    Hangup,
    Neither,
}

fn wait_for_either(pidfd: &OwnedFd, control: &OwnedFd, patience: Duration) -> First {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut waited =
            [PollFd::new(pidfd, PollFlags::IN), PollFd::new(control, PollFlags::empty())];
        match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) | Err(_) => return First::Neither,
            Ok(_) if waited[0].revents().is_empty() => return First::Hangup,
            Ok(_) => return First::Process,
        }
    }
}
