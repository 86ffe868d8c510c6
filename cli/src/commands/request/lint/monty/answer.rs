//! The answer of `toolexec-monty check`. The program has limits of its own.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde::Deserialize;

/// The name of the program.
pub(super) const PROGRAM: &str = "toolexec-monty";
const ANSWER_TIME: Duration = Duration::from_secs(20);
const CPU_SEC_MAX: u64 = 10;
const ADDRESS_SPACE_MAX: u64 = 1 << 30;
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// The exit status if the code has a construct that monty refuses.
const REFUSED: i32 = 1;

/// The first construct that monty refuses. Line and column count from 1.
#[derive(Deserialize)]
pub(super) struct ConstructProblem {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// Returns the first construct of the code that monty refuses. The code starts with these
/// variables; the words of a command have room for all of them, because a request has.
///
/// # Errors
/// The reason why the code was not checked.
pub(super) fn refused_construct(
    program: &Path,
    code: &str,
    variables: &[&str],
) -> Result<Option<ConstructProblem>, String> {
    let failed = |error: io::Error| format!("{}: {error}", program.display());
    let mut command = Command::new(program);
    command.arg("check").env_clear().current_dir("/");
    if !variables.is_empty() {
        command.arg("--variables").arg(variables.join(","));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    // It waits for the code meanwhile.
    if let Err(error) = limit(&child) {
        end(&mut child).map_err(failed)?;
        return Err(failed(error));
    }
    let (status, answer) = answer_of(&mut child, code).map_err(failed)?;
    match status.map(|status| status.code()) {
        None => Err(format!("{PROGRAM} did not answer within {} s", ANSWER_TIME.as_secs())),
        Some(Some(0)) => Ok(None),
        Some(Some(REFUSED)) => serde_json::from_slice(&answer)
            .map(Some)
            .map_err(|error| format!("{PROGRAM}: its answer cannot be read: {error}")),
        Some(_) => Err(format!("{PROGRAM} reached a limit or failed")),
    }
}

fn limit(child: &Child) -> io::Result<()> {
    let limits = [(Resource::Cpu, CPU_SEC_MAX), (Resource::As, ADDRESS_SPACE_MAX)];
    for (resource, most) in limits {
        let new = Rlimit { current: Some(most), maximum: Some(most) };
        prlimit(Some(Pid::from_child(child)), resource, new)?;
    }
    Ok(())
}

/// Sends the code and returns the status, `None` after the time limit, with the answer.
fn answer_of(child: &mut Child, code: &str) -> io::Result<(Option<ExitStatus>, Vec<u8>)> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    thread::scope(|scope| {
        scope.spawn(move || send(stdin, code));
        let reader = scope.spawn(move || read(stdout));
        let status = wait(child)?;
        Ok((status, reader.join().unwrap_or_default()))
    })
}

/// A program that has ended reads nothing more; its status says why.
fn send(stdin: Option<ChildStdin>, code: &str) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(code.as_bytes()).unwrap_or_default();
    }
}

/// Returns the bytes before an error.
fn read(stdout: Option<ChildStdout>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stdout) = stdout {
        stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes).unwrap_or_default();
    }
    bytes
}

fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < ANSWER_TIME {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(5));
    }
    end(child)?;
    Ok(None)
}

fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}
