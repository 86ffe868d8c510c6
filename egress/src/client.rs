//! The client's side: starts or connects to the proxy, passes it a run, and receives the report.
//! The calls block, with a timeout on every answer. Dropping a [`EgressSession`] ends every
//! connection of its run at once; nothing here outlives the run.

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

use crate::frame::{EgressConfinement, ProxyAnswer, ProxyOrder, Report, ServeOrder, ServeRefusal};
use crate::wire;

/// The time limit for sending an order and for each answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The location of the proxy.
#[derive(Debug)]
pub struct Egress(ProxyLocation);

#[derive(Debug)]
enum ProxyLocation {
    Program(PathBuf, Vec<OsString>),
    Socket(PathBuf),
}

impl Egress {
    /// Returns the program that is started for each run, or `None` for a service.
    #[must_use]
    pub fn program(&self) -> Option<&Path> {
        match &self.0 {
            ProxyLocation::Program(program, _) => Some(program),
            ProxyLocation::Socket(_) => None,
        }
    }
}

/// The reason why a run has no network, or no report.
#[derive(Debug)]
pub enum EgressError {
    /// The program cannot be started, or the socket cannot be reached.
    Start(PathBuf, io::Error),
    /// The proxy refused to serve this run.
    Unable(ServeRefusal),
    /// The session failed. All connections of the run ended with it.
    Lost(&'static str, io::Error),
    /// The proxy sent an answer of the wrong kind.
    Unexpected(&'static str),
}

impl fmt::Display for EgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(path, error) => write!(
                f,
                "{}: cannot reach the egress proxy: {error}; help: check that toolexec-egress is \
                 installed; for the service, see systemctl status toolexec-egress.socket",
                path.display()
            ),
            Self::Unable(why) => {
                write!(f, "egress proxy: refused this run: {why}; help: {}", why.remedy())
            }
            Self::Lost(act, error) => write!(
                f,
                "egress proxy: connection lost while {act}: {error}; help: see the messages of \
                 the proxy; for the service, journalctl -u toolexec-egress"
            ),
            Self::Unexpected(act) => write!(
                f,
                "egress proxy: unexpected answer while {act}; help: use toolexec and \
                 toolexec-egress of the same version"
            ),
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
    /// Uses the program at this path, which is started for each run with these arguments (see its
    /// `--help`) and an empty environment.
    #[must_use]
    pub fn spawn(program: &Path, arguments: &[OsString]) -> Self {
        Self(ProxyLocation::Program(program.to_owned(), arguments.to_owned()))
    }

    /// Uses a service that listens on the seqpacket socket at this path.
    #[must_use]
    pub fn socket(path: &Path) -> Self {
        Self(ProxyLocation::Socket(path.to_owned()))
    }

    /// Begins one run. `listener` is the TCP socket that listens inside the sandbox. When this
    /// returns, the proxy accepts connections there, and the caller may close its own descriptor.
    ///
    /// # Errors
    /// See [`EgressError`]. Then no connection is accepted, and nothing of this run remains.
    pub fn serve(
        &self,
        rules: ServeOrder,
        listener: impl AsFd,
    ) -> Result<EgressSession, EgressError> {
        let (socket, process) = match &self.0 {
            ProxyLocation::Program(program, arguments) => {
                let started = start(program, arguments);
                let (socket, child) =
                    started.map_err(|it| EgressError::Start(program.clone(), it))?;
                (socket, Some(ProxyProcess(child)))
            }
            ProxyLocation::Socket(path) => {
                (connect_to(path).map_err(|it| EgressError::Start(path.clone(), it))?, None)
            }
        };
        let mut session =
            EgressSession { socket, _process: process, confinement: EgressConfinement::NoNewPrivs };
        let act = "requesting the run";
        session.send_order(act, &ProxyOrder::Serve(rules), Some(listener.as_fd()))?;
        match session.receive_answer(act)? {
            ProxyAnswer::Serving(confinement) => {
                session.confinement = confinement;
                Ok(session)
            }
            ProxyAnswer::Unable(why) => Err(EgressError::Unable(why)),
            ProxyAnswer::Report(_) => Err(EgressError::Unexpected(act)),
        }
    }
}

fn start(program: &Path, arguments: &[OsString]) -> io::Result<(OwnedFd, Child)> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    set_timeouts(&ours)?;
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .current_dir("/")
        // The caller handles Ctrl-C, and still needs the report of the run.
        .process_group(0)
        .spawn()?;
    Ok((ours, child))
}

fn connect_to(path: &Path) -> io::Result<OwnedFd> {
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    set_timeouts(&socket)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

fn set_timeouts(socket: &OwnedFd) -> io::Result<()> {
    set_socket_timeout(socket, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
    set_socket_timeout(socket, Timeout::Send, Some(ANSWER_TIMEOUT))?;
    Ok(())
}

/// A run that is served. Dropping it ends the run's connections at once, without a report.
#[derive(Debug)]
#[must_use]
pub struct EgressSession {
    // Before `_process`, because closing the socket ends the process.
    socket: OwnedFd,
    _process: Option<ProxyProcess>,
    confinement: EgressConfinement,
}

impl EgressSession {
    /// Returns the confinement that the kernel allowed the proxy.
    #[must_use]
    pub fn confinement(&self) -> EgressConfinement {
        self.confinement
    }

    /// Ends every connection of the run and returns the report.
    ///
    /// # Errors
    /// The proxy was lost. The run's use of its hosts is unknown then; it is not zero.
    pub fn close(self) -> Result<Report, EgressError> {
        let act = "requesting the report";
        self.send_order(act, &ProxyOrder::Close, None)?;
        match self.receive_answer(act)? {
            ProxyAnswer::Report(report) => Ok(report),
            ProxyAnswer::Unable(why) => Err(EgressError::Unable(why)),
            ProxyAnswer::Serving(_) => Err(EgressError::Unexpected(act)),
        }
    }

    fn send_order(
        &self,
        act: &'static str,
        order: &ProxyOrder,
        fd: Option<std::os::fd::BorrowedFd<'_>>,
    ) -> Result<(), EgressError> {
        wire::send(&self.socket, order, fd, SendFlags::empty())
            .map_err(|error| EgressError::Lost(act, error))
    }

    fn receive_answer(&self, act: &'static str) -> Result<ProxyAnswer, EgressError> {
        let lost = |error| EgressError::Lost(act, error);
        let received = wire::receive(&self.socket, RecvFlags::empty()).map_err(lost)?;
        let gone = || lost(io::Error::from(io::ErrorKind::UnexpectedEof));
        received.ok_or_else(gone)?.parse().map_err(lost)
    }
}

#[derive(Debug)]
struct ProxyProcess(Child);

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        // The socket may still be open, but a proxy without its client has nothing left to do.
        if let Err(error) = self.0.kill() {
            eprintln!("toolexec-egress {}: cannot be killed: {error}", self.0.id());
        }
        // A process stuck in the kernel does not react to SIGKILL and is left behind.
        let begun = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) {
            if begun.elapsed() >= EXIT_TIMEOUT {
                let wchan = std::fs::read_to_string(format!("/proc/{}/wchan", self.0.id()));
                let wchan = wchan.unwrap_or_default();
                eprintln!(
                    "toolexec-egress {}: still running after SIGKILL, blocked in {}",
                    self.0.id(),
                    if wchan.is_empty() { "an unknown function" } else { wchan.trim() }
                );
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
