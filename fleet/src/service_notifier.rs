//! Notifies systemd (sd_notify(3)) over the datagram socket that `NOTIFY_SOCKET` names; without it
//! nothing is sent. Must never delay or end the agent: a message that cannot be sent is dropped.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The longest status that systemd displays, in characters.
const STATUS_CHARS_MAX: usize = 512;

/// The service manager that started this process, if it accepts notifications.
pub(crate) struct ServiceNotifier {
    socket: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl ServiceNotifier {
    /// Reads the environment. If the socket cannot be reached, logs a warning and sends nothing.
    pub(crate) fn of_environment() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name| variable(name)?.to_str()?.parse::<u64>().ok();
        let ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|_| ours).map(Duration::from_micros);
        let Some(address) = variable("NOTIFY_SOCKET") else {
            return Self { socket: None, watchdog: None };
        };
        match connected(&address) {
            Ok(socket) => {
                let watchdog = watchdog.filter(|time| !time.is_zero());
                Self { socket: Some(socket), watchdog }
            }
            Err(error) => {
                tracing::warn!("NOTIFY_SOCKET: {}: {error}", address.display());
                Self { socket: None, watchdog: None }
            }
        }
    }

    /// Returns half of the watchdog timeout: the interval of [`Self::ping_watchdog`].
    pub(crate) fn watchdog_interval(&self) -> Option<Duration> {
        self.watchdog.map(|time| time / 2)
    }

    /// Reports that the gate answers. The database may still be out of reach.
    pub(crate) fn ready(&self) {
        self.send("READY=1");
    }

    /// Sends the status line for `systemctl status`.
    pub(crate) fn status(&self, text: &str) {
        let line: String = model::escape_line(text).chars().take(STATUS_CHARS_MAX).collect();
        self.send(&format!("STATUS={}", line.replace('\n', " ")));
    }

    /// Sends a watchdog ping.
    pub(crate) fn ping_watchdog(&self) {
        self.send("WATCHDOG=1");
    }

    /// Reports that the agent takes no new query. It still answers starts that are being decided.
    pub(crate) fn stopping(&self) {
        self.send("STOPPING=1");
    }

    fn send(&self, message: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = socket.send(message.as_bytes()) {
            tracing::debug!("NOTIFY_SOCKET: {error}");
        }
    }
}

/// Connects to an address: an absolute path, or `@` and an abstract name.
fn connected(address: &OsStr) -> io::Result<UnixDatagram> {
    let address = match address.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        [b'/', ..] => SocketAddr::from_pathname(address)?,
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    // A manager that does not read must not block the agent.
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_receives_lines_and_never_blocks_the_sender() {
        let name = format!("toolexec-fleet-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        let socket = connected(OsStr::new(&format!("@{name}"))).unwrap();
        let notifier = ServiceNotifier { socket: Some(socket), watchdog: None };
        notifier.status("ready\nREADY=1");
        for _ in 0..10_000 {
            notifier.ping_watchdog();
        }
        let mut bytes = [0; 64];
        let read = manager.recv(&mut bytes).unwrap();
        assert_eq!(&bytes[..read], b"STATUS=ready\\u{a}READY=1");
        assert!(connected(OsStr::new("relative")).is_err());
    }
}
