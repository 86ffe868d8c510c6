//! The client's side: starts or reaches the proxy, hands it a run, and gets the report.
//!
//! Blocking, with a deadline on every answer. Dropping a [`Conversation`] ends every connection of its
//! run at once; nothing here outlives the run.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect,
    socket_with, socketpair,
};

use crate::frame::{Answer, Confinement, Order, Report, Serve, Unable};
use crate::wire;

/// How long the proxy may take for an answer, and for taking an order.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a proxy that was killed may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// Where the proxy is.
#[derive(Debug)]
pub struct Egress(Place);

#[derive(Debug)]
enum Place {
    /// A process of its own for each run.
    Program(PathBuf, Vec<OsString>),
    /// A service that listens here.
    Socket(PathBuf),
}

impl Egress {
    /// The program that is started for each run; none where a service is asked.
    #[must_use]
    pub fn program(&self) -> Option<&Path> {
        match &self.0 {
            Place::Program(program, _) => Some(program),
            Place::Socket(_) => None,
        }
    }
}

/// Why a run has no network, or no report.
#[derive(Debug)]
pub enum EgressError {
    /// The program cannot be started or the socket not be reached.
    Start(PathBuf, io::Error),
    /// The proxy refused to serve this run.
    Unable(Unable),
    /// The conversation broke; every connection of the run is gone with it.
    Lost(&'static str, io::Error),
    /// The proxy answered something else than what was asked.
    Unexpected(&'static str),
}

impl fmt::Display for EgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(path, error) => {
                write!(f, "{}: cannot reach the egress proxy: {error}", path.display())
            }
            Self::Unable(why) => write!(f, "egress proxy: does not serve this run: {why}"),
            Self::Lost(act, error) => write!(f, "egress proxy: lost while {act}: {error}"),
            Self::Unexpected(act) => write!(f, "egress proxy: wrong answer while {act}"),
        }
    }
}

impl std::error::Error for EgressError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start(_, error) | Self::Lost(_, error) => Some(error),
            Self::Unable(_) | Self::Unexpected(_) => None,
        }
    }
}

impl Egress {
    /// The program at this path is started anew for each run, with these arguments (`--help` of the
    /// program) and an empty environment.
    #[must_use]
    pub fn spawn(program: &Path, arguments: &[OsString]) -> Self {
        Self(Place::Program(program.to_owned(), arguments.to_owned()))
    }

    /// A service listens on the seqpacket socket at this path.
    #[must_use]
    pub fn socket(path: &Path) -> Self {
        Self(Place::Socket(path.to_owned()))
    }

    /// Begins one run: `listener` is the TCP socket that listens inside the cell. When this returns, the
    /// proxy accepts there; the caller may let its own descriptor go.
    ///
    /// # Errors
    /// See [`EgressError`]. Then nothing accepts, and nothing of this run is left.
    pub fn serve(&self, rules: Serve, listener: impl AsFd) -> Result<Conversation, EgressError> {
        let (socket, process) = match &self.0 {
            Place::Program(program, arguments) => {
                let started = start(program, arguments);
                let (socket, child) =
                    started.map_err(|it| EgressError::Start(program.clone(), it))?;
                (socket, Some(Process(child)))
            }
            Place::Socket(path) => {
                (reach(path).map_err(|it| EgressError::Start(path.clone(), it))?, None)
            }
        };
        let mut conversation =
            Conversation { socket, _process: process, confinement: Confinement::NoNewPrivs };
        let act = "asking for the run";
        conversation.order(act, &Order::Serve(rules), Some(listener.as_fd()))?;
        match conversation.answer(act)? {
            Answer::Serving(confinement) => {
                conversation.confinement = confinement;
                Ok(conversation)
            }
            Answer::Unable(why) => Err(EgressError::Unable(why)),
            Answer::Report(_) => Err(EgressError::Unexpected(act)),
        }
    }
}

fn start(program: &Path, arguments: &[OsString]) -> io::Result<(OwnedFd, Child)> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    limit_waiting(&ours)?;
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .current_dir("/")
        // A Ctrl-C is the caller's to answer: the report of the run is wanted all the same.
        .process_group(0)
        .spawn()?;
    Ok((ours, child))
}

fn reach(path: &Path) -> io::Result<OwnedFd> {
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    limit_waiting(&socket)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

fn limit_waiting(socket: &OwnedFd) -> io::Result<()> {
    set_socket_timeout(socket, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
    set_socket_timeout(socket, Timeout::Send, Some(ANSWER_TIMEOUT))?;
    Ok(())
}

/// One run that has its hosts. Dropped, the run's connections end at once and there is no report.
#[derive(Debug)]
#[must_use]
pub struct Conversation {
    // Before `_process`: hanging up is what ends it.
    socket: OwnedFd,
    _process: Option<Process>,
    confinement: Confinement,
}

impl Conversation {
    /// What the kernel gave the proxy to confine itself with.
    #[must_use]
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Ends every connection of the run and says what was done.
    ///
    /// # Errors
    /// The proxy was lost: what the run did with its hosts is unknown, never nothing.
    pub fn close(self) -> Result<Report, EgressError> {
        let act = "asking for the report";
        self.order(act, &Order::Close, None)?;
        match self.answer(act)? {
            Answer::Report(report) => Ok(report),
            Answer::Unable(why) => Err(EgressError::Unable(why)),
            Answer::Serving(_) => Err(EgressError::Unexpected(act)),
        }
    }

    fn order(
        &self,
        act: &'static str,
        order: &Order,
        fd: Option<std::os::fd::BorrowedFd<'_>>,
    ) -> Result<(), EgressError> {
        wire::send(&self.socket, order, fd, SendFlags::empty())
            .map_err(|error| EgressError::Lost(act, error))
    }

    fn answer(&self, act: &'static str) -> Result<Answer, EgressError> {
        let lost = |error| EgressError::Lost(act, error);
        let received = wire::receive(&self.socket, RecvFlags::empty()).map_err(lost)?;
        let gone = || lost(io::Error::from(io::ErrorKind::UnexpectedEof));
        received.ok_or_else(gone)?.parse().map_err(lost)
    }
}

/// The proxy of one run, where it is a process of ours.
#[derive(Debug)]
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // The socket may still be open here; a proxy without its client has nothing left to do.
        if let Err(error) = self.0.kill() {
            eprintln!("toolexec-egress {}: cannot be ended: {error}", self.0.id());
        }
        // One that is stuck in the kernel is not reached by a kill; it is left behind.
        let begun = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) {
            if begun.elapsed() >= END_TIMEOUT {
                let wchan = std::fs::read_to_string(format!("/proc/{}/wchan", self.0.id()));
                let wchan = wchan.unwrap_or_default();
                eprintln!(
                    "toolexec-egress {}: does not end and is left behind, in {}",
                    self.0.id(),
                    if wchan.is_empty() { "an unknown place" } else { wchan.trim() }
                );
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
