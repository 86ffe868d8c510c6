//! The daemon's side of a run: `Launcher` → `PreparedCell` → `ReadyCell` → `RunningCell` → `Finished`,
//! each consumed by the next.
//!
//! A cell can be prepared before there is anything to run in it. A [`ReadyCell`] is confined and waiting; nothing of the tool's has run. The caller makes its intent
//! durable and only then calls [`ReadyCell::start`]. Everything read here was written by a tool or a
//! process with the tool's uid: it is bounded, kept, hashed and believed in nothing.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, socketpair,
};

use crate::collect::{Belief, Collection};
use crate::frame::{Ending, Evidence, FromLauncher, ToLauncher, Unable};
use crate::outcome::{Facts, Killed};
use crate::plan::{CellPlan, Limits, Network, Order, Plan};
use crate::report::{Confinement, Finished, Mark, Usage};
use crate::tap::Tap;
use crate::wire;

/// How often the caller is asked whether the run is to be cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(100);
/// How long the launcher may take to answer before the tool runs.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// What the launcher may need beyond the wall limit: to end the tree and to collect.
const LAUNCHER_TIME_MAX: Duration = Duration::from_secs(180);
/// How long our own launcher may take to end when it is not needed any more.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);
/// After the launcher's last word, how long the streams and the last files may still take.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

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

/// Why there is no cell.
#[derive(Debug)]
pub enum BuildError {
    /// The launcher could not be started or reached.
    Launcher(PathBuf, io::Error),
    /// It said why not.
    Unable(Unable),
    /// It died or spoke nonsense before it was told to start the tool.
    Lost(io::Error),
    /// The same between the word to start and the answer: the tool may have run.
    Unknown(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launcher(path, error) => write!(f, "the launcher {}: {error}", path.display()),
            Self::Unable(unable) => unable.fmt(f),
            Self::Lost(error) => write!(f, "the launcher was lost before the start: {error}"),
            Self::Unknown(error) => {
                write!(f, "the launcher was lost while it started the tool: {error}")
            }
        }
    }
}

impl std::error::Error for BuildError {}

fn lost(why: &'static str) -> BuildError {
    BuildError::Lost(io::Error::new(io::ErrorKind::UnexpectedEof, why))
}

/// A launcher, running or to be started with the first cell.
#[derive(Debug)]
pub struct Launcher {
    reach: Reach,
    own: Mutex<Option<OwnLauncher>>,
}

/// The first words of a conversation, and where its evidence is to be sent.
struct First<'a> {
    frame: Vec<u8>,
    evidence: BorrowedFd<'a>,
}

impl First<'_> {
    fn send(&self, control: &OwnedFd) -> io::Result<()> {
        wire::send(control, &self.frame, &[self.evidence])
    }
}

/// A launcher that is our child.
#[derive(Debug)]
struct OwnLauncher {
    /// Conversations go in here; closing it is the word to end.
    door: Option<OwnedFd>,
    process: Child,
}

impl OwnLauncher {
    fn start(
        program: &Path,
        staging: &Path,
        mounts_allowed: &[PathBuf],
        seats_max: u32,
    ) -> io::Result<Self> {
        let (door, theirs) = pair()?;
        let mut command = Command::new(program);
        command.arg("--staging").arg(staging).env_clear();
        command.arg("--seats-max").arg(seats_max.to_string());
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null());
        // A Ctrl-C is the caller's to answer: the launcher must outlive it, or nobody would know how
        // the run ended.
        command.process_group(0);
        for mount in mounts_allowed {
            command.arg("--allow-mount").arg(mount);
        }
        Ok(Self { door: Some(door), process: command.spawn()? })
    }

    /// Begins a conversation with these words. They are there before anybody listens, who then need not
    /// be woken twice.
    fn converse(&self, first: &First<'_>) -> io::Result<OwnedFd> {
        let (control, theirs) = pair()?;
        first.send(&control)?;
        let door = self.door.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        wire::send(door, b"conversation", &[theirs.as_fd()])?;
        Ok(control)
    }
}

impl Drop for OwnLauncher {
    /// The launcher ends when its door is closed and its last cell is gone; it must not stay a zombie.
    fn drop(&mut self) {
        self.door = None;
        let deadline = Instant::now() + EXIT_TIME_MAX;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        // One that hangs takes its cells with it when it is killed; one that has ended is not hurt.
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait()) {
            eprintln!("toolexec: the launcher could not be waited for: {error}");
        }
    }
}

