//! The launcher: reached or started, asked for sandboxes, and replaced where it does not answer.

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

/// Most launchers of our own that are waited for beside the present one.
const RETIRED_MAX: usize = 3;
/// How often it is tried to have the launchers that are our children.
const LOCK_INTERVAL: Duration = Duration::from_millis(1);

/// How to reach a launcher.
#[derive(Clone, Debug)]
pub enum Reach {
    /// Start one of our own, when it is needed first.
    Spawn {
        program: PathBuf,
        staging: PathBuf,
        /// Directories that runtimes may need; the launcher's own list if there are none.
        mounts_allowed: Vec<PathBuf>,
        /// Cells at one time.
        seats_max: u32,
    },
    /// Ask the one behind a socket unit.
    Socket(PathBuf),
}

/// A launcher, running or to be started with the first cell.
#[derive(Debug)]
pub struct Launcher {
    reach: Reach,
    own: Mutex<Own>,
}

/// The launchers that are our children.
#[derive(Debug, Default)]
struct Own {
    present: Option<OwnLauncher>,
    /// Those that did not answer: they take no more conversations, and end with their last cell.
    retired: Vec<OwnLauncher>,
}

impl Launcher {
    /// Nothing is started or reached yet.
    #[must_use]
    pub fn new(reach: Reach) -> Self {
        Self { reach, own: Mutex::default() }
    }

    /// Begins a conversation, and says which launcher it is with if that is our child.
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
                    // A launcher that accepts nobody has a queue that is full one day.
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
                // One that has ended meanwhile (somebody killed it) is replaced.
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
                // It may have ended before the first word.
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

    /// The launchers that are our children, unless another caller has them for too long.
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

    /// After a conversation that no slot took in time: a launcher of our own gets no more of them. The next one
    /// starts another, and what runs in this one may end.
    fn retire_untaken(&self, failed: &BuildError, peer: Peer) {
        if !matches!(failed, BuildError::Stuck(_)) || peer.slot.is_some() {
            return;
        }
        let Some(mut own) = self.own_now() else { return };
        // Where every launcher hangs, no more of them are left behind than this.
        if own.retired.len() >= RETIRED_MAX {
            return;
        }
        let is_it = |own: &mut OwnLauncher| Some(own.pid()) == peer.launcher;
        if let Some(mut retired) = own.present.take_if(is_it) {
            retired.retire();
            own.retired.push(retired);
        }
    }

    /// Has a cell built. When this returns every layer of confinement is in force, nothing of a tool's
    /// has run, and the cell waits for its order for at most a quarter of an hour.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run and nothing is left.
    pub fn prepare(&self, plan: CellPlan) -> Result<PreparedCell, BuildError> {
        let go_on = &mut |_: &Waiting| Wait::GoOn;
        let mut limit = StartLimit::new(START_TIME_MAX, go_on);
        self.ask_within(plan, &mut limit)?.prepared_within(&mut limit)
    }

    /// Has a cell built for this plan, with the order's limits in force, within half a minute.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run and nothing is left.
    pub fn build(&self, plan: Plan) -> Result<ReadyCell, BuildError> {
        self.build_within(plan, &mut StartLimit::new(START_TIME_MAX, &mut |_| Wait::GoOn))
    }

    /// The same within a bound of the caller's.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run; what is left is stuck in the kernel, and is named.
    pub fn build_within(
        &self,
        plan: Plan,
        limit: &mut StartLimit<'_>,
    ) -> Result<ReadyCell, BuildError> {
        let asked = self.ask_within(plan.cell, limit)?;
        // The order waits at the launcher until the cell is there: one way less to go.
        let limits = plan.order.limits;
        let order = ToLauncher::Order(Box::new(plan.order)).encode();
        // A launcher that has refused already has closed, and its answer is still to be read.
        let sent = wire::send(&asked.control, &order, &[]);
        let prepared = asked.prepared(limit).map_err(|(error, peer)| {
            self.retire_untaken(&error, peer);
            error
        })?;
        sent.map_err(BuildError::Lost)?;
        prepared.ready(limits, limit)
    }

    /// Asks for a cell and does not wait for it: the launcher builds it meanwhile. `time_max` is how long it
    /// has for that.
    ///
    /// # Errors
    /// [`BuildError`]: no launcher could be asked.
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
