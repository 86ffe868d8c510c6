//! Measures the idle time of a connection to a host. It never closes the connection itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::options::Timeouts;

#[derive(Debug)]
pub(super) struct IdleTimer {
    begun: Instant,
    last_ms: AtomicU64,
    half_closed: AtomicBool,
}

impl IdleTimer {
    pub(super) fn new() -> Self {
        let (last_ms, half_closed) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { begun: Instant::now(), last_ms, half_closed }
    }

    pub(super) fn reset(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
    }

    /// Records that one side is done. From now on the idle limit is shorter.
    pub(super) fn half_close(&self) {
        self.half_closed.store(true, Ordering::Relaxed);
        self.reset();
    }

    /// Returns when the connection has been idle for too long.
    pub(super) async fn expired(&self, timeouts: Timeouts) {
        loop {
            let half = self.half_closed.load(Ordering::Relaxed);
            let most = if half { timeouts.step } else { timeouts.idle };
            let last = Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
            let silent = self.begun.elapsed().saturating_sub(last);
            if silent >= most {
                return;
            }
            // Often enough to notice a half-close during the long wait.
            sleep((most - silent).min(timeouts.step)).await;
        }
    }
}
