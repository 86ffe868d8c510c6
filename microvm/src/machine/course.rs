//! The course of a run, as the guest's messages report it. The wrapper's own clock decides about
//! time; a message out of order ends the run.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::plan::MachineLimits;
use crate::outcome::{GuestHalt, GuestOutcome};
use crate::protocol::{GuestMessage, GuestToolEnd, MessageStream, StatusFault};
use crate::report::{LEFT_OUT_MAX, LeftOutFile, MachineReport};

const BUFFER_BYTES: usize = 16 * 1024;

/// The reason why no message arrived.
enum MessageGap {
    Deadline,
    Closed,
    Fault(StatusFault),
    Unreadable(io::Error),
}

/// The guest's last numbers.
#[derive(Debug)]
pub(super) struct CourseEnd {
    /// The entries that it archived.
    pub(super) entries: u64,
    /// The bytes of output that it wrote.
    pub(super) output_bytes: u64,
    /// The end of the tool.
    pub(super) tool_ended: Instant,
}

/// Reads the messages of one run.
pub(super) struct GuestCourse<'a> {
    control: &'a UnixStream,
    stream: MessageStream,
    limits: MachineLimits,
    report: &'a mut MachineReport,
}

impl<'a> GuestCourse<'a> {
    pub(super) fn new(
        control: &'a UnixStream,
        limits: MachineLimits,
        report: &'a mut MachineReport,
    ) -> Self {
        Self { control, stream: MessageStream::default(), limits, report }
    }

    /// Follows the run to its last message.
    pub(super) fn follow(&mut self, qemu_started: Instant) -> Result<CourseEnd, GuestHalt> {
        self.boot(qemu_started)?;
        let output_bytes = self.tool()?;
        let tool_ended = Instant::now();
        let entries = self.archive(self.limits.archive_time())?;
        Ok(CourseEnd { entries, output_bytes, tool_ended })
    }

    fn boot(&mut self, qemu_started: Instant) -> Result<(), GuestHalt> {
        let limit = self.limits.boot;
        match self.next(qemu_started.checked_add(limit)) {
            Ok(GuestMessage::Started { kernel }) => {
                self.report.guest_kernel = Some(kernel);
                self.report.boot_ms = Some(milliseconds(qemu_started.elapsed()));
                Ok(())
            }
            Ok(GuestMessage::Failed { why }) => {
                Err(GuestHalt::new(GuestOutcome::NoBoot, format!("the guest reports: {why}")))
            }
            Ok(_) => Err(nonsense(StatusFault::Order)),
            Err(MessageGap::Deadline) => {
                let why = format!("the guest sent no start message within {} s", limit.as_secs());
                let help = "see the console in the report; a busy host needs a higher boot_sec";
                Err(GuestHalt::new(GuestOutcome::NoBoot, format!("{why}; help: {help}")))
            }
            Err(gap) => Err(self.gap(gap, "before the tool started")),
        }
    }

    /// Returns the bytes of output that the guest wrote.
    fn tool(&mut self) -> Result<u64, GuestHalt> {
        let (begun, limit) = (Instant::now(), self.limits.time);
        match self.next(begun.checked_add(limit)) {
            Ok(GuestMessage::Ended(end, usage)) => {
                self.report.tool_ms = Some(milliseconds(begun.elapsed()));
                self.report.record_usage(usage);
                match end {
                    GuestToolEnd::Exited(code) => self.report.exit_code = Some(code),
                    GuestToolEnd::Signalled(signal) => self.report.signal = Some(signal),
                }
                Ok(usage.output_bytes)
            }
            Ok(GuestMessage::Failed { why }) => Err(guest_failed(&why)),
            Ok(_) => Err(nonsense(StatusFault::Order)),
            Err(MessageGap::Deadline) => {
                self.report.tool_ms = Some(milliseconds(begun.elapsed()));
                let why = format!("the tool did not end within {} ms", limit.as_millis());
                let help = "request more time; an emulated guest is many times slower";
                Err(GuestHalt::new(GuestOutcome::TimeLimit, format!("{why}; help: {help}")))
            }
            Err(gap) => Err(self.gap(gap, "while the tool ran")),
        }
    }

