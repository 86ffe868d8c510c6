//! The pauses between tries of a task, and one log line for each new failure of it.

use std::time::Duration;

const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The database is asked again at least this often.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Pauses that grow while something fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryPause {
    next: Duration,
}

impl RetryPause {
    pub(super) fn new() -> Self {
        Self { next: PAUSE_MIN }
    }

    /// Returns the pause before the next try.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(PAUSE_MAX);
        pause
    }
}

/// The failures of one task.
pub(super) struct TaskRetry {
    task: &'static str,
    pause: RetryPause,
    logged: Option<String>,
}

impl TaskRetry {
    pub(super) fn new(task: &'static str) -> Self {
        Self { task, pause: RetryPause::new(), logged: None }
    }

    /// Returns the pause before the next try. Logs the failure unless it is the same as before.
    pub(super) fn failed(&mut self, why: &str) -> Duration {
        if self.logged.as_deref() != Some(why) {
            tracing::warn!("{}: {why}", self.task);
            self.logged = Some(why.to_owned());
        }
        self.pause.next()
    }

    /// Notes that the task works, for the first time or again.
    pub(super) fn worked(&mut self) {
        self.pause = RetryPause::new();
        if self.logged.take().is_some() {
            tracing::info!("{}: works again", self.task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_limit_and_begin_again() {
        let mut retry = TaskRetry::new("test");
        let pauses: Vec<u128> = (0..9).map(|_| retry.failed("down").as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
        retry.worked();
        assert_eq!(retry.failed("down"), PAUSE_MIN);
    }
}
