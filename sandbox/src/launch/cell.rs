//! The launcher's side of one cell: make it, watch it, end it, report it.
//!
//! The parent holds every limit that the kernel does not, and three ways to end a tree: it asks init,
//! it kills init (and the kernel with it the whole pid namespace), and its own death does the same.
//! If the daemon's connection breaks the cell is killed at once: nothing runs that nobody will record.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Signal, pidfd_send_signal};

use super::Failed;
use super::cgroup::Group;
use super::identity::identity;
use super::init::{Birth, live};
use super::options::Options;
use super::sampler::Sampler;
use super::view::Identity;
use crate::frame::{Ending, FromInit, FromLauncher, ToInit, ToLauncher, ToolReport};
use crate::outcome::Killed;
use crate::plan::{Limits, Plan};
use crate::report::{Confinement, Layer, LimitInForce, LimitName, Mechanism, Mode};
use crate::sys::{self, Cloned, Fork};
use crate::wire;

/// Building a cell takes a millisecond; a cell that is not ready by then never will be.
const BUILD_TIME_MAX: Duration = Duration::from_secs(20);
/// How long a ready cell waits for its order to go: the daemon's intent must become durable.
const READY_TIME_MAX: Duration = Duration::from_secs(120);
/// How long init may take to end the tree before it is killed itself.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// How long collecting may take.
const COLLECT_TIME_MAX: Duration = Duration::from_secs(120);
/// Looks in a row that may fail before the tree is ended: a limit nobody can see is no limit.
const BLIND_LOOKS_MAX: u32 = 20;
/// Time between two looks at the counters.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// Runs one order to its end. An error means that nothing was started, and is told to the daemon by
/// the caller; after the start everything that goes wrong is part of the ending.
pub(super) fn run(
    options: &Options,
    plan: Plan,
    evidence: OwnedFd,
    control: &mut OwnedFd,
) -> Result<(), Failed> {
    let (identity, _uid_lock) = identity(options.mode)?;
    let limits = plan.limits;
    // With our pid, so that the next launcher can tell a group that is left over.
    let name = format!("cell-{}-{}", std::process::id(), plan.slot.id.as_str());
    let may_do_without = plan.demands.cgroup_exception && options.allows_cgroup_exception();
    let group = match Group::make(&name, options.cgroup_parent, &limits) {
        Ok(group) => Some(group),
        Err(failed) if failed.layer.is_some() && may_do_without => None,
        Err(failed) => return Err(failed),
    };
    let doors = group.as_ref().map_or(Ok(Vec::new()), Group::doors)?;
    let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
    let (channel, inits_channel) = pair.map_err(Failed::at("make a channel"))?;
    let mut namespaces = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    let layer = match options.mode {
        Mode::System => Layer::Namespaces,
        Mode::User => {
            namespaces |= libc::CLONE_NEWUSER;
            Layer::UserNamespace
        }
    };
    let cloned =
        match sys::clone_process(namespaces).map_err(Failed::without(layer, "clone the cell"))? {
            Fork::Child => {
                let (mode, staging) = (options.mode, options.staging.clone());
                drop(channel);
                if let Err(failed) = let_go(control) {
                    eprintln!("toolexec-launch: {}", failed.step);
                    std::process::exit(1);
                }
                // The copy must not run the parent's clean-up: the group is the parent's to remove.
                std::mem::forget(group);
                let channel = inits_channel;
                live(Birth { plan, mode, identity, staging, channel, evidence, doors })
            }
            Fork::Parent(cloned) => cloned,
        };
    drop((inits_channel, evidence, doors));
    let cell = Cell { cloned, channel, control, limits };
    cell.live_through(options.mode, identity, group)
}

/// The copy of the launcher must not hold on to the daemon's connection, under either of its numbers.
fn let_go(control: &mut OwnedFd) -> Result<(), Failed> {
    let null = File::open("/dev/null").map_err(Failed::at("open /dev/null"))?;
    nix::unistd::dup2_stdin(&null).map_err(Failed::at("let the connection go"))?;
    *control = null.into();
    Ok(())
}

