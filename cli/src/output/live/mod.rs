//! What goes on while a person waits: one line on a terminal's stderr, drawn anew a few times a second, and
//! the tool's own words if they were asked for. Never anything where stderr is no terminal, unless it was
//! asked for, and never a byte on stdout: that is the answer's.

mod follow;
mod line;
mod measure;
mod pen;

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub(crate) use follow::Followed;
pub(crate) use line::{elapsed_sec, of_running};
pub(crate) use measure::{bytes_of, seconds_of, share};
pub(crate) use pen::Pen;

use crate::failure::Failure;

/// What ends before this is not shown at all, and afterwards nothing is drawn more often.
const DRAW_INTERVAL: Duration = Duration::from_millis(250);

/// When it is looked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Now,
    /// It is over, and this is the last look.
    Last,
}

/// A thread that looks and draws for as long as this lives.
pub(crate) struct Live {
    pen: Arc<Mutex<Pen>>,
    at_work: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Live {
    /// Nobody looks where nothing would be drawn: neither a terminal nor anything that was asked for.
    pub(crate) fn begin(
        asked: bool,
        mut look: impl FnMut(&mut Pen, Moment) + Send + 'static,
    ) -> Result<Self, Failure> {
        let pen = Pen::of(&io::stderr());
        let wanted = asked || pen.draws();
        let pen = Arc::new(Mutex::new(pen));
        let mut live = Self { pen: Arc::clone(&pen), at_work: None };
        if wanted {
            let (stop, stopped) = channel::<()>();
            let work = move || {
                while stopped.recv_timeout(DRAW_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    look(&mut lock(&pen), Moment::Now);
                }
                let mut pen = lock(&pen);
                look(&mut pen, Moment::Last);
                pen.clear();
            };
            let named = thread::Builder::new().name("live".to_owned()).spawn(work);
            let drawing =
                named.map_err(|error| Failure::Said(format!("start a thread: {error}")))?;
            live.at_work = Some((stop, drawing));
        }
        Ok(live)
    }

    /// Does something that prints, with no line of ours in its way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut pen = lock(&self.pen);
        pen.clear();
        print()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some((stop, drawing)) = self.at_work.take() {
            drop(stop);
            // What could not be drawn is no reason to end otherwise than the command did.
            drawing.join().unwrap_or_default();
        }
    }
}

fn lock(pen: &Mutex<Pen>) -> MutexGuard<'_, Pen> {
    // What was drawn half is drawn anew.
    pen.lock().unwrap_or_else(PoisonError::into_inner)
}
