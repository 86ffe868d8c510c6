//! The daemon's side of a run: `Launcher` → `PreparedCell` → `ReadyCell` → `RunningCell` → `Finished`,
//! each consumed by the next.
//!
//! A cell can be prepared before there is anything to run in it. A [`ReadyCell`] is confined and waiting; nothing of the tool's has run. The caller makes its intent
//! durable and only then calls [`ReadyCell::start`]. Everything read here was written by a tool or a
//! process with the tool's uid: it is bounded, kept, hashed and believed in nothing.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::collect::Collection;
use crate::messages::{Evidence, FromLauncher, ToLauncher};
use crate::plan::{CellPlan, Limits, Network, Order, Plan};
use crate::report::{Confinement, Mark};
use crate::tap::Tap;
use crate::wire;

mod conversation;
mod error;
mod own;
mod run;
mod start;

pub use error::{BuildError, Standstill};
pub use run::{RunNews, RunningCell};
pub use start::{StartLimit, Wait, Waiting};

use conversation::{First, limit_sending, pair};
use own::{OwnLauncher, Program};
use start::{Peer, START_TIME_MAX, end_of_child};

/// Most launchers of our own that are waited for beside the present one.
const RETIRED_MAX: usize = 3;
/// How often it is tried to have the launchers that are our children.
const LOCK_INTERVAL: Duration = Duration::from_millis(1);
/// How long the launcher may take to say that the tool was started. Its slot says so sooner, even of a tool
/// whose start it did not see.
const STARTED_TIME_MAX: Duration = Duration::from_secs(15);

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

