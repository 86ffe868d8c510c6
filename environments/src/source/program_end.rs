//! The end of a program of a build: its own, or that of its time or of an interrupt, which ends all
//! programs of its group. A program must not be reaped before its group is killed.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::interrupt::BuildInterrupt;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The end of a program that was started.
pub(super) enum ProgramEnd {
    Itself(ExitStatus),
    /// It took too long, and was killed.
    TimeOver,
    /// The operator interrupted the build, and it was killed.
    Interrupted,
}

/// Waits for the end of a program. If the time is over or the operator interrupts the build, the
/// program is killed with those of its group.
pub(super) fn wait_at_most(
    child: &mut Child,
    time_max: Duration,
    interrupt: &BuildInterrupt,
) -> io::Result<ProgramEnd> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ProgramEnd::Itself(status));
        }
        let end = match (interrupt.is_requested(), begun.elapsed() >= time_max) {
            (true, _) => ProgramEnd::Interrupted,
            (false, true) => ProgramEnd::TimeOver,
            (false, false) => {
                thread::sleep(POLL_INTERVAL);
                continue;
            }
        };
        // Before it is reaped, no other group can have its number.
        kill_process_group(Pid::from_child(child), Signal::KILL)?;
        child.wait()?;
        return Ok(end);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    use std::sync::atomic::Ordering;

    use super::*;

    /// Runs a shell that starts a program and waits for it, and returns the end. The program holds
    /// the output of the shell, whose end is awaited here.
    fn end_of_shell(time_max: Duration, interrupt: &BuildInterrupt) -> ProgramEnd {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "sleep 60 & echo started; wait"]).stdout(Stdio::piped());
        let mut child = shell.process_group(0).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut started = [0; 8];
        output.read_exact(&mut started).unwrap();
        let begun = Instant::now();
        let end = wait_at_most(&mut child, time_max, interrupt).unwrap();
        output.read_to_end(&mut Vec::new()).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(30), "a program of the shell is left");
        end
    }

    #[test]
    fn the_end_of_the_time_ends_the_programs_of_a_program() {
        let end = end_of_shell(Duration::from_millis(1), &BuildInterrupt::default());
        assert!(matches!(end, ProgramEnd::TimeOver));
    }

    #[test]
    fn an_interrupt_ends_the_programs_of_a_program() {
        let interrupt = BuildInterrupt::default();
        interrupt.requested().store(true, Ordering::Relaxed);
        let end = end_of_shell(Duration::from_secs(60), &interrupt);
        assert!(matches!(end, ProgramEnd::Interrupted));
    }
}