/// What holds memory, pids and CPU time to their limits.
enum Watch {
    Kernel(Group),
    /// With the sampler, once init has sent what it samples by.
    Sampled(Option<Sampler>),
}

/// How the building ended when nothing went wrong.
enum Built {
    Started,
    /// The daemon did not want to go on.
    Abandoned,
}

struct Cell<'a> {
    cloned: Cloned,
    channel: OwnedFd,
    control: &'a OwnedFd,
    limits: Limits,
}

/// What woke the launcher.
enum Woken {
    Init(FromInit, Vec<OwnedFd>),
    Daemon(ToLauncher),
    /// The daemon's connection is gone.
    DaemonGone,
    /// Init has ended.
    InitGone,
    /// Nothing within the time given.
    Nothing,
}

impl Cell<'_> {
    fn live_through(
        self,
        mode: Mode,
        identity: Identity,
        group: Option<Group>,
    ) -> Result<(), Failed> {
        // Made before the tree and let go after it: a group with processes in it cannot be removed.
        let mut watch = match group {
            Some(group) => Watch::Kernel(group),
            None => Watch::Sampled(None),
        };
        match self.build(mode, identity, &mut watch) {
            Ok(Built::Started) => {}
            // The daemon changed its mind or is gone; there is nothing to say and nobody to tell.
            Ok(Built::Abandoned) => {
                self.kill_and_reap();
                return Ok(());
            }
            Err(failed) => {
                self.kill_and_reap();
                return Err(failed);
            }
        }
        let ending = self.watch(&mut watch);
        let frame = FromLauncher::Ended(Box::new(ending)).encode();
        if wire::send(self.control, &frame, &[]).is_err() {
            eprintln!("toolexec-launch: the daemon was gone when the run ended");
        }
        Ok(())
    }

    /// From the clone to `Started`.
    fn build(&self, mode: Mode, identity: Identity, watch: &mut Watch) -> Result<Built, Failed> {
        if mode == Mode::User {
            self.write_maps(identity)?;
            self.tell(ToInit::Mapped)?;
        }
        let (mut confinement, fds) = match self.wake(Instant::now() + BUILD_TIME_MAX) {
            Woken::Init(FromInit::Ready(confinement), fds) => (confinement, fds),
            other => return self.stopped(other, "build the cell"),
        };
        if let Watch::Sampled(sampler) = watch {
            *sampler = Some(Sampler::new(fds, &self.limits).map_err(Failed::at("sample"))?);
        }
        self.add_limits(&mut confinement, watch);
        wire::send(self.control, &FromLauncher::Ready(confinement).encode(), &[])
            .map_err(Failed::at("report readiness"))?;
        match self.wake(Instant::now() + READY_TIME_MAX) {
            Woken::Daemon(ToLauncher::Go) => self.tell(ToInit::Go)?,
            other => return self.stopped(other, "wait for the word to go"),
        }
        match self.wake(Instant::now() + BUILD_TIME_MAX) {
            Woken::Init(FromInit::Started, _) => {}
            other => return self.stopped(other, "start the tool"),
        }
        wire::send(self.control, &FromLauncher::Started.encode(), &[])
            .map_err(Failed::at("report the start"))?;
        Ok(Built::Started)
    }

    fn stopped(&self, woken: Woken, doing: &str) -> Result<Built, Failed> {
        let failed = |why: &str| Failed { layer: None, step: format!("{doing}: {why}"), errno: 0 };
        match woken {
            Woken::Init(FromInit::Unable(unable), _) => {
                Err(Failed { layer: unable.layer, step: unable.step, errno: unable.errno })
            }
            Woken::DaemonGone => Ok(Built::Abandoned),
            Woken::InitGone => Err(failed("the cell's init died")),
            Woken::Nothing => Err(failed("took too long")),
            Woken::Init(..) | Woken::Daemon(_) => Err(failed("somebody spoke out of turn")),
        }
    }

    /// Maps the tool's one id to itself. Written from outside: init has no right to in there.
    fn write_maps(&self, Identity { uid, gid }: Identity) -> Result<(), Failed> {
        let write = |name: &str, text: String| {
            let path = format!("/proc/{}/{name}", self.cloned.pid);
            let file = OpenOptions::new().write(true).open(path);
            let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(Failed::without(Layer::UserNamespace, &format!("write {name}")))
        };
        write("setgroups", "deny".to_owned())?;
        write("uid_map", format!("{uid} {uid} 1"))?;
        write("gid_map", format!("{gid} {gid} 1"))
    }

    fn tell(&self, verb: ToInit) -> Result<(), Failed> {
        wire::send(&self.channel, &verb.encode(), &[]).map_err(Failed::at("tell the cell's init"))
    }

    fn add_limits(&self, confinement: &mut Confinement, watch: &Watch) {
        let limits = &self.limits;
        let same = |name, mechanism, value| LimitInForce {
            name,
            mechanism,
            asked: value,
            in_force: value,
        };
        let list = &mut confinement.limits;
        list.push(same(LimitName::WallMs, Mechanism::Timer, limits.wall_ms_max));
        match watch {
            Watch::Kernel(group) => {
                list.extend_from_slice(group.limits_in_force());
                list.push(same(LimitName::CpuMs, Mechanism::Sampled, limits.cpu_ms_max));
            }
            Watch::Sampled(_) => {
                let cores = u64::from(limits.cpu_milli.div_ceil(1000));
                list.extend(Sampler::limits_in_force(limits, cores));
            }
        }
    }

    /// Waits for the next event until `deadline`.
    fn wake(&self, deadline: Instant) -> Woken {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut waited = [
                PollFd::new(&self.channel, PollFlags::IN),
                PollFd::new(self.control, PollFlags::IN),
                PollFd::new(&self.cloned.pidfd, PollFlags::IN),
            ];
            match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => return Woken::Nothing,
                Err(rustix::io::Errno::INTR) => continue,
                // A poll that fails is no reason to leave a tree alone.
                Err(_) => return Woken::InitGone,
                Ok(_) => {}
            }
            if waited[0].revents().contains(PollFlags::IN)
                && let Ok(Some((bytes, fds))) = wire::receive(&self.channel)
                && let Ok(verb) = FromInit::decode(&bytes)
            {
                return Woken::Init(verb, fds);
            }
            if !waited[1].revents().is_empty() {
                let received = wire::receive(self.control);
                return match received.map(|r| r.map(|(bytes, _)| ToLauncher::decode(&bytes))) {
                    Ok(Some(Ok(verb))) => Woken::Daemon(verb),
                    _ => Woken::DaemonGone,
                };
            }
            if !waited[2].revents().is_empty() || !waited[0].revents().is_empty() {
                return Woken::InitGone;
            }
        }
    }

    /// From `Started` to the end of init, with every limit held.
    fn watch(&self, watch: &mut Watch) -> Ending {
        let started = Instant::now();
        let wall = Duration::from_millis(self.limits.wall_ms_max);
        let mut ending = Ending::default();
        let mut report = None;
        let mut blind = 0;
        // What building the cell cost is in the group's count and is not the tool's. Where it cannot be
        // read nothing is taken off, which is the stricter side.
        let built_us = match &*watch {
            Watch::Kernel(group) => group.cpu_us().unwrap_or(0),
            Watch::Sampled(_) => 0,
        };
        while report.is_none() {
            let next_look = Instant::now() + LOOK_INTERVAL;
            let over = match self.wake(next_look.min(started + wall)) {
                Woken::Init(FromInit::ToolEnded(told), _) => {
                    report = Some(told);
                    continue;
                }
                Woken::Daemon(ToLauncher::Kill(killed)) => Some(killed),
                Woken::Init(..) | Woken::Daemon(_) | Woken::DaemonGone => {
                    self.kill_and_reap();
                    break;
                }
                Woken::InitGone => break,
                Woken::Nothing if started.elapsed() >= wall => Some(Killed::Wall),
                Woken::Nothing => match self.over_limit(watch, built_us) {
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
        ending.accounting.wall_us = u64::try_from(started.elapsed().as_micros()).ok();
        let let_go = self.wait_for_init(Instant::now() + COLLECT_TIME_MAX);
        self.close_books(&mut ending, report, watch);
        if !let_go {
            eprintln!("toolexec-launch: collecting took too long and was ended");
        }
        ending
    }

    fn over_limit(&self, watch: &mut Watch, built_us: u64) -> io::Result<Option<Killed>> {
        let (over_memory, cpu_us) = match watch {
            Watch::Kernel(group) => (group.oom_kills()? > 0, group.cpu_us()?),
            Watch::Sampled(Some(sampler)) => (sampler.over_memory()?, sampler.cpu_us()),
            Watch::Sampled(None) => return Err(io::Error::other("there is no sampler")),
        };
        Ok(if over_memory {
            Some(Killed::Memory)
        } else if cpu_us.saturating_sub(built_us) / 1000 >= self.limits.cpu_ms_max {
            Some(Killed::Cpu)
        } else {
            None
        })
    }

    /// Asks init to end the tree; kills init with everything else if it does not answer in time.
    fn end_tree(&self) -> Option<Box<ToolReport>> {
        let deadline = Instant::now() + END_TIME_MAX;
        if self.tell(ToInit::Kill).is_ok() {
            loop {
                match self.wake(deadline) {
                    Woken::Init(FromInit::ToolEnded(report), _) => return Some(report),
                    // The daemon may go on asking for what is already happening.
                    Woken::Daemon(ToLauncher::Kill(_)) => {}
                    _ => break,
                }
            }
        }
        self.kill();
        None
    }

    fn kill(&self) {
        match pidfd_send_signal(&self.cloned.pidfd, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(errno) => eprintln!("toolexec-launch: kill the cell: {errno}"),
        }
    }

    fn kill_and_reap(&self) {
        self.kill();
        self.reap();
    }

    fn reap(&self) {
        // Init may have been reaped already by the path that killed it.
        match waitpid(Pid::from_raw(self.cloned.pid), Some(WaitPidFlag::__WALL)) {
            Ok(_) | Err(nix::errno::Errno::ECHILD) => {}
            Err(errno) => eprintln!("toolexec-launch: reap the cell: {errno}"),
        }
    }

    /// Waits until init has collected and ended; kills it at the deadline or when the daemon is gone.
    fn wait_for_init(&self, deadline: Instant) -> bool {
        let in_time = loop {
            match self.wake(deadline) {
                Woken::InitGone => break true,
                Woken::Init(..) | Woken::Daemon(_) => {}
                Woken::DaemonGone | Woken::Nothing => break false,
            }
        };
        // A second kill of what has ended already does nothing, and without it a wait could last.
        self.kill();
        self.reap();
        in_time
    }

    /// Everything that is counted, now that nothing counts any more.
    fn close_books(&self, ending: &mut Ending, report: Option<Box<ToolReport>>, watch: &mut Watch) {
        let wall_us = ending.accounting.wall_us;
        if let Some(report) = report {
            ending.tool = Some(report.end);
            ending.out_full = report.out_full;
            ending.accounting = report.accounting;
            ending.accounting.wall_us = wall_us;
        }
        match watch {
            Watch::Kernel(group) => {
                group.account(&mut ending.accounting);
                ending.pids_limit_hit = ending.accounting.pids_refused.unwrap_or(0) > 0;
            }
            Watch::Sampled(Some(sampler)) => {
                sampler.account(&mut ending.accounting);
                ending.pids_limit_hit = sampler.pids_limit_hit();
            }
            Watch::Sampled(None) => {}
        }
    }
}
