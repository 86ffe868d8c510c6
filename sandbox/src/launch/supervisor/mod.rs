//! The launcher's side of one sandbox: makes it, watches it, ends it, and reports on it. It
//! enforces every limit that the kernel does not. It can end a tree in three ways: it asks init, it
//! kills init and thereby the pid namespace, or it dies itself. If the daemon's connection breaks,
//! the sandbox is killed at once: no tool may run that will not be recorded.

mod collect_out;
mod copy_work;
mod events;
mod limits;
mod model;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use ::model::{LimitName, Mechanism};

use self::events::{MessageSources, SandboxEvent, session_stop};
use self::limits::LimitWatch;
use self::model::{SandboxSupervisor, SessionStop, StartedTool};
use super::base_root::BaseRoot;
use super::cgroup::{CpuTimes, Knobs};
use super::denials::Denials;
use super::inner_fds::InnerFds;
use super::network::ProxyNetwork;
use super::options::Options;
use super::sampler::Sampler;
use super::sandbox_process::SandboxProcess;
use super::sockets::{SocketKinds, Sockets, open_diag};
use super::{Failed, affinity, collector, confine, programs, view};
use crate::messages::{FromInit, FromLauncher, ToInit, ToLauncher};
use crate::plan::{ExecSpec, READY_SEC_MAX, SandboxSpec};
use crate::process::ProcessState;
use crate::report::{BuildStep, EffectiveLimit, Mark};
use crate::steps::SetupStep;
use crate::wire;

/// The most time from the start request to the tool's first instruction; the daemon waits longer.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// The most time that a sandbox may wait for a command.
const PREPARED_TIME_MAX: Duration = Duration::from_secs(900);

/// The first message of a session.
pub(super) struct SessionRequest {
    pub(super) plan: Box<SandboxSpec>,
    /// The socket to which streams and files are sent.
    pub(super) evidence: OwnedFd,
    /// Made for this sandbox, if its plan requests a network.
    pub(super) network: Option<ProxyNetwork>,
    /// The deadline for building the sandbox or reporting why it failed.
    pub(super) build_until: Instant,
}

/// Serves one session to its end. An error means that the tool was never started; the caller
/// reports it to the daemon. After the start request, every failure is part of the ending.
pub(super) fn serve_session(
    options: &Options,
    base_root: &BaseRoot,
    shell: &mut SandboxProcess,
    knobs: Option<&Knobs>,
    request: SessionRequest,
    control: &OwnedFd,
) -> Result<(), Failed> {
    let SessionRequest { plan, evidence, network, build_until } = request;
    let alarm = knobs.and_then(Knobs::alarm);
    let mut sandbox =
        SandboxSupervisor { base_root, process: shell, control, evidence, denials: None, alarm };
    sandbox.serve(options, plan, (network, build_until), knobs)
}

/// A sandbox that is confined and empty, with the message that reports it.
struct BuiltSandbox {
    inner_fds: InnerFds,
    prepared: FromLauncher,
    network: Option<ProxyNetwork>,
    /// A command that arrived before the sandbox was built.
    early_exec: Option<AcceptedExec>,
}

/// A command, and its enforced limits that need no sandbox.
struct AcceptedExec {
    exec: Box<ExecSpec>,
    effective: Vec<EffectiveLimit>,
}

impl AcceptedExec {
    fn new(options: &Options, order: Box<ExecSpec>, knobs: Option<&Knobs>) -> Result<Self, Failed> {
        options.check_exec(&order)?;
        let limits = &order.limits;
        let mut in_force =
            vec![EffectiveLimit::exact(LimitName::WallMs, Mechanism::Timer, limits.wall_ms_max)];
        let of_each_process = confine::effective_limits(limits, options.mode);
        in_force.extend(of_each_process.map_err(Failed::at("read a resource limit"))?);
        if let Some(knobs) = knobs {
            in_force.extend(knobs.limit(limits).map_err(Failed::at("set the cgroup limits"))?);
            let (cpu, mechanism) = (limits.cpu_ms_max, Mechanism::Sampled);
            in_force.push(EffectiveLimit::exact(LimitName::CpuMs, mechanism, cpu));
        }
        Ok(Self { exec: order, effective: in_force })
    }
}

