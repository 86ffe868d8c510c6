//! The numbers as a file, for node_exporter's textfile collector. Written when something changed and at most
//! every so often; while nothing changes it asks nobody to wake.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use spool::{SpoolError, tell_file};

use super::registry::Metrics;

/// The file, and what was written to it last.
pub struct MetricsFile {
    path: PathBuf,
    interval: Duration,
    written: Option<(Instant, u64)>,
}

impl MetricsFile {
    /// Nothing is written yet.
    #[must_use]
    pub fn new(path: PathBuf, interval: Duration) -> Self {
        Self { path, interval, written: None }
    }

    /// When it is to be written next; none while it says what is so.
    #[must_use]
    pub fn due(&self, metrics: &Metrics) -> Option<Instant> {
        match self.written {
            None => Some(Instant::now()),
            Some((at, changes)) => (changes != metrics.changes()).then(|| at + self.interval),
        }
    }

    /// Writes it if it is due.
    ///
    /// # Errors
    /// The disk. It is tried again after the interval; nobody but readers misses it.
    pub fn keep(&mut self, metrics: &Metrics) -> Result<(), SpoolError> {
        match self.due(metrics) {
            Some(due) if due <= Instant::now() => self.write(metrics),
            _ => Ok(()),
        }
    }

    /// Writes it now: at the end, so that the last numbers are there.
    ///
    /// # Errors
    /// The disk.
    pub fn write(&mut self, metrics: &Metrics) -> Result<(), SpoolError> {
        // What changes from here on is not in it, or is and is written again.
        self.written = Some((Instant::now(), metrics.changes()));
        tell_file(&self.path, metrics.render().as_bytes())
    }
}