fn lost(why: &'static str) -> BuildError {
    BuildError::Lost(io::Error::new(io::ErrorKind::UnexpectedEof, why))
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

/// A cell that is built, confined and empty: it has no order yet.
#[must_use = "a cell without an order is ended when it is dropped"]
pub struct PreparedCell {
    peer: Peer,
    control: OwnedFd,
    evidence: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    proxy: Option<OwnedFd>,
    confinement: Confinement,
    marks: Vec<Mark>,
}

/// A cell that is built, confined and waiting, with its order's limits in force.
#[must_use = "a cell that is not started is ended when it is dropped"]
pub struct ReadyCell {
    peer: Peer,
    control: OwnedFd,
    evidence: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    proxy: Option<OwnedFd>,
    confinement: Confinement,
    limits: Limits,
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

/// A cell that is being built, or is waiting already.
#[must_use = "a cell that nobody waits for is ended when it is dropped"]
pub struct AskedCell {
    peer: Peer,
    control: OwnedFd,
    evidence: OwnedFd,
    network: Network,
}

impl AskedCell {
    /// Waits until it is built.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run; with what is known of the other side.
    fn prepared(mut self, limit: &mut StartLimit<'_>) -> Result<PreparedCell, (BuildError, Peer)> {
        match self.wait(limit) {
            Ok((confinement, marks, [stdout, stderr], proxy)) => {
                let Self { peer, control, evidence, .. } = self;
                Ok(PreparedCell {
                    peer,
                    control,
                    evidence,
                    stdout,
                    stderr,
                    proxy,
                    confinement,
                    marks,
                })
            }
            Err(error) => Err((error, self.peer)),
        }
    }

    /// Waits until it is built, within a bound of the caller's.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run; what is left is stuck in the kernel, and is named.
    pub fn prepared_within(self, limit: &mut StartLimit<'_>) -> Result<PreparedCell, BuildError> {
        self.prepared(limit).map_err(|(error, _)| error)
    }

    fn wait(&mut self, limit: &mut StartLimit<'_>) -> Result<Built, BuildError> {
        let Self { peer, control, evidence, network } = self;
        let heard = limit.hear(control, peer, evidence, "prepare the sandbox")?;
        let (confinement, marks, mut fds) = match heard {
            Some((FromLauncher::Prepared(confinement, marks), fds)) => (*confinement, marks, fds),
            Some((FromLauncher::Unable(unable), _)) => return Err(BuildError::Unable(unable)),
            Some(_) => return Err(lost("it spoke out of turn")),
            None => return Err(peer.closed()),
        };
        let proxy = fds.pop();
        if !fds.is_empty() || proxy.is_some() != (*network == Network::Proxy) {
            return Err(lost("the cell has another network than was asked for"));
        }
        peer.look(evidence);
        // They were sent before it was said that the cell is prepared.
        let streams = match wire::wait_to_receive(&*evidence, Duration::ZERO) {
            Ok(true) => wire::receive(&*evidence).map_err(BuildError::Lost)?,
            Ok(false) => None,
            Err(error) => return Err(BuildError::Lost(error)),
        };
        let Some((bytes, fds)) = streams else {
            return Err(lost("the cell sent no streams"));
        };
        let (Ok(Evidence::Streams), Ok(streams)) =
            (Evidence::decode(&bytes), <[OwnedFd; 2]>::try_from(fds))
        else {
            return Err(lost("the cell sent no streams"));
        };
        Ok((confinement, marks, streams, proxy))
    }
}

/// What is known of a cell once it is built: its confinement, the times of its steps, the streams and the
/// socket of its proxy.
type Built = (Confinement, Vec<Mark>, [OwnedFd; 2], Option<OwnedFd>);

impl PreparedCell {
    /// What is in force, as the cell read it back; the limits come with the order.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// When each step of making it was done.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Gives the cell its order.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run and nothing is left.
    pub fn order(self, order: Order) -> Result<ReadyCell, BuildError> {
        self.order_within(order, &mut StartLimit::new(START_TIME_MAX, &mut |_| Wait::GoOn))
    }

    /// The same within a bound of the caller's.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run; what is left is stuck in the kernel, and is named.
    pub fn order_within(
        self,
        order: Order,
        limit: &mut StartLimit<'_>,
    ) -> Result<ReadyCell, BuildError> {
        let limits = order.limits;
        let verb = ToLauncher::Order(Box::new(order)).encode();
        wire::send(&self.control, &verb, &[]).map_err(BuildError::Lost)?;
        self.ready(limits, limit)
    }

    fn ready(self, limits: Limits, limit: &mut StartLimit<'_>) -> Result<ReadyCell, BuildError> {
        let Self { mut peer, control, evidence, stdout, stderr, proxy, mut confinement, .. } = self;
        match limit.hear(&control, &mut peer, &evidence, "put the limits in force")? {
            Some((FromLauncher::Ready(in_force), _)) => confinement.limits = in_force,
            Some((FromLauncher::Unable(unable), _)) => return Err(BuildError::Unable(unable)),
            Some(_) => return Err(lost("it spoke out of turn")),
            None => return Err(peer.closed()),
        }
        Ok(ReadyCell { peer, control, evidence, stdout, stderr, proxy, confinement, limits })
    }
}

impl ReadyCell {
    /// What is in force, as the cell read it back.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// The socket that listens at the proxy's port inside the cell, once; only a cell whose plan asked
    /// for a network has one. Whoever accepts there is all that the tool can reach.
    #[must_use]
    pub fn take_proxy(&mut self) -> Option<OwnedFd> {
        self.proxy.take()
    }

    /// Lets the tool start. `result` is the directory that the result is gathered in: `stdout`,
    /// `stderr` and `artifacts/` are made there.
    ///
    /// # Errors
    /// [`BuildError`] when the tool was not started, or, for [`BuildError::Unknown`], may have been.
    pub fn start(self, result: BorrowedFd<'_>) -> Result<RunningCell, BuildError> {
        let Self { mut peer, control, evidence, stdout, stderr, limits, .. } = self;
        let prepared = || -> io::Result<_> {
            let stdout = Tap::new(stdout, result, "stdout", limits.stream_bytes_max)?;
            let stderr = Tap::new(stderr, result, "stderr", limits.stream_bytes_max)?;
            Ok((stdout, stderr, Collection::new(result, &limits)?))
        };
        let (stdout, stderr, collection) = prepared().map_err(BuildError::Lost)?;
        wire::send_at_once(&control, &ToLauncher::Go.encode(), &[]).map_err(BuildError::Lost)?;
        let unknown = |kind: io::ErrorKind| BuildError::Unknown(kind.into());
        let go_on = &mut |_: &Waiting| Wait::GoOn;
        let heard = StartLimit::new(STARTED_TIME_MAX, go_on)
            .hear(&control, &mut peer, &evidence, "start the tool")
            .map_err(|error| BuildError::Unknown(io::Error::other(error.to_string())))?;
        match heard {
            Some((FromLauncher::Started, _)) => {}
            Some((FromLauncher::Unable(unable), _)) => return Err(BuildError::Unable(unable)),
            Some(_) => return Err(unknown(io::ErrorKind::InvalidData)),
            None => return Err(unknown(io::ErrorKind::UnexpectedEof)),
        }
        let wall = Duration::from_millis(limits.wall_ms_max);
        let asked_to_kill = None;
        Ok(RunningCell { peer, control, evidence, stdout, stderr, collection, asked_to_kill, wall })
    }
}
