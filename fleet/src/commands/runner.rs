//! The side of `toolexec`: starts the program, sends one command, and reads its answers in turn. Each
//! line is bounded before it is parsed, and the program is killed with its handle.

use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use super::{FLEET_ANSWER_BYTES_MAX, FLEET_COMMAND_BYTES_MAX, FleetAnswer, FleetCommand};

/// The running program. It is killed when this is dropped.
#[derive(Debug)]
pub struct FleetProgram {
    program: PathBuf,
    child: Child,
    /// The program ends when this is closed.
    stdin: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// The reason why a command has no further answer.
#[derive(Debug)]
pub enum CommandError {
    /// The command cannot be written as a line.
    Command(String),
    /// The program cannot be started, or cannot be read.
    Program {
        /// The program.
        program: PathBuf,
        /// The answer of the kernel.
        error: io::Error,
    },
    /// The program ended without success, and without a reason.
    Ended {
        /// The program.
        program: PathBuf,
        /// Its exit status.
        status: ExitStatus,
    },
    /// The program sent something that is not an answer.
    Answer {
        /// The program.
        program: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The program reported that the command failed: the object, the event, and `help:` with an
    /// action.
    Failed(String),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(problem) => {
                write!(
                    f,
                    "command of a fleet: {problem}; help: name UTF-8 paths, and fewer requests"
                )
            }
            Self::Program { program, error } => {
                write!(f, "{}: {error}; help: install it beside toolexec", program.display())
            }
            Self::Ended { program, status } => write!(
                f,
                "{}: ended with {status} before its last answer; help: see its message above, and \
                 check that it has the version of toolexec",
                program.display()
            ),
            Self::Answer { program, problem } => write!(
                f,
                "{}: {problem}; help: check that it has the version of toolexec",
                program.display()
            ),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for CommandError {}

impl FleetProgram {
    /// Starts the program and sends it a command. Its messages go to the standard error of this
    /// process.
    ///
    /// # Errors
    /// [`CommandError`]: it cannot be started, or the command is too long.
    pub fn start(program: &Path, command: &FleetCommand) -> Result<Self, CommandError> {
        let line = line_of(command)?;
        let failed = |error| CommandError::Program { program: program.to_owned(), error };
        let mut started = Command::new(program);
        started.arg("command").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = started.spawn().map_err(failed)?;
        let mut stdin = child.stdin.take();
        let sent = stdin.as_mut().map(|stdin| stdin.write_all(&line));
        let stdout = child.stdout.take();
        let Some(stdout) = stdout else {
            return Err(failed(io::Error::from(ErrorKind::BrokenPipe)));
        };
        let running =
            Self { program: program.to_owned(), child, stdin, answers: BufReader::new(stdout) };
        match sent {
            // A program that ended early says why in its answer or by its status.
            Some(Err(error)) if error.kind() != ErrorKind::BrokenPipe => Err(failed(error)),
            _ => Ok(running),
        }
    }

    /// Returns the next answer, or `None` after the last one. An answer that reports a failure is an
    /// error.
    ///
    /// # Errors
    /// [`CommandError`]: the command failed, or the program did not answer as it must.
    pub fn next_answer(&mut self) -> Result<Option<FleetAnswer>, CommandError> {
        let line = self.next_line()?;
        if line.is_empty() {
            return self.end().map(|()| None);
        }
        let answer = serde_json::from_slice::<FleetAnswer>(&line);
        let unfit = |error: serde_json::Error| {
            self.unfit(&format!("answered what cannot be read: {error}"))
        };
        match answer.map_err(unfit)? {
            FleetAnswer::Failed { message } => Err(CommandError::Failed(message)),
            answer => Ok(Some(answer)),
        }
    }

    /// Returns the next line without its line feed; empty at the end.
    fn next_line(&mut self) -> Result<Vec<u8>, CommandError> {
        let bytes_max = u64::try_from(FLEET_ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
        let mut line = Vec::new();
        let read = (&mut self.answers).take(bytes_max).read_until(b'\n', &mut line);
        read.map_err(|error| CommandError::Program { program: self.program.clone(), error })?;
        match line.pop() {
            None => Ok(Vec::new()),
            Some(b'\n') if !line.is_empty() => Ok(line),
            Some(b'\n') => Err(self.unfit("sent an empty line")),
            Some(_) => Err(self.unfit("sent a line that is too long or has no end")),
        }
    }

    fn end(&mut self) -> Result<(), CommandError> {
        let ended = self.child.wait();
        let failed = |error| CommandError::Program { program: self.program.clone(), error };
        let status = ended.map_err(failed)?;
        match status.success() {
            true => Ok(()),
            false => Err(CommandError::Ended { program: self.program.clone(), status }),
        }
    }

    fn unfit(&self, problem: &str) -> CommandError {
        CommandError::Answer { program: self.program.clone(), problem: problem.to_owned() }
    }
}

impl Drop for FleetProgram {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // A program that has ended was waited for, or is waited for here.
        if self.child.kill().is_ok() {
            self.child.wait().map(drop).unwrap_or_default();
        }
    }
}

fn line_of(command: &FleetCommand) -> Result<Vec<u8>, CommandError> {
    let json = serde_json::to_vec(command);
    let mut line = json.map_err(|error| CommandError::Command(error.to_string()))?;
    line.push(b'\n');
    match line.len() <= FLEET_COMMAND_BYTES_MAX {
        true => Ok(line),
        false => Err(CommandError::Command("larger than 4 MiB".to_owned())),
    }
}

#[cfg(test)]
mod tests;