/// A cell that is built, confined and empty: it has no order yet.
#[must_use = "a cell without an order is ended when it is dropped"]
pub struct PreparedCell {
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
        Self { reach, own: Mutex::new(None) }
    }

    fn converse(&self, first: &First<'_>) -> Result<OwnedFd, BuildError> {
        match &self.reach {
            Reach::Socket(path) => {
                let connected = || -> io::Result<OwnedFd> {
                    let kind = SocketType::SEQPACKET;
                    let control =
                        socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
                    connect(&control, &SocketAddrUnix::new(path)?)?;
                    Ok(control)
                };
                let control =
                    connected().map_err(|error| BuildError::Launcher(path.clone(), error))?;
                first.send(&control).map_err(BuildError::Lost)?;
                Ok(control)
            }
            Reach::Spawn { program, staging, mounts_allowed, seats_max } => {
                let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
                // One that has ended meanwhile (somebody killed it) is replaced.
                if let Some(Ok(control)) = own.as_ref().map(|own| own.converse(first)) {
                    return Ok(control);
                }
                let started = || {
                    let started = OwnLauncher::start(program, staging, mounts_allowed, *seats_max)?;
                    let control = started.converse(first)?;
                    Ok((started, control))
                };
                let (started, control) = started()
                    .map_err(|error: io::Error| BuildError::Launcher(program.clone(), error))?;
                *own = Some(started);
                Ok(control)
            }
        }
    }

    /// Has a cell built. When this returns every layer of confinement is in force, nothing of a tool's
    /// has run, and the cell waits for its order for at most a quarter of an hour.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run and nothing is left.
    pub fn prepare(&self, plan: CellPlan) -> Result<PreparedCell, BuildError> {
        self.ask(plan)?.prepared()
    }

    /// Has a cell built for this plan, with the order's limits in force.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run and nothing is left.
    pub fn build(&self, plan: Plan) -> Result<ReadyCell, BuildError> {
        let asked = self.ask(plan.cell)?;
        // The order waits at the launcher until the cell is there: one way less to go.
        let limits = plan.order.limits;
        let order = ToLauncher::Order(Box::new(plan.order)).encode();
        // A launcher that has refused already has closed, and its answer is still to be read.
        let sent = wire::send(&asked.control, &order, &[]);
        let prepared = asked.prepared()?;
        sent.map_err(BuildError::Lost)?;
        prepared.ready(limits)
    }

    /// Asks for a cell and does not wait for it: the launcher builds it meanwhile.
    ///
    /// # Errors
    /// [`BuildError`]: no launcher could be asked.
    pub fn ask(&self, plan: CellPlan) -> Result<AskedCell, BuildError> {
        let network = plan.network;
        let (evidence, theirs) = pair().map_err(BuildError::Lost)?;
        let frame = ToLauncher::Prepare(Box::new(plan)).encode();
        let control = self.converse(&First { frame, evidence: theirs.as_fd() })?;
        Ok(AskedCell { control, evidence, network })
    }
}

/// A cell that is being built, or is waiting already.
#[must_use = "a cell that nobody waits for is ended when it is dropped"]
pub struct AskedCell {
    control: OwnedFd,
    evidence: OwnedFd,
    network: Network,
}

