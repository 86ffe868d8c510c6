//! The launcher's side of one cell: make it, watch it, end it, report it.
//!
//! This process holds every limit that the kernel does not, and three ways to end a tree: it asks init,
//! it kills init (and the kernel with it the whole pid namespace), and its own death does the same.
//! If the daemon's connection breaks the cell is killed at once: nothing runs that nobody will record.

use std::fs::File;
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
use crate::report::{LimitInForce, LimitName, Mark, Mechanism, Step};
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

/// Runs one conversation to its end. An error means that the tool was never started, and is told to the
/// daemon by the caller; from the word to start it on, everything that goes wrong is part of the ending.
pub(super) fn live_through(
    options: &Options,
    house: &House,
    shell: &mut Shell,
    knobs: Option<&Knobs>,
    asked: Asked,
    control: &OwnedFd,
) -> Result<(), Failed> {
    let Asked { plan, evidence, network } = asked;
    let alarm = knobs.and_then(Knobs::alarm);
    let mut cell = Cell { house, shell, control, evidence, denials: None, alarm };
    cell.serve(options, plan, network, knobs)
}

/// What holds memory, pids and CPU time to their limits.
enum Watch<'a> {
    Kernel(&'a Knobs),
    Sampled(Sampler),
}

/// A tool that runs, or may have run.
struct Started {
    limits: Limits,
    at: Instant,
}

/// A cell that is confined and empty, and what is to be said of it.
struct Built {
    windows: Windows,
    prepared: FromLauncher,
    network: Option<Network>,
    /// An order that came early.
    taken: Option<Taken>,
}

/// An order, with those of its limits in force that need no cell.
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
        let of_each_process = confine::limits_in_force(limits);
        in_force.extend(of_each_process.map_err(Failed::at("read a resource limit"))?);
        if let Some(knobs) = knobs {
            in_force.extend(knobs.limit(limits).map_err(Failed::at("set the cgroup limits"))?);
            let (cpu, mechanism) = (limits.cpu_ms_max, Mechanism::Sampled);
            in_force.push(LimitInForce::exact(LimitName::CpuMs, mechanism, cpu));
        }
        Ok(Self { order, in_force })
    }
}

