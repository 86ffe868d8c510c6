//! Asking the person at the terminal. Never stdin: what is piped into a program is nobody's answer, and
//! a passphrase is neither shown nor kept longer than it is needed.

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
/// What Ctrl-C sends while the terminal sends no signals.
const INTERRUPT: u8 = 0x03;

pub(crate) struct Terminal(File);

impl Terminal {
    /// The terminal of this process.
    pub(crate) fn open() -> Result<Self, Failure> {
        let opened = OpenOptions::new().read(true).write(true).open("/dev/tty");
        opened.map(Self).map_err(|error| Failure::Said(format!("no terminal to ask at: {error}")))
    }

    /// The answer to what nobody can have answered before it was asked: what was typed or pasted until
    /// now is forgotten.
    pub(crate) fn ask_anew(&mut self, question: &str) -> Result<String, Failure> {
        forget_typed(&self.0)?;
        self.ask(question)
    }

    /// The answer, without its line end.
    pub(crate) fn ask(&mut self, question: &str) -> Result<String, Failure> {
        self.say(question)?;
        let answer = self.line()?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    /// An answer that is not shown while it is typed.
    pub(crate) fn ask_unseen(&mut self, question: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
        // Before the question is there: whoever answers at once must not be shown either.
        let before = tcgetattr(&self.0).map_err(failed)?;
        let mut unseen = before.clone();
        // No signals either: one would leave the terminal without its echo.
        unseen.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        unseen.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(&self.0, OptionalActions::Flush, &unseen).map_err(failed)?;
        let answer = self.say(question).and_then(|()| self.line());
        tcsetattr(&self.0, OptionalActions::Drain, &before).map_err(failed)?;
        self.say("\n")?;
        answer
    }

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        self.0.write_all(text.as_bytes()).map_err(Failure::io("/dev/tty".as_ref()))
    }

    fn line(&mut self) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let mut line = Zeroizing::new(Vec::with_capacity(ANSWER_BYTES_MAX));
        let mut byte = [0];
        while line.len() < ANSWER_BYTES_MAX {
            // A read goes on after a signal that somebody takes note of; this ends, and so does what is
            // asked.
            let mut waited = [PollFd::new(&self.0, PollFlags::IN)];
            poll(&mut waited, None).map_err(|errno| match errno {
                Errno::INTR => Failure::Said("interrupted".into()),
                errno => failed(errno),
            })?;
            match self.0.read(&mut byte).map_err(Failure::io("/dev/tty".as_ref()))? {
                0 => return Err(Failure::Said("the terminal was closed".into())),
                _ if byte == *b"\n" => return Ok(line),
                _ if byte == [INTERRUPT] => return Err(Failure::Said("interrupted".into())),
                _ => line.push(byte[0]),
            }
        }
        Err(Failure::Said("the answer is too long".into()))
    }
}

/// Forgets what was typed and nobody has read.
pub(crate) fn forget_typed(terminal: impl AsFd) -> Result<(), Failure> {
    tcflush(terminal, QueueSelector::IFlush).map_err(failed)
}

fn failed(errno: Errno) -> Failure {
    Failure::Said(format!("the terminal: {errno}"))
}