impl SandboxSupervisor<'_> {
    fn serve(
        &mut self,
        options: &Options,
        plan: Box<SandboxSpec>,
        (network, build_until): (Option<ProxyNetwork>, Instant),
        knobs: Option<&Knobs>,
    ) -> Result<(), Failed> {
        let started = self.build(options, plan, (network, build_until), knobs).and_then(|built| {
            let (windows, order, watch) = self.make_ready(options, built, knobs)?;
            self.start(order).map(|started| (windows, watch, started))
        });
        let (windows, mut watch, started) = match started {
            Ok(started) => started,
            Err(SessionStop::Abandoned) => return Ok(()),
            Err(SessionStop::Failed(failed)) => return Err(failed),
        };
        let ending = self.watch(&started, &windows, &mut watch);
        // Once the tool's end is known the tree is dead, and an empty `/out` stays empty. A work
        // copy is compared even if the tool removed it.
        let nothing_left = started.work.is_none()
            && ending.tool.is_some()
            && windows.out_use().is_ok_and(|out| out.empty);
        let frame = FromLauncher::Ended(Box::new(ending)).encode();
        if wire::send_at_once(self.control, &frame, &[]).is_err() {
            eprintln!("toolexec-launch: daemon: disconnected before the run ended");
            return Ok(());
        }
        let collected = if nothing_left {
            collector::send_empty(&self.evidence)
        } else if self.process.end() {
            self.collect(&windows, &started)
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
        plan: Box<SandboxSpec>,
        (network, build_until): (Option<ProxyNetwork>, Instant),
        knobs: Option<&Knobs>,
    ) -> Result<BuiltSandbox, SessionStop> {
        let mut marks = vec![Mark::now(BuildStep::SpecRead)];
        SetupStep::OpenInputs.begin();
        let inputs = view::inputs(&plan.slot)?;
        SetupStep::CloneRuntime.begin();
        let (runtime_mounts, trees) = programs::runtime_mounts(&plan, &self.base_root.root_links)?;
        let mut fds = vec![self.evidence.as_fd(), inputs.as_fd()];
        fds.extend(network.as_ref().map(|network| network.namespace.as_fd()));
        fds.extend(trees.iter().map(AsFd::as_fd));
        let verb = ToInit::Plan(plan, runtime_mounts).encode();
        // Before init can receive the plan, so that marks are in order.
        marks.push(Mark::now(BuildStep::SpecOpened));
        wire::send_at_once(&self.process.channel, &verb, &fds)
            .map_err(Failed::at("send to the sandbox's init"))?;
        SetupStep::AwaitInit.begin();
        let (mut taken, mut mounts_sha256) = (None, None);
        let (mut confinement, fds) = loop {
            // Limits of a command that has already arrived are set while init builds.
            match self.wait_event_until(build_until, MessageSources::InitAndDaemon) {
                SandboxEvent::Init(FromInit::Listener, fds) => {
                    let few = |_| Failed::here("sandbox init: sent no seccomp listener");
                    let [listener, mounts] = <[OwnedFd; 2]>::try_from(fds).map_err(few)?;
                    self.denials = Some(Denials::new(self.base_root.filters.policy(), listener));
                    // In parallel with init's probes.
                    mounts_sha256 = Some(confine::mounts_digest(File::from(mounts))?);
                }
                SandboxEvent::Daemon(ToLauncher::Exec(order)) if taken.is_none() => {
                    taken = Some(AcceptedExec::new(options, order, knobs)?);
                }
                SandboxEvent::Init(FromInit::Prepared(confinement, more), fds) => {
                    marks.extend(more);
                    break (confinement, fds);
                }
                // If init dies of it, its end is the next event.
                SandboxEvent::Alarm => {}
                SandboxEvent::Timeout => return Err(self.init_is_late().into()),
                other => return Err(session_stop(other, "build the sandbox")),
            }
        };
        SetupStep::end();
        let nothing = || Failed::here("sandbox init: sent no directories to watch");
        let windows = InnerFds::from_fds(fds).ok_or_else(nothing)?;
        let unread = || Failed::here("sandbox init: sent no mount table");
        confinement.mounts_sha256 = mounts_sha256.ok_or_else(unread)?;
        Ok(BuiltSandbox {
            inner_fds: windows,
            prepared: FromLauncher::Prepared(confinement, marks),
            network,
            early_exec: taken,
        })
    }

    /// Waits for the command, sets all its limits, and has its folder copied.
    fn make_ready<'k>(
        &mut self,
        options: &Options,
        built: BuiltSandbox,
        knobs: Option<&'k Knobs>,
    ) -> Result<(InnerFds, Box<ExecSpec>, LimitWatch<'k>), SessionStop> {
        let BuiltSandbox { inner_fds: windows, prepared, network, early_exec: taken } = built;
        let prepared = prepared.encode();
        let listener = network.as_ref().map(|network| network.listener.as_fd());
        let send_prepared = || {
            let listener: Vec<_> = listener.into_iter().collect();
            wire::send_at_once(self.control, &prepared, &listener)
                .map_err(|_| SessionStop::Abandoned)
        };
        let (order, mut watch, in_force) = match taken {
            // Both messages together, so that the daemon wakes up only once.
            Some(taken) => {
                let ready = self.apply_limits(taken, &windows, network.as_ref(), knobs)?;
                send_prepared()?;
                ready
            }
            None => {
                send_prepared()?;
                let taken = match self.wait_event(PREPARED_TIME_MAX, MessageSources::InitAndDaemon)
                {
                    SandboxEvent::Daemon(ToLauncher::Exec(order)) => {
                        AcceptedExec::new(options, order, knobs)?
                    }
                    other => return Err(session_stop(other, "receive the command")),
                };
                self.apply_limits(taken, &windows, network.as_ref(), knobs)?
            }
        };
        // The daemon must have the only copy, or the tool would wait for a proxy that has exited.
        drop(network);
        self.copy_work(order.work.as_ref())?;
        self.send_to_daemon(&FromLauncher::Ready(in_force))?;
        // In parallel with the daemon making its intent durable.
        watch.begin();
        Ok((windows, order, watch))
    }

    fn apply_limits<'k>(
        &self,
        taken: AcceptedExec,
        windows: &InnerFds,
        network: Option<&ProxyNetwork>,
        knobs: Option<&'k Knobs>,
    ) -> Result<(Box<ExecSpec>, LimitWatch<'k>, Vec<EffectiveLimit>), Failed> {
        let AcceptedExec { exec: order, effective: mut in_force } = taken;
        let limits = &order.limits;
        SetupStep::SetLimits.begin();
        let sizes = windows.set_sizes(limits);
        in_force.extend(sizes.map_err(Failed::at("set the sizes of /out, /tmp and /dev/shm"))?);
        let watch = match knobs {
            Some(knobs) => LimitWatch::Kernel { knobs, before: CpuTimes::default() },
            None => {
                let cores = affinity::pin(self.process.init(), limits.cpu_milli)?;
                in_force.extend(Sampler::effective_limits(limits, cores));
                LimitWatch::Sampled(Sampler::new(limits, sockets_of(network)?)?)
            }
        };
        SetupStep::end();
        Ok((order, watch, in_force))
    }

    /// Waits from `Go` until the tool's program runs, or may have run.
    fn start(&mut self, order: Box<ExecSpec>) -> Result<StartedTool, SessionStop> {
        let (limits, work) = (order.limits, order.work.as_ref().map(|it| it.folder.clone()));
        self.denials.iter_mut().for_each(Denials::begin);
        match self.wait_event(Duration::from_secs(READY_SEC_MAX), MessageSources::InitAndDaemon) {
            SandboxEvent::Daemon(ToLauncher::Go) => {}
            other => return Err(session_stop(other, "receive the start request")),
        }
        let at = Instant::now();
        self.send_to_init(&ToInit::Go(order))?;
        let woken = loop {
            match self.wait_event_until(at + START_TIME_MAX, MessageSources::Init) {
                // Handled when the watch begins.
                SandboxEvent::Alarm => {}
                other => break other,
            }
        };
        match woken {
            SandboxEvent::Init(FromInit::Started, _) => {}
            // Only init knows that the tool was not started.
            SandboxEvent::Init(FromInit::SetupFailed(unable), _) => {
                return Err(Failed::from(unable).into());
            }
            SandboxEvent::DaemonGone => return Err(SessionStop::Abandoned),
            // A tool can be faster than the message that it was started.
            SandboxEvent::Violation => {}
            // The tool may run or have run: a limit so low that it kills init appears like this.
            SandboxEvent::InitGone => {}
            SandboxEvent::Init(..)
            | SandboxEvent::Daemon(_)
            | SandboxEvent::Unobservable(_)
            | SandboxEvent::Alarm
            | SandboxEvent::Timeout => {
                eprintln!("toolexec-launch: tool: its start was not reported; killing it");
                self.process.kill();
            }
        }
        self.send_to_daemon(&FromLauncher::Started)?;
        Ok(StartedTool { limits, work, at })
    }

    fn send_to_daemon(&self, verb: &FromLauncher) -> Result<(), SessionStop> {
        // A daemon that is gone or does not read is not a failure of this sandbox.
        wire::send_at_once(self.control, &verb.encode(), &[]).map_err(|_| SessionStop::Abandoned)
    }

    /// Returns the error for an init that is late: its step and process state.
    fn init_is_late(&self) -> Failed {
        let pid = self.process.init().as_raw().unsigned_abs();
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

/// Opens the sockets of the sandbox's own network, or of the slot's, in which this process is.
fn sockets_of(network: Option<&ProxyNetwork>) -> Result<Sockets, Failed> {
    let opened = match network {
        Some(network) => network.diag.try_clone().map(|diag| (diag, SocketKinds::UnixAndTcp)),
        None => open_diag().map(|diag| (diag, SocketKinds::Unix)),
    };
    opened
        .and_then(|(diag, kinds)| Sockets::new(diag, kinds))
        .map_err(Failed::at("measure the memory of sockets"))
}
