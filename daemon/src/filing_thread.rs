//! A thread that uses `drafts/` for a request. Another process can hold the lock of that directory
//! for ever. So a caller waits for a limited time, and at most one thread waits longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SendError, channel};
use std::thread;
use std::time::Duration;

/// The longest wait of a caller for `drafts/`.
const DRAFTS_TIME_MAX: Duration = Duration::from_secs(5);

/// The use of `drafts/` by one thread at a time.
pub(crate) struct FilingThread {
    is_busy: Arc<AtomicBool>,
    time_max: Duration,
}

impl Default for FilingThread {
    fn default() -> Self {
        Self { is_busy: Arc::default(), time_max: DRAFTS_TIME_MAX }
    }
}

impl FilingThread {
    /// Returns the result of `act` on another thread. Returns `None` if an earlier one is still
    /// busy, or if this one is late; its result is then the argument of `late`.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> T + Send + 'static,
        late: impl FnOnce(T) + Send + 'static,
    ) -> Option<T> {
        if self.is_busy.swap(true, Ordering::SeqCst) {
            return None;
        }
        let (send, result) = channel();
        let is_busy = Arc::clone(&self.is_busy);
        let work = move || {
            let done = act();
            // Before the result: its receiver may start the next one.
            is_busy.store(false, Ordering::SeqCst);
            if let Err(SendError(done)) = send.send(done) {
                late(done);
            }
        };
        if let Err(error) = thread::Builder::new().name("filing".to_owned()).spawn(work) {
            self.is_busy.store(false, Ordering::SeqCst);
            tracing::warn!("start a thread: {error}");
            return None;
        }
        result.recv_timeout(self.time_max).ok()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_uses_the_directory_and_its_caller_goes_on() {
        let time_max = Duration::from_millis(50);
        let thread = FilingThread { time_max, ..FilingThread::default() };
        // A busy host may need longer for it.
        while thread.run(|| 1, drop) != Some(1) {}
        let (answer, wait) = channel();
        let (send_late, late) = channel();
        let send_late = move |word: &str| send_late.send(word.to_owned()).unwrap();
        assert_eq!(thread.run(move || wait.recv().unwrap(), send_late), None);
        assert!(thread.is_busy());
        assert_eq!(thread.run(|| 2, drop), None);
        answer.send("late").unwrap();
        assert_eq!(late.recv().unwrap(), "late");
        while thread.run(|| 3, drop) != Some(3) {}
    }
}
