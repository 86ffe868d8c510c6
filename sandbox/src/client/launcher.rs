//! The launcher client: connects to a launcher or starts one, requests sandboxes, and replaces a
//! launcher that does not respond.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::child::{ChildLauncher, LauncherProgram, StartingLauncher};
use super::error::BuildError;
use super::pending::PendingSandbox;
use super::prepared::{PreparedSandbox, ReadySandbox};
use super::session::{SessionOpening, limit_sending, pair};
use super::start::{Peer, START_TIME_MAX, StartLimit, StartWait, WaitDecision, end_of_child};
use crate::messages::ToLauncher;
use crate::plan::{Plan, SandboxSpec};
use crate::wire;

/// The most retired launchers that are kept besides the current one.
const RETIRED_MAX: usize = 3;
const LOCK_INTERVAL: Duration = Duration::from_millis(1);

/// The way to reach a launcher.
#[derive(Clone, Debug)]
pub enum LauncherAddress {
    /// Start a launcher as a child, on first use.
    Spawn(LauncherProgram),
    /// Connect to the launcher behind a socket unit.
    Socket(PathBuf),
}

/// A launcher that is running or will be started with the first sandbox.
#[derive(Debug)]
pub struct Launcher {
    address: LauncherAddress,
    children: Mutex<ChildLaunchers>,
}

#[derive(Debug, Default)]
struct ChildLaunchers {
    current: Option<ChildLauncher>,
    /// A launcher that was started before the first session.
    starting: Option<StartingLauncher>,
    /// Launchers that did not respond. They get no more sessions and end with their last sandbox.
    retired: Vec<ChildLauncher>,
}

impl Drop for ChildLaunchers {
    fn drop(&mut self) {
        if let Some(starting) = self.starting.take() {
            starting.give_up();
        }
    }
}

impl Launcher {
    /// Returns a client; no launcher is started or reached yet.
    #[must_use]
    pub fn new(reach: LauncherAddress) -> Self {
        Self { address: reach, children: Mutex::default() }
    }

    /// Begins a session. Returns its socket and the launcher's pid if it is our child.
    fn open_session(
        &self,
        first: &SessionOpening<'_>,
        limit: &mut StartLimit<'_>,
    ) -> Result<(OwnedFd, Option<u32>), BuildError> {
        let deadline = limit.deadline();
        match &self.address {
            LauncherAddress::Socket(path) => {
                let connected = || -> io::Result<OwnedFd> {
                    let kind = SocketType::SEQPACKET;
                    let control =
                        socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
                    // The queue of a launcher that accepts no connection eventually fills up.
                    limit_sending(&control, deadline)?;
                    connect(&control, &SocketAddrUnix::new(path)?)?;
                    Ok(control)
                };
                let control =
                    connected().map_err(|error| BuildError::Launcher(path.clone(), error))?;
                first.send(&control).map_err(BuildError::Lost)?;
                Ok((control, None))
            }
            LauncherAddress::Spawn(program) => {
                let failed = |error| BuildError::Launcher(program.path.clone(), error);
                let mut own = self.children(limit)?;
                own.retired.retain_mut(|retired| !retired.has_ended());
                // A launcher that has ended meanwhile, for example by a kill, is replaced.
                let present = own.current.as_ref();
                let begun = present.map(|own| (own.open_session(first, deadline), own.pid()));
                if let Some((Ok(control), pid)) = begun {
                    return Ok((control, Some(pid)));
                }
                let starting = match own.starting.take() {
                    Some(starting) => starting,
                    None => StartingLauncher::begin(program.clone())?,
                };
                let started = starting.wait(limit)?;
                let pid = started.pid();
                // It may have ended before the first message.
                let control = started.open_session(first, deadline).map_err(|error| {
                    failed(
                        end_of_child(pid)
                            .map_or(error, |end| io::Error::other(format!("it {end}"))),
                    )
                })?;
                let replaced = own.current.replace(started);
                own.retired.extend(replaced);
                Ok((control, Some(pid)))
            }
        }
    }

    /// Starts a launcher on another thread if it will be our child, so that it is ready for the first
    /// session. The session reports a failure.
    pub fn start_ahead(&self) {
        let LauncherAddress::Spawn(program) = &self.address else { return };
        if let Some(mut own) = self.try_children()
            && own.current.is_none()
            && own.starting.is_none()
        {
            own.starting = StartingLauncher::begin(program.clone()).ok();
        }
    }

