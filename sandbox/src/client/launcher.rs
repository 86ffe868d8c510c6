//! The launcher client: connects to a launcher or starts one, requests sandboxes, and replaces a
//! launcher that does not respond.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::asked::AskedCell;
use super::conversation::{First, limit_sending, pair};
use super::error::BuildError;
use super::own::{OwnLauncher, Program};
use super::prepared::{PreparedCell, ReadyCell};
use super::start::{Peer, START_TIME_MAX, StartLimit, Wait, Waiting, end_of_child};
use crate::messages::ToLauncher;
use crate::plan::{CellPlan, Plan};
use crate::wire;

/// The most retired launchers that are kept besides the current one.
const RETIRED_MAX: usize = 3;
/// The interval between attempts to lock the launchers that are our children.
const LOCK_INTERVAL: Duration = Duration::from_millis(1);

/// The way to reach a launcher.
#[derive(Clone, Debug)]
pub enum Reach {
    /// Start a launcher as a child, on first use.
    Spawn {
        program: PathBuf,
        staging: PathBuf,
        /// Directories that runtimes may need; the launcher's default list if empty.
        mounts_allowed: Vec<PathBuf>,
        /// The most concurrent sandboxes.
        seats_max: u32,
    },
    /// Connect to the launcher behind a socket unit.
    Socket(PathBuf),
}

/// A launcher that is running or will be started with the first sandbox.
#[derive(Debug)]
pub struct Launcher {
    reach: Reach,
    own: Mutex<Own>,
}

/// The launchers that are our children.
#[derive(Debug, Default)]
struct Own {
    present: Option<OwnLauncher>,
    /// Launchers that did not respond. They get no more sessions and end with their last sandbox.
    retired: Vec<OwnLauncher>,
}

impl Launcher {
    /// Returns a client; no launcher is started or reached yet.
    #[must_use]
    pub fn new(reach: Reach) -> Self {
        Self { reach, own: Mutex::default() }
    }

    /// Begins a session. Returns its socket and the launcher's pid if it is our child.
    fn converse(
        &self,
        first: &First<'_>,
        limit: &mut StartLimit<'_>,
    ) -> Result<(OwnedFd, Option<u32>), BuildError> {
        let deadline = limit.deadline();
        match &self.reach {
            Reach::Socket(path) => {
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
            Reach::Spawn { program, staging, mounts_allowed, seats_max } => {
                let failed = |error| BuildError::Launcher(program.clone(), error);
                let mut own = self.own(limit)?;
                own.retired.retain_mut(|retired| !retired.has_ended());
                // A launcher that has ended meanwhile, for example by a kill, is replaced.
                let present = own.present.as_ref();
                let begun = present.map(|own| (own.converse(first, deadline), own.pid()));
                if let Some((Ok(control), pid)) = begun {
                    return Ok((control, Some(pid)));
                }
                let program = Program {
                    path: program.clone(),
                    staging: staging.clone(),
                    mounts_allowed: mounts_allowed.clone(),
                    seats_max: *seats_max,
                };
                let started = OwnLauncher::start(program, limit)?;
                let pid = started.pid();
                // It may have ended before the first message.
                let control = started.converse(first, deadline).map_err(|error| {
                    failed(
                        end_of_child(pid)
                            .map_or(error, |end| io::Error::other(format!("it {end}"))),
                    )
                })?;
                own.present = Some(started);
                Ok((control, Some(pid)))
            }
        }
    }

    /// Locks the launchers that are our children, unless another caller holds the lock for too
    /// long.
    fn own(&self, limit: &mut StartLimit<'_>) -> Result<MutexGuard<'_, Own>, BuildError> {
        loop {
            if let Some(own) = self.own_now() {
                return Ok(own);
            }
            limit.go_on(Peer::default(), "wait for another request to start the launcher")?;
            thread::sleep(LOCK_INTERVAL);
        }
    }

    fn own_now(&self) -> Option<MutexGuard<'_, Own>> {
        match self.own.try_lock() {
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
        let Some(mut own) = self.own_now() else { return };
        // If every launcher hangs, no more than this many remain.
        if own.retired.len() >= RETIRED_MAX {
            return;
        }
        let is_it = |own: &mut OwnLauncher| Some(own.pid()) == peer.launcher;
        if let Some(mut retired) = own.present.take_if(is_it) {
            retired.retire();
            own.retired.push(retired);
        }
    }

    /// Builds a sandbox without a command. When this returns, every layer of confinement is active
    /// and no code of the tool has run. The sandbox waits for its command for at most 15 minutes.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run and nothing remains.
    pub fn prepare(&self, plan: CellPlan) -> Result<PreparedCell, BuildError> {
        let go_on = &mut |_: &Waiting| Wait::GoOn;
        let mut limit = StartLimit::new(START_TIME_MAX, go_on);
        self.ask_within(plan, &mut limit)?.prepared_within(&mut limit)
    }

    /// Builds a sandbox for this plan and enforces its limits, within 30 seconds.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run and nothing remains.
    pub fn build(&self, plan: Plan) -> Result<ReadyCell, BuildError> {
        self.build_within(plan, &mut StartLimit::new(START_TIME_MAX, &mut |_| Wait::GoOn))
    }

    /// Like [`Self::build`], within the caller's limit.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run. The error names processes that remain stuck in the kernel.
    pub fn build_within(
        &self,
        plan: Plan,
        limit: &mut StartLimit<'_>,
    ) -> Result<ReadyCell, BuildError> {
        let asked = self.ask_within(plan.cell, limit)?;
        // The command waits at the launcher until the sandbox is built, which saves a round trip.
        let limits = plan.order.limits;
        let order = ToLauncher::Order(Box::new(plan.order)).encode();
        // A launcher that has already refused has closed the socket; its answer must still be read.
        let sent = wire::send(&asked.control, &order, &[]);
        let prepared = asked.prepared(limit).map_err(|(error, peer)| {
            self.retire_untaken(&error, peer);
            error
        })?;
        sent.map_err(BuildError::Lost)?;
        prepared.ready(limits, limit)
    }

    /// Requests a sandbox without waiting for it. The launcher has `time_max` to build it.
    ///
    /// # Errors
    /// [`BuildError`]; no launcher could be reached.
    pub fn ask(&self, plan: CellPlan, time_max: Duration) -> Result<AskedCell, BuildError> {
        self.ask_within(plan, &mut StartLimit::new(time_max, &mut |_| Wait::GoOn))
    }

    fn ask_within(
        &self,
        plan: CellPlan,
        limit: &mut StartLimit<'_>,
    ) -> Result<AskedCell, BuildError> {
        let network = plan.network;
        let (evidence, theirs) = pair().map_err(BuildError::Lost)?;
        let start_ms_max = u64::try_from(limit.time_max().as_millis()).unwrap_or(u64::MAX);
        let frame = ToLauncher::Prepare(Box::new(plan), start_ms_max).encode();
        let (control, launcher) =
            self.converse(&First { frame, evidence: theirs.as_fd() }, limit)?;
        let peer = Peer { launcher, slot: None };
        Ok(AskedCell { peer, control, evidence, network })
    }
}
