//! Named points between two operations where a test can kill the program: the arrows of the state
//! table. Without the feature `failpoints`, [`reach`] does nothing. No decision may depend on a
//! failpoint. A program built with the feature reads three environment variables:
//!
//! - `TOOLEXEC_FAILPOINT=<name>[:<nth>]`: it kills itself there (SIGKILL), the first or nth time.
//! - `TOOLEXEC_FAILPOINT_STOP=<name>[:<nth>]`: it stops all its threads there (SIGSTOP) until it is
//!   continued. With `all` it stops at every point, every time.
//! - `TOOLEXEC_FAILPOINT_LOG=<file>`: it appends the name of each point it reaches, one per line.

model::closed_set! {
    /// A point between two operations, in the order in which a request reaches them.
    pub enum Failpoint {
        /// The private copy is written under a hidden name.
        ClaimCopied = "claim-copied",
        /// The claim has its name in `work/`.
        Claimed = "claimed",
        /// The inputs are in their slot.
        Staged = "staged",
        /// The claim is durable; it has no ledger line yet.
        ClaimDurable = "claim-durable",
        /// The ledger line is written and not yet durable.
        IntentWritten = "intent-written",
        /// The ledger line is durable; the tool is not started.
        IntentDurable = "intent-durable",
        /// The fleet has permitted the start, or this host has none; the tool is not started.
        StartPermitted = "start-permitted",
        /// The tool was started.
        Started = "started",
        /// The tool has ended, and its output is collected under a hidden name.
        Collected = "collected",
        /// The record is written and signed, under a hidden name.
        RecordWritten = "record-written",
        /// The log's files and the proofs are written; none of it is durable.
        LogWritten = "log-written",
        /// All of it is durable; the log does not have its new checkpoint yet.
        ResultDurable = "result-durable",
        /// The log's new checkpoint is in place.
        LogAdopted = "log-adopted",
        /// The result has its name, which is not durable yet.
        Published = "published",
        /// The result's name is durable.
        PublishedDurable = "published-durable",
        /// The original was moved out of `approved/`, into the claim.
        OriginalAside = "original-aside",
        /// The files that belong to the original are removed too.
        OriginalsGone = "originals-gone",
        /// The claim is in `archive/`.
        Archived = "archived",
        /// The claim of a refusal is in `quarantine/`.
        Quarantined = "quarantined",
        /// An object that can never be a request is in `quarantine/`.
        ObjectQuarantined = "object-quarantined",
        /// A claim without a result has its hidden name and still exists.
        ClaimHidden = "claim-hidden",
        /// Retention has hidden an object that it removes.
        RetentionHidden = "retention-hidden",
        /// Retention has removed the object.
        RetentionRemoved = "retention-removed",
    }
}

/// Reports that the program has reached a failpoint.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn reach(_: Failpoint) {}

#[cfg(feature = "failpoints")]
pub use active::reach;

#[cfg(feature = "failpoints")]
mod active {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    use super::Failpoint;

    static KILL_REACHED: AtomicU32 = AtomicU32::new(0);
    static STOP_REACHED: AtomicU32 = AtomicU32::new(0);

    /// Reports that the program has reached a failpoint.
    pub fn reach(point: Failpoint) {
        if let Some(log) = std::env::var_os("TOOLEXEC_FAILPOINT_LOG") {
            let opened = OpenOptions::new().append(true).create(true).open(log);
            // A single write, because several threads may reach points at once.
            let line = format!("{}\n", point.as_str());
            let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
            assert!(written.is_ok(), "TOOLEXEC_FAILPOINT_LOG cannot be written");
        }
        if is_requested("TOOLEXEC_FAILPOINT", point, &KILL_REACHED) {
            assert!(kill_process(getpid(), Signal::KILL).is_ok(), "cannot be killed");
            // The signal is on its way to every thread of this process.
            loop {
                std::thread::park();
            }
        }
        if is_requested("TOOLEXEC_FAILPOINT_STOP", point, &STOP_REACHED) {
            assert!(kill_process(getpid(), Signal::STOP).is_ok(), "cannot be stopped");
        }
    }

    fn is_requested(variable: &str, point: Failpoint, reached: &AtomicU32) -> bool {
        let Ok(selected) = std::env::var(variable) else { return false };
        if selected == "all" {
            return true;
        }
        let (name, nth) = selected.split_once(':').unwrap_or((&selected, "1"));
        name == point.as_str() && (reached.fetch_add(1, Ordering::SeqCst) + 1).to_string() == nth
    }
}
