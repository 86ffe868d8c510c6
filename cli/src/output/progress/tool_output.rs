//! The output of a tool on the stdout and stderr of this process, as it comes. A pipe or a file gets
//! the exact bytes that are recorded. On a terminal, where control characters would have an effect,
//! they are shown by number.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use spool::{FollowedFile, ProgressMoment};
use validator::{incomplete_len, reveal_text};

use super::progress_line::ProgressLine;
use crate::failure::Failure;

/// Both streams of one request's run.
pub(crate) struct ToolOutput {
    streams: [OutputStream; 2],
    /// False while the cursor is in a line of the tool.
    is_at_line_start: bool,
}

/// A stream of the tool, and the stream of this process that shows it.
struct OutputStream {
    file: FollowedFile,
    name: &'static str,
    to: Box<dyn Write + Send>,
    is_terminal: bool,
    /// The beginning of a character whose rest was not read yet.
    rest: Vec<u8>,
    /// The reader of this process's stream has left, or a write failed.
    is_closed: bool,
    problem: OutputProblem,
}

/// The first failed write, other than to a reader that has left.
#[derive(Clone, Default)]
pub(crate) struct OutputProblem(Arc<Mutex<Option<Failure>>>);

impl OutputProblem {
    /// Returns the failure once.
    pub(crate) fn take(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, failure: Failure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }
}

impl ToolOutput {
    pub(crate) fn new(results: &Path, request_id: &str) -> (Self, OutputProblem) {
        let problem = OutputProblem::default();
        let (out, err) = (io::stdout(), io::stderr());
        let (out_terminal, err_terminal) = (out.is_terminal(), err.is_terminal());
        let stream = |name, to, is_terminal| {
            let file = FollowedFile::new(results, request_id, name);
            let problem = problem.clone();
            OutputStream {
                file,
                name,
                to,
                is_terminal,
                rest: Vec::new(),
                is_closed: false,
                problem,
            }
        };
        let streams = [
            stream("stdout", Box::new(out) as Box<dyn Write + Send>, out_terminal),
            stream("stderr", Box::new(err), err_terminal),
        ];
        (Self { streams, is_at_line_start: true }, problem)
    }

    /// Writes the output since the previous call. Returns whether the progress line may be drawn.
    pub(crate) fn write(
        &mut self,
        moment: ProgressMoment,
        progress_line: &mut ProgressLine,
    ) -> bool {
        for stream in &mut self.streams {
            while let Some(text) = stream.read(moment) {
                if stream.is_terminal {
                    progress_line.clear();
                    self.is_at_line_start = text.ends_with(b"\n");
                }
                stream.write(&text);
                if moment == ProgressMoment::Now {
                    break;
                }
            }
        }
        if moment == ProgressMoment::Last && !self.is_at_line_start {
            self.is_at_line_start = true;
            // Messages that follow begin on a line of their own.
            if let Some(stream) = self.streams.iter_mut().find(|stream| stream.is_terminal) {
                stream.write(b"\n");
            }
        }
        self.is_at_line_start
    }
}

impl OutputStream {
    fn read(&mut self, moment: ProgressMoment) -> Option<Vec<u8>> {
        let read = self.file.read(moment, u64::MAX);
        if !self.is_terminal {
            return read;
        }
        let mut bytes = std::mem::take(&mut self.rest);
        match read {
            Some(read) => {
                bytes.extend(read);
                self.rest = bytes.split_off(bytes.len() - incomplete_len(&bytes));
                // Only the beginning of a character: more follows, or this is the end.
                if bytes.is_empty() {
                    return self.read(moment);
                }
            }
            None if moment == ProgressMoment::Now => {
                self.rest = bytes;
                return None;
            }
            None if bytes.is_empty() => return None,
            None => {}
        }
        Some(reveal_text(&bytes).into_bytes())
    }

    /// A reader that leaves early does not end the run.
    fn write(&mut self, bytes: &[u8]) {
        if self.is_closed {
            return;
        }
        if let Err(error) = self.to.write_all(bytes).and_then(|()| self.to.flush()) {
            self.is_closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.problem.note(Failure::Io(self.name.into(), error));
            }
        }
    }
}
