//! The end of a program of a build: its own, or that of its time or of an interrupt. Each one ends
//! all programs of its group. A program must not be reaped before its group is killed: until then,
//! no other group can have its number.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::interrupt::BuildInterrupt;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The time for a program to remove its temporary files, as mmdebstrap does, after SIGTERM.
const CLEANUP_TIME: Duration = Duration::from_secs(5);

/// The end of a program that was started.
pub(super) enum ProgramEnd {
    Itself(ExitStatus),
    /// It took too long, and was ended.
    TimeOver,
    /// The operator interrupted the build, and it was ended.
    Interrupted,
}

/// The reason why a wait is over.
enum ProgramWaitEnd {
    Ended,
    TimeOver,
    Interrupted,
}

/// Waits for the end of a program. If the time is over or the operator interrupts the build, the
/// program gets SIGTERM with those of its group. The rest of the group is killed in each case.
pub(super) fn wait_at_most(
    child: &mut Child,
    time_max: Duration,
    interrupt: &BuildInterrupt,
) -> io::Result<ProgramEnd> {
    let group = Pid::from_child(child);
    let waited = wait_for_end(group, time_max, &|| interrupt.is_requested());
    if !matches!(waited, Ok(ProgramWaitEnd::Ended)) {
        end_group(group);
    }
    // A group whose programs have ended has nothing to kill.
    kill_process_group(group, Signal::KILL).unwrap_or_default();
    let status = child.wait()?;
    Ok(match waited? {
        ProgramWaitEnd::Ended => ProgramEnd::Itself(status),
        ProgramWaitEnd::TimeOver => ProgramEnd::TimeOver,
        ProgramWaitEnd::Interrupted => ProgramEnd::Interrupted,
    })
}

/// Asks the programs of a group to end, and gives the first one time for it.
fn end_group(group: Pid) {
    // After a failure, the group is killed at once.
    if kill_process_group(group, Signal::TERM).is_ok() {
        wait_for_end(group, CLEANUP_TIME, &|| false).map(drop).unwrap_or_default();
    }
}

/// Waits for the end of a program, which is not reaped.
fn wait_for_end(
    program: Pid,
    time_max: Duration,
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<ProgramWaitEnd> {
    let begun = Instant::now();
    loop {
        if has_ended(program)? {
            return Ok(ProgramWaitEnd::Ended);
        }
        match (is_interrupted(), begun.elapsed() >= time_max) {
            (true, _) => return Ok(ProgramWaitEnd::Interrupted),
            (false, true) => return Ok(ProgramWaitEnd::TimeOver),
            (false, false) => thread::sleep(POLL_INTERVAL),
        }
    }
}

fn has_ended(program: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(program), options) {
        Err(Errno::INTR) => Ok(false),
        found => Ok(found?.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    use std::sync::atomic::Ordering;

    use super::*;

    /// Runs a shell that prints `started`, and returns its end with the rest of its output. A
    /// program that it leaves holds the output, whose end is awaited here.
    fn end_of_shell(
        script: &str,
        time_max: Duration,
        interrupt: &BuildInterrupt,
    ) -> (ProgramEnd, String) {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).stdout(Stdio::piped());
        let mut child = shell.process_group(0).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut started = [0; 8];
        output.read_exact(&mut started).unwrap();
        let begun = Instant::now();
        let end = wait_at_most(&mut child, time_max, interrupt).unwrap();
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(30), "a program of the shell is left");
        (end, rest)
    }

    const WAITS: &str = "sleep 60 & echo started; wait";
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_end_of_the_time_ends_the_programs_of_a_program() {
        let time_max = Duration::from_millis(1);
        let (end, _) = end_of_shell(WAITS, time_max, &BuildInterrupt::default());
        assert!(matches!(end, ProgramEnd::TimeOver));
    }

    #[test]
    fn an_interrupt_ends_the_programs_of_a_program() {
        let interrupt = BuildInterrupt::default();
        interrupt.requested().store(true, Ordering::Relaxed);
        let (end, _) = end_of_shell(WAITS, MINUTE, &interrupt);
        assert!(matches!(end, ProgramEnd::Interrupted));
    }

    #[test]
    fn a_program_can_clean_up_after_an_interrupt() {
        let interrupt = BuildInterrupt::default();
        interrupt.requested().store(true, Ordering::Relaxed);
        let cleans = "trap 'echo cleaned; exit 1' TERM; sleep 60 & echo started; wait";
        let (end, rest) = end_of_shell(cleans, MINUTE, &interrupt);
        assert!(matches!(end, ProgramEnd::Interrupted));
        assert_eq!(rest, "cleaned\n");
        let ignores = "trap '' TERM; echo started; sleep 60; sleep 60";
        let (end, _) = end_of_shell(ignores, MINUTE, &interrupt);
        assert!(matches!(end, ProgramEnd::Interrupted));
    }

    #[test]
    fn a_program_that_a_program_leaves_is_killed() {
        let leaves = "sleep 60 & echo started; exit 3";
        let (end, _) = end_of_shell(leaves, MINUTE, &BuildInterrupt::default());
        assert!(matches!(end, ProgramEnd::Itself(status) if status.code() == Some(3)));
    }
}
