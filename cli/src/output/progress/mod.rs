//! Progress while the caller waits: one line on stderr, if it is a terminal, and the tool's output
//! on request. Only [`ToolOutput`] prints to stdout, which else belongs to the answer.

mod follow;
mod measure;
mod progress_line;
mod running_line;
mod tool_output;

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub(crate) use follow::OutputFollower;
pub(crate) use measure::{bytes_of, seconds_of, share};
use progress_line::DRAW_INTERVAL;
pub(crate) use progress_line::ProgressLine;
pub(crate) use running_line::{elapsed_sec, running_figures};
pub(crate) use spool::ProgressMoment;
pub(crate) use tool_output::ToolOutput;

use crate::failure::Failure;

/// Interval of reads of a tool's output.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(50);

/// A thread that refreshes the progress line until this value is dropped.
pub(crate) struct ProgressThread {
    progress_line: Arc<Mutex<ProgressLine>>,
    worker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressThread {
    /// Starts the thread, unless there is neither a terminal nor requested output.
    pub(crate) fn begin(
        requested: bool,
        mut look: impl FnMut(&mut ProgressLine, ProgressMoment) + Send + 'static,
    ) -> Result<Self, Failure> {
        let progress_line = ProgressLine::of(&io::stderr());
        let wanted = requested || progress_line.draws();
        let interval = if requested { FOLLOW_INTERVAL } else { DRAW_INTERVAL };
        let progress_line = Arc::new(Mutex::new(progress_line));
        let mut live = Self { progress_line: Arc::clone(&progress_line), worker: None };
        if wanted {
            let (stop, stopped) = channel::<()>();
            let work = move || {
                while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                    look(&mut lock(&progress_line), ProgressMoment::Now);
                }
                let mut progress_line = lock(&progress_line);
                look(&mut progress_line, ProgressMoment::Last);
                progress_line.clear();
            };
            let named = thread::Builder::new().name("live".to_owned()).spawn(work);
            let drawing = named.map_err(|error| {
                let help = "raise the limit of `ulimit -u`";
                Failure::Message(format!("cannot start a thread: {error}; help: {help}"))
            })?;
            live.worker = Some((stop, drawing));
        }
        Ok(live)
    }

    /// Prints something while the progress line is cleared.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut progress_line = lock(&self.progress_line);
        progress_line.clear();
        print()
    }
}

impl Drop for ProgressThread {
    fn drop(&mut self) {
        if let Some((stop, drawing)) = self.worker.take() {
            drop(stop);
            // A failure to draw must not change the result of the command.
            drawing.join().unwrap_or_default();
        }
    }
}

fn lock(progress_line: &Mutex<ProgressLine>) -> MutexGuard<'_, ProgressLine> {
    // A half-drawn line is drawn again.
    progress_line.lock().unwrap_or_else(PoisonError::into_inner)
}