impl AskedCell {
    /// Waits until it is built.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run and nothing is left.
    pub fn prepared(self) -> Result<PreparedCell, BuildError> {
        let Self { control, evidence, network } = self;
        let (confinement, marks, mut fds) = match hear_soon(&control).map_err(BuildError::Lost)? {
            Some((FromLauncher::Prepared(confinement, marks), fds)) => (*confinement, marks, fds),
            Some((FromLauncher::Unable(unable), _)) => return Err(BuildError::Unable(unable)),
            Some(_) => return Err(lost("it spoke out of turn")),
            None => return Err(lost("it closed the connection")),
        };
        let proxy = fds.pop();
        if !fds.is_empty() || proxy.is_some() != (network == Network::Proxy) {
            return Err(lost("the cell has another network than was asked for"));
        }
        let Some((bytes, fds)) = wire::receive(&evidence).map_err(BuildError::Lost)? else {
            return Err(lost("the cell sent no streams"));
        };
        let (Ok(Evidence::Streams), Ok([stdout, stderr])) =
            (Evidence::decode(&bytes), <[OwnedFd; 2]>::try_from(fds))
        else {
            return Err(lost("the cell sent no streams"));
        };
        Ok(PreparedCell { control, evidence, stdout, stderr, proxy, confinement, marks })
    }
}

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
        let limits = order.limits;
        let verb = ToLauncher::Order(Box::new(order)).encode();
        wire::send(&self.control, &verb, &[]).map_err(BuildError::Lost)?;
        self.ready(limits)
    }

    fn ready(self, limits: Limits) -> Result<ReadyCell, BuildError> {
        let Self { control, evidence, stdout, stderr, proxy, mut confinement, marks: _ } = self;
        match hear_soon(&control).map_err(BuildError::Lost)? {
            Some((FromLauncher::Ready(in_force), _)) => confinement.limits = in_force,
            Some((FromLauncher::Unable(unable), _)) => return Err(BuildError::Unable(unable)),
            Some(_) => return Err(lost("it spoke out of turn")),
            None => return Err(lost("it closed the connection")),
        }
        Ok(ReadyCell { control, evidence, stdout, stderr, proxy, confinement, limits })
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
        let Self { control, evidence, stdout, stderr, limits, .. } = self;
        let prepared = || -> io::Result<_> {
            let stdout = Tap::new(stdout, result, "stdout", limits.stream_bytes_max)?;
            let stderr = Tap::new(stderr, result, "stderr", limits.stream_bytes_max)?;
            Ok((stdout, stderr, Collection::new(result, &limits)?))
        };
        let (stdout, stderr, collection) = prepared().map_err(BuildError::Lost)?;
        wire::send(&control, &ToLauncher::Go.encode(), &[]).map_err(BuildError::Lost)?;
        let unknown = |kind: io::ErrorKind| BuildError::Unknown(kind.into());
        match hear_soon(&control).map_err(BuildError::Unknown)? {
            Some((FromLauncher::Started, _)) => {}
            Some((FromLauncher::Unable(unable), _)) => return Err(BuildError::Unable(unable)),
            Some(_) => return Err(unknown(io::ErrorKind::InvalidData)),
            None => return Err(unknown(io::ErrorKind::UnexpectedEof)),
        }
        let time_max = Duration::from_millis(limits.wall_ms_max) + LAUNCHER_TIME_MAX;
        let asked_to_kill = None;
        Ok(RunningCell { control, evidence, stdout, stderr, collection, asked_to_kill, time_max })
    }
}

/// A tool that is running.
#[must_use = "a running cell that is dropped is killed"]
pub struct RunningCell {
    control: OwnedFd,
    evidence: OwnedFd,
    stdout: Tap,
    stderr: Tap,
    collection: Collection,
    asked_to_kill: Option<Killed>,
    /// After this a launcher that has said nothing is as good as lost.
    time_max: Duration,
}

/// What the streams, the collector and the launcher still owe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owed {
    More,
    Nothing,
}

impl RunningCell {
    /// Reads until everything has ended. `cancelled` is asked a few times a second.
    ///
    /// # Errors
    /// Only of our own disk: what the tool or the launcher does ends in the [`Finished`].
    pub fn finish(self, cancelled: impl FnMut() -> bool) -> io::Result<Finished> {
        self.finish_told(cancelled, |_| {})
    }

