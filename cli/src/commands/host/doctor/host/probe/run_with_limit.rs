//! Host programs that are run for their output. Every wait has a limit: a program can hang on its
//! own file system, where even SIGKILL does not end it.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::commands::host::doctor::host::model::ReadResult;

const ANSWER_TIME: Duration = Duration::from_secs(5);
/// The time for a killed program to exit and for its output to arrive. A test needs more on a busy
/// host.
const END_TIME: Duration = Duration::from_secs(if cfg!(test) { 3 } else { 1 });
const ANSWER_BYTES_MAX: u64 = 4096;

pub(super) struct ProgramOutput {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a program without input, if it ends within the limit.
pub(super) fn run_with_limit(command: &mut Command) -> ReadResult<ProgramOutput> {
    let to_text = |error: std::io::Error| error.to_string();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(to_text)?;
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let Some(status) = wait_at_most(&mut child, ANSWER_TIME)? else {
        child.kill().map_err(to_text)?;
        let ended = wait_at_most(&mut child, END_TIME)?;
        let stays = if ended.is_some() { "" } else { ", and cannot be killed" };
        return Err(format!("no answer within {} seconds{stays}", ANSWER_TIME.as_secs()));
    };
    // A process left behind by the program may still hold the pipe open.
    let received = |from: Receiver<String>| from.recv_timeout(END_TIME).unwrap_or_default();
    Ok(ProgramOutput { status, stdout: received(stdout), stderr: received(stderr) })
}

fn wait_at_most(child: &mut Child, time_max: Duration) -> ReadResult<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            None if begun.elapsed() < time_max => thread::sleep(Duration::from_millis(5)),
            ended => return Ok(ended),
        }
    }
}

fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // Bytes before an error are kept.
            pipe.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes).unwrap_or_default();
        }
        send.send(String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_output_pipe_does_not_delay_the_answer() {
        let begun = Instant::now();
        let output =
            run_with_limit(Command::new("sh").args(["-c", "echo 1.2; sleep 30 &"])).unwrap();
        assert!(output.status.success());
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    #[test]
    fn output_and_status_are_returned() {
        let output =
            run_with_limit(Command::new("sh").args(["-c", "echo 1.2; echo no >&2; exit 3"]))
                .unwrap();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("1.2\n", "no\n"));
        assert_eq!(output.status.code(), Some(3));
    }
}