struct Cell<'a> {
    house: &'a House,
    shell: &'a mut Shell,
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
    /// What happens in the cell can no longer be known; its tree may be alive.
    Blind,
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
        let started = self.build(options, plan, network, knobs).and_then(|built| {
            let (windows, order, watch) = self.make_ready(options, built, knobs)?;
            self.start(order).map(|started| (windows, watch, started))
        });
        let (windows, mut watch, started) = match started {
            Ok(started) => started,
            Err(Stopped::Abandoned) => return Ok(()),
            Err(Stopped::Failed(failed)) => return Err(failed),
        };
        let Started { limits, at } = started;
        let ending = self.watch(&limits, at, &windows, &mut watch);
        // With the tool's end known the tree is dead, and an empty `/out` will stay so.
        let nothing_left = ending.tool.is_some() && windows.out_use().is_ok_and(|out| out.empty);
        let frame = FromLauncher::Ended(Box::new(ending)).encode();
        if wire::send_at_once(self.control, &frame, &[]).is_err() {
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
    fn build(
        &mut self,
        options: &Options,
        plan: Box<CellPlan>,
        network: Option<Network>,
        knobs: Option<&Knobs>,
    ) -> Result<Built, Stopped> {
        let mut marks = vec![Mark::now(Step::Asked)];
        let inputs = view::inputs(&plan.slot)?;
        let (furnishings, trees) = programs::furnishings(&plan, &self.house.root_links)?;
        let mut fds = vec![self.evidence.as_fd(), inputs.as_fd()];
        fds.extend(network.as_ref().map(|network| network.namespace.as_fd()));
        fds.extend(trees.iter().map(AsFd::as_fd));
        let verb = ToInit::Plan(plan, furnishings).encode();
        wire::send(&self.shell.channel, &verb, &fds).map_err(Failed::at("tell the cell's init"))?;
        marks.push(Mark::now(Step::Furnished));
        let deadline = Instant::now() + BUILD_TIME_MAX;
        let (mut taken, mut mounts_sha256) = (None, None);
        let (mut confinement, fds) = loop {
            // An order that is there already is put in force while init builds.
            match self.wake_until(deadline, Listening::ToBoth) {
                Woken::Init(FromInit::Listener, fds) => {
                    let few = |_| Failed::here("init sent no listener");
                    let [listener, mounts] = <[OwnedFd; 2]>::try_from(fds).map_err(few)?;
                    self.denials = Some(Denials::new(self.house.filters.policy(), listener));
                    // While init probes.
                    mounts_sha256 = Some(confine::mounts_digest(File::from(mounts))?);
                }
                Woken::Daemon(ToLauncher::Order(order)) if taken.is_none() => {
                    taken = Some(Taken::new(options, order, knobs)?);
                }
                Woken::Init(FromInit::Prepared(confinement, more), fds) => {
                    marks.extend(more);
                    break (confinement, fds);
                }
                // Should init die of it, that is heard next.
                Woken::Alarm => {}
                other => return Err(stopped(other, "build the cell")),
            }
        };
        let nothing = || Failed::here("init sent no windows into the cell");
        let windows = Windows::from_fds(fds).ok_or_else(nothing)?;
        let unread = || Failed::here("init sent no mount table");
        confinement.mounts_sha256 = mounts_sha256.ok_or_else(unread)?;
        Ok(Built { windows, prepared: FromLauncher::Prepared(confinement, marks), network, taken })
    }

    /// Until an order is there and every limit of it in force.
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
        let (order, watch, in_force) = match taken {
            // Both answers together, or the daemon would be woken twice.
            Some(taken) => {
                let ready = self.put_in_force(taken, &windows, knobs)?;
                tell_prepared()?;
                ready
            }
            None => {
                tell_prepared()?;
                let taken = match self.wake(PREPARED_TIME_MAX, Listening::ToBoth) {
                    Woken::Daemon(ToLauncher::Order(order)) => Taken::new(options, order, knobs)?,
                    other => return Err(stopped(other, "wait for an order")),
                };
                self.put_in_force(taken, &windows, knobs)?
            }
        };
        // The daemon's is the only one: were a copy kept here, the tool would wait for a proxy that is gone.
        drop(network);
        self.tell_daemon(&FromLauncher::Ready(in_force))?;
        Ok((windows, order, watch))
    }

    fn put_in_force<'k>(
        &self,
        taken: Taken,
        windows: &Windows,
        knobs: Option<&'k Knobs>,
    ) -> Result<(Box<Order>, Watch<'k>, Vec<LimitInForce>), Failed> {
        let Taken { order, mut in_force } = taken;
        let limits = &order.limits;
        in_force.extend(windows.set_sizes(limits).map_err(Failed::at("size the tool's places"))?);
        let watch = match knobs {
            Some(knobs) => Watch::Kernel(knobs),
            None => {
                let cores = affinity::pin(self.shell.init(), limits.cpu_milli)?;
                in_force.extend(Sampler::limits_in_force(limits, cores));
                Watch::Sampled(Sampler::new(limits))
            }
        };
        Ok((order, watch, in_force))
    }

    /// From the word to go until the tool's program runs, or may have run.
    fn start(&mut self, order: Box<Order>) -> Result<Started, Stopped> {
        let limits = order.limits;
        self.denials.iter_mut().for_each(Denials::begin);
        match self.wake(READY_TIME_MAX, Listening::ToBoth) {
            Woken::Daemon(ToLauncher::Go) => {}
            other => return Err(stopped(other, "wait for the word to go")),
        }
        let at = Instant::now();
        self.tell_init(&ToInit::Go(order))?;
        let woken = loop {
            match self.wake_until(at + BUILD_TIME_MAX, Listening::ToInit) {
                // Looked into once the tool is watched.
                Woken::Alarm => {}
                other => break other,
            }
        };
        match woken {
            Woken::Init(FromInit::Started, _) => {}
            // Only init knows that there is no tool.
            Woken::Init(FromInit::Unable(unable), _) => return Err(Failed::from(unable).into()),
            Woken::DaemonGone => return Err(Stopped::Abandoned),
            // A tool can be quicker than the word that it runs.
            Woken::Violation => {}
            // It may run, or have run: a limit so tight that init dies of it is met like this.
            Woken::InitGone => {}
            Woken::Init(..) | Woken::Daemon(_) | Woken::Blind | Woken::Alarm | Woken::Nothing => {
                eprintln!("toolexec-launch: the start of the tool was not seen");
                self.shell.kill();
            }
        }
        self.tell_daemon(&FromLauncher::Started)?;
        Ok(Started { limits, at })
    }

    fn tell_daemon(&self, verb: &FromLauncher) -> Result<(), Stopped> {
        // A daemon that is gone, or does not read, is no failure of this cell.
        wire::send_at_once(self.control, &verb.encode(), &[]).map_err(|_| Stopped::Abandoned)
    }

    fn tell_init(&self, verb: &ToInit) -> Result<(), Failed> {
        wire::send(&self.shell.channel, &verb.encode(), &[])
            .map_err(Failed::at("tell the cell's init"))
    }

    fn wake(&mut self, patience: Duration, listening: Listening) -> Woken {
        self.wake_until(Instant::now() + patience, listening)
    }

    /// Waits for the next event until `deadline`. Denied calls are answered meanwhile, and never at the
    /// cost of anything else: a tool can make as many as it likes.
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
                Err(_) => return Woken::Blind,
                Ok(_) => {}
            }
            let [init, daemon, end, denied, rung] = waited.map(|fd| fd.revents());
            if denied.contains(PollFlags::IN)
                && let Some(woken) = self.answer_denied()
            {
                return woken;
            }
            // What init said before it ended is heard first.
            if init.contains(PollFlags::IN) {
                return match wire::receive(&self.shell.channel) {
                    Ok(Some((bytes, fds))) => match FromInit::decode(&bytes) {
                        Ok(verb) => Woken::Init(verb, fds),
                        Err(_) => Woken::Blind,
                    },
                    Ok(None) => Woken::InitGone,
                    Err(_) => Woken::Blind,
                };
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
            if left.is_zero() {
                return Woken::Nothing;
            }
        }
    }

    /// Something only where the run must end for it.
    fn answer_denied(&mut self) -> Option<Woken> {
        let denials = self.denials.as_mut()?;
        if let Err(error) = denials.answer() {
            eprintln!("toolexec-launch: answering a denied call: {error}");
            // Evidence that cannot be had ends the run.
            return Some(Woken::Blind);
        }
        denials.violation().map(|_| Woken::Violation)
    }

    /// From `Started` to the death of the tree, with every limit held.
    fn watch(
        &mut self,
        limits: &Limits,
        started: Instant,
        windows: &Windows,
        watch: &mut Watch<'_>,
    ) -> Ending {
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
            if matches!(woken, Woken::Alarm) {
                alarmed_until = Instant::now() + LOOK_INTERVAL;
            }
            let over = match woken {
                Woken::Init(FromInit::ToolEnded(told), _) => {
                    report = Some(told);
                    continue;
                }
                Woken::Daemon(ToLauncher::Kill(killed)) => Some(killed),
                Woken::Violation => Some(Killed::Violation),
                // Said late, because the tool was quicker.
                Woken::Init(FromInit::Started, _) => continue,
                Woken::Init(..)
                | Woken::InitGone
                | Woken::Daemon(_)
                | Woken::DaemonGone
                | Woken::Blind => {
                    self.shell.kill();
                    break;
                }
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
            if let Some(violation) = denials.violation() {
                ending.violation = Some(violation.to_owned());
                // Whatever else ended the run: it comes first (DESIGN section 5).
                ending.killed = Some(Killed::Violation);
            }
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
                    Woken::Init(FromInit::Started, _) => {}
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
        Woken::Init(FromInit::Unable(unable), _) => Stopped::Failed(unable.into()),
        Woken::DaemonGone => Stopped::Abandoned,
        Woken::InitGone => failed("the cell's init died"),
        Woken::Blind => failed("the cell's init could not be heard"),
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