    /// The same, and what the run uses is told now and then, for whoever looks on.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_told(
        mut self,
        mut cancelled: impl FnMut() -> bool,
        mut used: impl FnMut(Usage),
    ) -> io::Result<Finished> {
        let mut ending = None;
        let mut control = Owed::More;
        let mut evidence = Owed::More;
        let mut deadline = None;
        let lost_at = Instant::now() + self.time_max;
        loop {
            let open = |owed: Owed| owed == Owed::More;
            if !open(control) && !open(evidence) && !self.stdout.open() && !self.stderr.open() {
                break;
            }
            // A process that fled its cell could hold a pipe open for ever: there is none, but the
            // daemon does not wait on that belief.
            if Instant::now() >= deadline.unwrap_or(lost_at) {
                break;
            }
            let ready = self.wait(open(control), open(evidence))?;
            if ready.stdout {
                self.stdout.read_some()?;
            }
            if ready.stderr {
                self.stderr.read_some()?;
            }
            if ready.evidence {
                evidence = self.take_evidence()?;
                // Files still come: the drain begins when they stop.
                deadline = deadline.map(|_| Instant::now() + DRAIN_TIME_MAX);
            }
            if ready.control {
                match hear(&self.control) {
                    Ok(Some((FromLauncher::Used(usage), _))) => used(usage),
                    last => {
                        if let Ok(Some((FromLauncher::Ended(ended), _))) = last {
                            ending = Some(*ended);
                        }
                        control = Owed::Nothing;
                        deadline = Some(Instant::now() + DRAIN_TIME_MAX);
                    }
                }
            }
            if self.stdout.over() || self.stderr.over() {
                self.ask_to_kill(Killed::Stream);
            } else if cancelled() {
                self.ask_to_kill(Killed::Cancelled);
            }
        }
        self.close(ending)
    }

    fn wait(&self, control: bool, evidence: bool) -> io::Result<Ready> {
        let fds = [
            (control, self.control.as_fd()),
            (evidence, self.evidence.as_fd()),
            (self.stdout.open(), self.stdout.pipe.as_fd()),
            (self.stderr.open(), self.stderr.pipe.as_fd()),
        ];
        let mut waited: Vec<PollFd<'_>> = fds
            .iter()
            .filter(|(open, _)| *open)
            .map(|(_, fd)| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
            .collect();
        let timeout = Timespec::try_from(CANCEL_INTERVAL).ok();
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut results = waited.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |open: bool| open && results.next().unwrap_or(false);
        Ok(Ready {
            control: next(control),
            evidence: next(evidence),
            stdout: next(self.stdout.open()),
            stderr: next(self.stderr.open()),
        })
    }

    fn take_evidence(&mut self) -> io::Result<Owed> {
        let Ok(Some((bytes, fds))) = wire::receive(&self.evidence) else {
            return Ok(Owed::Nothing);
        };
        let belief = match (Evidence::decode(&bytes), fds.as_slice()) {
            (Ok(Evidence::File { path, mode }), [file]) => {
                self.collection.file(&path, mode, file)?
            }
            (Ok(Evidence::Rejected { path, reason }), []) => self.collection.reject(&path, reason),
            (Ok(Evidence::End { complete }), []) => {
                self.collection.end(complete);
                return Ok(Owed::Nothing);
            }
            // Nonsense from inside the cell ends what is believed of it.
            _ => Belief::Lost,
        };
        // Without its end the walk is not complete.
        Ok(match belief {
            Belief::Kept => Owed::More,
            Belief::Lost => Owed::Nothing,
        })
    }

    /// Once; a launcher that is gone already has ended the cell.
    fn ask_to_kill(&mut self, why: Killed) {
        if self.asked_to_kill.is_none() {
            self.asked_to_kill = Some(why);
            if wire::send(&self.control, &ToLauncher::Kill(why).encode(), &[]).is_err() {
                eprintln!("toolexec: the launcher was gone when it was asked to kill");
            }
        }
    }

    fn close(self, ending: Option<Ending>) -> io::Result<Finished> {
        // A launcher that was lost after the start leaves a run that nobody knows the end of.
        let ending = ending.unwrap_or_default();
        // A tool may have ended before the word to kill it came; what it wrote was too much all the same.
        let too_much = self.stdout.over() || self.stderr.over();
        let (stdout, stderr) = (self.stdout.close()?, self.stderr.close()?);
        let file_full = self.collection.file_full();
        let collected = self.collection.into_collected();
        let facts = Facts {
            tool: ending.tool,
            killed: ending.killed.or(too_much.then_some(Killed::Stream)),
            oom_kills: ending.accounting.oom_kills.unwrap_or(0),
            pids_limit_hit: ending.pids_limit_hit,
            out_full: ending.out_full,
            file_full,
            output_rejected: !collected.rejected.is_empty(),
            collected_all: collected.complete,
        };
        let Ending { denied, violation, accounting, .. } = ending;
        Ok(Finished { facts, denied, violation, accounting, stdout, stderr, collected })
    }
}

struct Ready {
    control: bool,
    evidence: bool,
    stdout: bool,
    stderr: bool,
}

fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// A verb with its descriptors.
type Heard = (FromLauncher, Vec<OwnedFd>);

fn hear(control: &OwnedFd) -> io::Result<Option<Heard>> {
    match wire::receive(control)? {
        Some((bytes, fds)) => Ok(Some((FromLauncher::decode(&bytes)?, fds))),
        None => Ok(None),
    }
}

/// The same for an answer that must come soon.
fn hear_soon(control: &OwnedFd) -> io::Result<Option<Heard>> {
    let timeout = Timespec::try_from(ANSWER_TIME_MAX).ok();
    let mut waited = [PollFd::new(control, PollFlags::IN)];
    match poll(&mut waited, timeout.as_ref()) {
        Ok(0) => Err(io::Error::from(io::ErrorKind::TimedOut)),
        Ok(_) | Err(Errno::INTR) => hear(control),
        Err(errno) => Err(errno.into()),
    }
}
