//! Notifies systemd (sd_notify(3)) over the datagram socket that `NOTIFY_SOCKET` names; without it
//! nothing is sent. Must never delay or end the program: a message that cannot be sent is dropped.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// systemd displays no longer status.
const STATUS_CHARS_MAX: usize = 512;
/// Allows for a slow host.
const START_MARGIN: Duration = Duration::from_secs(30);
/// The time to publish the records of cancelled runs.
const STOP_MARGIN: Duration = Duration::from_secs(15);

/// The service manager that started this process, if it accepts notifications.
pub struct ServiceManager {
    socket: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// Reads the environment. If the socket cannot be reached, logs a warning and sends nothing.
    #[must_use]
    pub fn of_environment() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name| variable(name)?.to_str()?.parse::<u64>().ok();
        let ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|_| ours).map(Duration::from_micros);
        let Some(address) = variable("NOTIFY_SOCKET") else {
            return Self { socket: None, watchdog: None };
        };
        Self::at(&address, watchdog).unwrap_or_else(|error| {
            tracing::warn!("NOTIFY_SOCKET: {}: {error}", address.display());
            Self { socket: None, watchdog: None }
        })
    }

    /// Connects to an address: an absolute path, or `@` and an abstract name. `watchdog` is the
    /// manager's watchdog timeout.
    ///
    /// # Errors
    /// The address is not valid, or no process listens there.
    pub fn at(address: &OsStr, watchdog: Option<Duration>) -> io::Result<Self> {
        let address = match address.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            [b'/', ..] => SocketAddr::from_pathname(address)?,
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        };
        let socket = UnixDatagram::unbound()?;
        socket.connect_addr(&address)?;
        // A manager that does not read must not block the program.
        socket.set_nonblocking(true)?;
        Ok(Self { socket: Some(socket), watchdog: watchdog.filter(|time| !time.is_zero()) })
    }

    /// Returns half of the watchdog timeout: the interval of [`Self::ping_watchdog`].
    #[must_use]
    pub fn watchdog_interval(&self) -> Option<Duration> {
        self.watchdog.map(|time| time / 2)
    }

    /// Reports that the program serves; also sent after a reload.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// Sends the status line for `systemctl status`.
    pub fn status(&self, text: &str) {
        let line: String = model::escape_line(text).chars().take(STATUS_CHARS_MAX).collect();
        self.send(&format!("STATUS={}", line.replace('\n', " ")));
    }

    /// Extends the start timeout by twice the time until the next message, plus a margin.
    pub fn extend_start(&self, why: &str, next_in: Duration) {
        self.status(why);
        self.send(&format!("EXTEND_TIMEOUT_USEC={}", (2 * next_in + START_MARGIN).as_micros()));
    }

    /// Sends a watchdog ping. Only the loop of the program, which must not hang, may call this.
    pub fn ping_watchdog(&self) {
        self.send("WATCHDOG=1");
    }

    /// Reports that the configuration is being read again, until [`Self::ready`] is sent.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let usec = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1000);
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={usec}"));
    }

    /// Reports that nothing new is taken. What runs is finished.
    pub fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// Extends the stop timeout to the time that runs may continue, plus a margin.
    pub fn extend_stop(&self, grace: Duration) {
        let usec = grace.saturating_add(STOP_MARGIN).as_micros();
        self.send(&format!("EXTEND_TIMEOUT_USEC={}", u64::try_from(usec).unwrap_or(u64::MAX)));
    }

    fn send(&self, message: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = socket.send(message.as_bytes()) {
            tracing::debug!("NOTIFY_SOCKET: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 1024];
        let read = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }

    #[test]
    fn manager_at_abstract_name_receives_all_messages_in_order() {
        let name = format!("toolexec-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        let watchdog = Some(Duration::from_secs(30));
        let manager = ServiceManager::at(OsStr::new(&format!("@{name}")), watchdog).unwrap();
        assert_eq!(manager.watchdog_interval(), Some(Duration::from_secs(15)));
        manager.ready();
        manager.status("1 running\nREADY=1");
        manager.ping_watchdog();
        manager.reloading();
        manager.stopping();
        manager.extend_stop(Duration::from_secs(60));
        assert_eq!(received(&socket), "READY=1");
        assert_eq!(received(&socket), "STATUS=1 running\\u{a}READY=1");
        assert_eq!(received(&socket), "WATCHDOG=1");
        let reloading = received(&socket);
        let usec = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap();
        assert!(usec.parse::<u64>().unwrap() > 0, "{reloading}");
        assert_eq!(received(&socket), "STOPPING=1");
        assert_eq!(received(&socket), "EXTEND_TIMEOUT_USEC=75000000");
    }

    #[test]
    fn manager_that_does_not_read_blocks_no_sender() {
        let directory =
            std::env::temp_dir().join(format!("toolexec-notify-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let manager = ServiceManager::at(path.as_os_str(), None).unwrap();
        for _ in 0..10_000 {
            manager.ping_watchdog();
        }
        assert_eq!(received(&socket), "WATCHDOG=1");
        drop(socket);
        manager.ping_watchdog();
        assert!(ServiceManager::at(path.as_os_str(), None).is_err(), "no process listens there");
        assert!(ServiceManager::at(OsStr::new("relative"), None).is_err());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn messages_without_a_manager_are_dropped() {
        let manager = ServiceManager { socket: None, watchdog: None };
        manager.ready();
        assert_eq!(manager.watchdog_interval(), None);
    }
}
