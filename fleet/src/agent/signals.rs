//! Signals of the service manager and of operators, as bytes in socket pairs.
//!
//! The feature `signal` of tokio would do the same. But a build of all programs shares their
//! features, and with this one every runtime makes a socket pair. The filter of the egress proxy
//! denies that.

use std::future::pending;
use std::io;
use std::os::unix::net::UnixStream as BlockingUnixStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;

/// The sockets of signals, before a runtime exists.
pub(super) struct SignalSockets {
    stop: BlockingUnixStream,
    reload: BlockingUnixStream,
}

impl SignalSockets {
    /// Receives SIGTERM, SIGINT and SIGHUP from now on.
    ///
    /// # Errors
    /// The kernel refused.
    pub(super) fn listen() -> Result<Self, String> {
        let listen = |signals: &[i32]| socket_of(signals).map_err(failed);
        Ok(Self { stop: listen(&[SIGTERM, SIGINT])?, reload: listen(&[SIGHUP])? })
    }
}

/// The signals of a running agent.
pub(super) struct AgentSignals {
    pub(super) stop: SignalStream,
    pub(super) reload: SignalStream,
}

impl AgentSignals {
    /// Registers the sockets with the runtime of the caller.
    ///
    /// # Errors
    /// The kernel refused.
    pub(super) fn of(sockets: SignalSockets) -> Result<Self, String> {
        let stream = |socket| UnixStream::from_std(socket).map(SignalStream).map_err(failed);
        Ok(Self { stop: stream(sockets.stop)?, reload: stream(sockets.reload)? })
    }
}

/// Some signals, which have one meaning.
pub(super) struct SignalStream(UnixStream);

impl SignalStream {
    /// Waits until one of them has arrived. Several may count as one.
    pub(super) async fn arrived(&mut self) {
        let mut bytes = [0; 64];
        match self.0.read(&mut bytes).await {
            Ok(1..) => {}
            // The handlers keep the other end open, so this does not happen.
            Ok(0) | Err(_) => pending().await,
        }
    }
}

fn socket_of(signals: &[i32]) -> io::Result<BlockingUnixStream> {
    let (arrives, sent) = BlockingUnixStream::pair()?;
    for signal in signals {
        pipe::register(*signal, sent.try_clone()?)?;
    }
    arrives.set_nonblocking(true)?;
    Ok(arrives)
}

fn failed(error: io::Error) -> String {
    format!("signals: {error}; help: check the limits of this process")
}
