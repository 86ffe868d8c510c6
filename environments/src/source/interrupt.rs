//! The interruption of a build. Each program has a process group of its own, which a Ctrl-C at the
//! terminal does not reach. While none runs, a signal must keep its usual effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Two flags that a build shares with the handler of signals.
#[derive(Clone, Debug)]
pub struct BuildInterrupt {
    requested: Arc<AtomicBool>,
    idle: Arc<AtomicBool>,
}

impl Default for BuildInterrupt {
    fn default() -> Self {
        Self { requested: Arc::default(), idle: Arc::new(AtomicBool::new(true)) }
    }
}

impl BuildInterrupt {
    /// Returns the flag that a handler of signals sets to interrupt the running program.
    #[must_use]
    pub fn requested(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.requested)
    }

    /// Returns the flag that is true while no program runs. A signal then ends the build as usual.
    #[must_use]
    pub fn idle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.idle)
    }

    pub(super) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// Says that a program runs, until the guard is dropped.
    pub(super) fn begin_program(&self) -> RunningProgram<'_> {
        self.idle.store(false, Ordering::SeqCst);
        RunningProgram(self)
    }
}

/// A program runs while this exists.
pub(super) struct RunningProgram<'a>(&'a BuildInterrupt);

impl Drop for RunningProgram<'_> {
    fn drop(&mut self) {
        self.0.idle.store(true, Ordering::SeqCst);
    }
}
