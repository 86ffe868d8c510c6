//! The metrics as a file for node_exporter's textfile collector, written after a change, at most
//! once per interval. Without changes it causes no wake-up.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use spool::{SpoolError, publish_file};

use super::registry::Metrics;

/// The metrics file and the state of its last write.
pub struct MetricsFile {
    path: PathBuf,
    interval: Duration,
    written: Option<(Instant, u64)>,
}

impl MetricsFile {
    /// Returns a file that is not yet written.
    #[must_use]
    pub fn new(path: PathBuf, interval: Duration) -> Self {
        Self { path, interval, written: None }
    }

    /// Returns the time of the next write; none while the file is up to date.
    #[must_use]
    pub fn due(&self, metrics: &Metrics) -> Option<Instant> {
        match self.written {
            None => Some(Instant::now()),
            Some((at, changes)) => (changes != metrics.changes()).then(|| at + self.interval),
        }
    }

    /// Writes the file if it is due.
    ///
    /// # Errors
    /// The disk; the write is retried after the interval. Only readers are affected.
    pub fn write_if_due(&mut self, metrics: &Metrics) -> Result<(), SpoolError> {
        match self.due(metrics) {
            Some(due) if due <= Instant::now() => self.write(metrics),
            _ => Ok(()),
        }
    }

    /// Writes the file now, for example at the end of the daemon.
    ///
    /// # Errors
    /// The disk.
    pub fn write(&mut self, metrics: &Metrics) -> Result<(), SpoolError> {
        // Read before rendering: a concurrent change may be in the file, and causes another write.
        let changes = metrics.changes();
        let published = publish_file(&self.path, metrics.render().as_bytes());
        // No change count of a later look is that of a failed write.
        let written = if published.is_ok() { changes } else { changes.wrapping_sub(1) };
        self.written = Some((Instant::now(), written));
        published
    }
}
