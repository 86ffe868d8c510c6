//! Runs the tool: starts it, relays its output, and ends everything that it leaves.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::fchown;
use std::process::{Child, Command, Stdio};
use std::thread::{Builder, JoinHandle};

use nix::sys::signal::{Signal, kill};
use nix::sys::statvfs::statvfs;
use nix::unistd::Pid;
use rustix::io::Errno;
use rustix::process::{WaitOptions, WaitStatus, wait};

use super::cgroup;
use super::failure::InitFailure;
use super::mounts::{OUT, TOOL_ID};
use crate::protocol::{GuestMessage, GuestRequest, GuestToolEnd, GuestToolUsage};

const BUFFER_BYTES: usize = 32 * 1024;

/// Runs the tool to its end, and until its last output is in the ports.
pub(super) fn run(
    word: &str,
    request: &GuestRequest,
    stdout: File,
    stderr: File,
) -> Result<GuestMessage, InitFailure> {
    let mut child = start(word, request).map_err(InitFailure::at("start the tool"))?;
    let relays = [
        relay(child.stdout.take(), stdout).map_err(InitFailure::at("relay"))?,
        relay(child.stderr.take(), stderr).map_err(InitFailure::at("relay"))?,
    ];
    let end = wait_for(child.id()).map_err(InitFailure::at("wait for the tool"))?;
    end_all();
    // A relay that panicked has lost only its own output.
    let copied = relays.into_iter().flatten().map(|relay| relay.join().unwrap_or_default());
    let output_bytes = copied.sum();
    Ok(GuestMessage::Ended(end, usage(output_bytes)))
}

fn start(word: &str, request: &GuestRequest) -> io::Result<Child> {
    let mut command = Command::new("/init");
    command.arg(word).args(&request.argv).env_clear();
    command.envs(request.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Copies a pipe of the tool to a port, and counts the bytes. The tool owns the pipe, so that it
/// can open `/dev/stdout`.
fn relay<P: Read + AsFd + Send + 'static>(
    pipe: Option<P>,
    mut port: File,
) -> io::Result<Option<JoinHandle<u64>>> {
    let Some(mut pipe) = pipe else { return Ok(None) };
    fchown(&pipe, Some(TOOL_ID), Some(TOOL_ID))?;
    let relay = Builder::new().spawn(move || {
        let (mut buffer, mut copied) = (vec![0; BUFFER_BYTES], 0);
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            if port.write_all(buffer.get(..count).unwrap_or_default()).is_err() {
                break;
            }
            copied += u64::try_from(count).unwrap_or_default();
        }
        copied
    })?;
    Ok(Some(relay))
}

/// Waits for one process, and meanwhile for all that have lost their parents.
fn wait_for(id: u32) -> Result<GuestToolEnd, Errno> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if u32::try_from(pid.as_raw_nonzero().get()) == Ok(id) => {
                return Ok(end_of(status));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

fn end_of(status: WaitStatus) -> GuestToolEnd {
    let byte = |code: Option<i32>| code.and_then(|it| u8::try_from(it).ok());
    match (byte(status.exit_status()), byte(status.terminating_signal())) {
        (Some(code), _) => GuestToolEnd::Exited(code),
        (None, Some(signal)) => GuestToolEnd::Signalled(signal),
        (None, None) => GuestToolEnd::Exited(u8::MAX),
    }
}

/// Kills every other process of the guest, and waits for all of them: each is a child of pid 1, or
/// becomes one when its parent ends.
fn end_all() {
    let mut left = true;
    while left {
        // Kernel threads let it succeed; its result says nothing.
        drop(kill(Pid::from_raw(-1), Signal::SIGKILL).map_err(io::Error::from));
        left = !matches!(wait(WaitOptions::empty()), Err(Errno::CHILD));
    }
}

fn usage(output_bytes: u64) -> GuestToolUsage {
    let out_full =
        statvfs(OUT).is_ok_and(|it| it.blocks_available() == 0 || it.files_available() == 0);
    GuestToolUsage {
        pids_refused: cgroup::pids_refused(),
        oom_kills: cgroup::oom_kills(),
        out_full,
        output_bytes,
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::waitpid;

    use super::*;

    fn end(script: &str) -> GuestToolEnd {
        let mut child = Command::new("/bin/sh").args(["-c", script]).spawn().unwrap();
        let id = rustix::process::Pid::from_child(&child);
        let (_, status) = waitpid(Some(id), WaitOptions::empty()).unwrap().unwrap();
        // Its status is taken, so this only closes what the standard library keeps of it.
        drop(child.wait());
        end_of(status)
    }

    #[test]
    fn an_end_is_a_code_or_a_signal() {
        assert_eq!(end("exit 0"), GuestToolEnd::Exited(0));
        assert_eq!(end("exit 255"), GuestToolEnd::Exited(255));
        assert_eq!(end("kill -9 $$"), GuestToolEnd::Signalled(9));
    }
}