    /// Sends no more sessions to a launcher that is our child: it exits with its last sandbox, while
    /// the caller goes on. A later session starts another.
    pub fn close(&self) {
        if let Some(current) = self.try_children().as_mut().and_then(|own| own.current.as_mut()) {
            current.close_control_socket();
        }
    }

    /// Locks the launchers that are our children; fails if another caller holds the lock too long.
    fn children(
        &self,
        limit: &mut StartLimit<'_>,
    ) -> Result<MutexGuard<'_, ChildLaunchers>, BuildError> {
        loop {
            if let Some(own) = self.try_children() {
                return Ok(own);
            }
            limit.check(Peer::default(), "wait for another request to start the launcher")?;
            thread::sleep(LOCK_INTERVAL);
        }
    }

    fn try_children(&self) -> Option<MutexGuard<'_, ChildLaunchers>> {
        match self.children.try_lock() {
            Ok(own) => Some(own),
            Err(TryLockError::Poisoned(own)) => Some(own.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Retires our own launcher after a session that no worker took in time. The next session
    /// starts another launcher, and the sandboxes of this one may finish.
    fn retire_untaken(&self, failed: &BuildError, peer: Peer) {
        if !matches!(failed, BuildError::Stuck(_)) || peer.slot.is_some() {
            return;
        }
        let Some(mut own) = self.try_children() else { return };
        // If every launcher hangs, no more than this many remain.
        if own.retired.len() >= RETIRED_MAX {
            return;
        }
        let is_it = |own: &mut ChildLauncher| Some(own.pid()) == peer.launcher;
        if let Some(mut retired) = own.current.take_if(is_it) {
            retired.retire();
            own.retired.push(retired);
        }
    }

    /// Builds a sandbox without a command. When this returns, every layer of confinement is active
    /// and no code of the tool has run. The sandbox waits for its command for at most 15 minutes.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run and nothing remains.
    pub fn prepare(&self, plan: SandboxSpec) -> Result<PreparedSandbox, BuildError> {
        let go_on = &mut |_: &StartWait| WaitDecision::Continue;
        let mut limit = StartLimit::new(START_TIME_MAX, go_on);
        self.request_within(plan, &mut limit)?.prepared_within(&mut limit)
    }

    /// Builds a sandbox for this plan and enforces its limits, within 30 seconds.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run and nothing remains.
    pub fn build(&self, plan: Plan) -> Result<ReadySandbox, BuildError> {
        self.build_within(
            plan,
            &mut StartLimit::new(START_TIME_MAX, &mut |_| WaitDecision::Continue),
        )
    }

    /// Like [`Self::build`], within the caller's limit.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run. The error names processes that remain stuck in the kernel.
    pub fn build_within(
        &self,
        plan: Plan,
        limit: &mut StartLimit<'_>,
    ) -> Result<ReadySandbox, BuildError> {
        let pending = self.request_within(plan.sandbox, limit)?;
        // The command waits at the launcher until the sandbox is built, which saves a round trip.
        let (limits, work) = (plan.exec.limits, plan.exec.work.clone());
        let order = ToLauncher::Exec(Box::new(plan.exec)).encode();
        // A launcher that has already refused has closed the socket; its answer must still be read.
        let sent = wire::send(&pending.control, &order, &[]);
        let prepared = pending.prepared(limit).map_err(|(error, peer)| {
            self.retire_untaken(&error, peer);
            error
        })?;
        sent.map_err(BuildError::Lost)?;
        prepared.ready(limits, work, limit)
    }

    /// Requests a sandbox without waiting for it. The launcher has `time_max` to build it.
    ///
    /// # Errors
    /// [`BuildError`]; no launcher could be reached.
    pub fn request(
        &self,
        plan: SandboxSpec,
        time_max: Duration,
    ) -> Result<PendingSandbox, BuildError> {
        self.request_within(plan, &mut StartLimit::new(time_max, &mut |_| WaitDecision::Continue))
    }

    fn request_within(
        &self,
        plan: SandboxSpec,
        limit: &mut StartLimit<'_>,
    ) -> Result<PendingSandbox, BuildError> {
        let network = plan.network;
        let (evidence, theirs) = pair().map_err(BuildError::Lost)?;
        let start_ms_max = u64::try_from(limit.time_max().as_millis()).unwrap_or(u64::MAX);
        let frame = ToLauncher::Prepare(Box::new(plan), start_ms_max).encode();
        let (control, launcher) =
            self.open_session(&SessionOpening { frame, evidence: theirs.as_fd() }, limit)?;
        let peer = Peer { launcher, slot: None };
        Ok(PendingSandbox { peer, control, evidence, network })
    }
}
