//! Questions at the terminal. Never reads stdin: piped data must not count as an answer. A
//! passphrase is neither echoed nor kept longer than needed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, tcflush, tcgetattr, tcsetattr,
};
use zeroize::Zeroizing;

use crate::failure::Failure;

const ANSWER_BYTES_MAX: usize = 1024;
/// The byte that Ctrl-C sends while signals are disabled.
const INTERRUPT: u8 = 0x03;
const TERMINAL_HELP: &str = "help: use another terminal";

pub(crate) struct Terminal(File);

impl Terminal {
    /// Opens the controlling terminal of this process.
    pub(crate) fn open() -> Result<Self, Failure> {
        let opened = OpenOptions::new().read(true).write(true).open("/dev/tty");
        opened
            .map(Self)
            .map_err(|error| Failure::Message(format!("no terminal for questions: {error}")))
    }

    /// Shows a text, which must be escaped.
    pub(crate) fn show(&mut self, text: &str) -> Result<(), Failure> {
        self.write(&format!("{}\n", text.trim_end()))
    }

    /// Asks a question after discarding earlier input, so that none of it counts as an answer.
    pub(crate) fn ask_fresh(&mut self, question: &str) -> Result<String, Failure> {
        discard_input(&self.0)?;
        self.ask(question)
    }

    /// Asks a question and returns the answer without its line end.
    pub(crate) fn ask(&mut self, question: &str) -> Result<String, Failure> {
        self.write(question)?;
        let answer = self.line()?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    /// Asks a question without echoing the answer.
    pub(crate) fn ask_secret(&mut self, question: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
        // Disable the echo before printing the question: the user may type immediately.
        let before = tcgetattr(&self.0).map_err(failed)?;
        let mut unseen = before.clone();
        // Disable signals as well: a signal would leave the terminal without echo.
        unseen.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        unseen.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(&self.0, OptionalActions::Flush, &unseen).map_err(failed)?;
        let answer = self.write(question).and_then(|()| self.line());
        tcsetattr(&self.0, OptionalActions::Drain, &before).map_err(failed)?;
        self.write("\n")?;
        answer
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.0.write_all(text.as_bytes()).map_err(Failure::io("/dev/tty".as_ref()))
    }

    fn line(&mut self) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let mut line = Zeroizing::new(Vec::with_capacity(ANSWER_BYTES_MAX));
        let mut byte = [0];
        while line.len() < ANSWER_BYTES_MAX {
            // A signal must end the question: `poll` returns EINTR, but a blocking read resumes.
            let mut waited = [PollFd::new(&self.0, PollFlags::IN)];
            poll(&mut waited, None).map_err(|errno| match errno {
                Errno::INTR => Failure::Message("interrupted".into()),
                errno => failed(errno),
            })?;
            match self.0.read(&mut byte).map_err(Failure::io("/dev/tty".as_ref()))? {
                0 => return Err(Failure::Message(format!("terminal: closed; {TERMINAL_HELP}"))),
                _ if byte == *b"\n" => return Ok(line),
                _ if byte == [INTERRUPT] => return Err(Failure::Message("interrupted".into())),
                _ => line.push(byte[0]),
            }
        }
        Err(Failure::Message(format!(
            "answer: longer than {ANSWER_BYTES_MAX} bytes; help: type one of the offered words"
        )))
    }
}

/// Discards typed input that was not read yet.
pub(crate) fn discard_input(terminal: impl AsFd) -> Result<(), Failure> {
    tcflush(terminal, QueueSelector::IFlush).map_err(failed)
}

fn failed(errno: Errno) -> Failure {
    Failure::Message(format!("terminal: {errno}; {TERMINAL_HELP}"))
}