    fn archive(&mut self, limit: Duration) -> Result<u64, GuestHalt> {
        let deadline = Instant::now().checked_add(limit);
        loop {
            match self.next(deadline) {
                Ok(GuestMessage::LeftOut { reason, name }) => {
                    if self.report.left_out.len() >= LEFT_OUT_MAX {
                        return Err(nonsense(StatusFault::Count));
                    }
                    self.report.left_out.push(LeftOutFile { name, reason });
                }
                Ok(GuestMessage::Written { entries, left_out }) => {
                    self.report.left_out_count = left_out;
                    return Ok(entries);
                }
                Ok(GuestMessage::Failed { why }) => return Err(guest_failed(&why)),
                Ok(_) => return Err(nonsense(StatusFault::Order)),
                // The tool has ended in time.
                Err(MessageGap::Deadline) => {
                    let why =
                        format!("the guest did not archive /out within {} s", limit.as_secs());
                    return Err(GuestHalt::new(GuestOutcome::GuestFailed, why));
                }
                Err(gap) => return Err(self.gap(gap, "while the guest archived /out")),
            }
        }
    }

    /// Waits for a message. Without a deadline, which only an absurd limit exceeds, it waits on.
    fn next(&mut self, deadline: Option<Instant>) -> Result<GuestMessage, MessageGap> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            if let Some(message) = self.stream.next_message().map_err(MessageGap::Fault)? {
                return Ok(message);
            }
            let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(MessageGap::Deadline);
            }
            self.control.set_read_timeout(left).map_err(MessageGap::Unreadable)?;
            match self.control.read(&mut buffer) {
                Ok(0) => return Err(MessageGap::Closed),
                Ok(count) => self.stream.push(buffer.get(..count).unwrap_or_default()),
                Err(error) => match error.kind() {
                    io::ErrorKind::ConnectionReset => return Err(MessageGap::Closed),
                    io::ErrorKind::Interrupted
                    | io::ErrorKind::WouldBlock
                    | io::ErrorKind::TimedOut => {}
                    _ => return Err(MessageGap::Unreadable(error)),
                },
            }
        }
    }

    fn gap(&self, gap: MessageGap, when: &str) -> GuestHalt {
        match gap {
            MessageGap::Closed if self.stream.is_partial() => nonsense(StatusFault::Incomplete),
            MessageGap::Closed => {
                GuestHalt::new(GuestOutcome::QemuExited, format!("QEMU exited {when}"))
            }
            MessageGap::Fault(fault) => nonsense(fault),
            MessageGap::Unreadable(error) => GuestHalt::at("control port")(error),
            MessageGap::Deadline => GuestHalt::new(GuestOutcome::TimeLimit, when),
        }
    }
}

fn nonsense(fault: StatusFault) -> GuestHalt {
    let why = format!("messages of the guest: {fault}: {}", fault.meaning());
    GuestHalt::new(GuestOutcome::BadStatus, why)
}

fn guest_failed(why: &str) -> GuestHalt {
    GuestHalt::new(GuestOutcome::GuestFailed, format!("the guest reports: {why}"))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::accelerator::GuestAccelerator;

    const SHORT: Duration = Duration::from_millis(20);

    fn archive(sent: &[GuestMessage]) -> Result<u64, GuestHalt> {
        let (near, mut far) = UnixStream::pair().unwrap();
        for message in sent {
            far.write_all(&message.encode()).unwrap();
        }
        let limits = MachineLimits {
            memory_mb: 64,
            boot: SHORT,
            time: SHORT,
            out_bytes: 1,
            out_inodes: 1,
            artifacts: 1,
            pids: 1,
        };
        let mut report = MachineReport::new(GuestAccelerator::Tcg, 64);
        let ended = GuestCourse::new(&near, limits, &mut report).archive(SHORT);
        // It was open until now: the guest is slow, not gone.
        drop(far);
        ended
    }

    #[test]
    fn a_late_archive_is_a_failure_of_the_guest() {
        let halt = archive(&[]).unwrap_err();
        assert_eq!(halt.outcome, GuestOutcome::GuestFailed);
        assert_eq!(halt.reason, "the guest did not archive /out within 0 s");
    }

    #[test]
    fn the_number_of_entries_is_returned() {
        let written = GuestMessage::Written { entries: 7, left_out: 2 };
        assert_eq!(archive(&[written]).unwrap(), 7);
    }
}
