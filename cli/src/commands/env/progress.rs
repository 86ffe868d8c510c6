//! The progress of a build: one line on a terminal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use environments::{BuildEvent, SourceStep};

use crate::failure::Failure;
use crate::output::figures::size;
use crate::output::progress::ProgressThread;

/// A build in progress. Dropping it clears the line.
pub(super) struct EnvironmentProgress {
    step: Arc<Mutex<StepProgress>>,
    left_out: LeftOut,
    /// Kept for its drop.
    _thread: ProgressThread,
}

/// The parts of a source that an environment does not have.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut {
    /// Programs that did not fit into its list.
    pub(super) programs: usize,
    /// Variables that an environment must not set.
    pub(super) variables: usize,
}

struct StepProgress {
    step: SourceStep,
    begun: Instant,
    bytes: u64,
}

impl EnvironmentProgress {
    pub(super) fn begin() -> Result<Self, Failure> {
        let first = StepProgress { step: SourceStep::Checking, begun: Instant::now(), bytes: 0 };
        let step = Arc::new(Mutex::new(first));
        let seen = Arc::clone(&step);
        let thread = ProgressThread::begin(false, move |progress_line, _| {
            let (step, figures) = lock(&seen).shown();
            progress_line.state(step, &figures);
        })?;
        Ok(Self { step, left_out: LeftOut::default(), _thread: thread })
    }

    pub(super) fn event(&mut self, event: BuildEvent) {
        match event {
            BuildEvent::Step(step) => {
                *lock(&self.step) = StepProgress { step, begun: Instant::now(), bytes: 0 };
            }
            BuildEvent::Bytes(bytes) => lock(&self.step).bytes = bytes,
            BuildEvent::ProgramsLeftOut(count) => self.left_out.programs = count,
            BuildEvent::VariablesLeftOut(count) => self.left_out.variables = count,
        }
    }

    pub(super) fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

impl StepProgress {
    fn shown(&self) -> (&'static str, String) {
        let seconds = self.begun.elapsed().as_secs();
        let bytes = if self.bytes == 0 { String::new() } else { format!("{}  ", size(self.bytes)) };
        (self.step.as_str(), format!("{bytes}{seconds} s"))
    }
}

fn lock(step: &Mutex<StepProgress>) -> MutexGuard<'_, StepProgress> {
    step.lock().unwrap_or_else(PoisonError::into_inner)
}
