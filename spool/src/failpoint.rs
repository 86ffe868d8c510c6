//! Named places between two acts, where a test can kill the program: the arrows of the state table. In a
//! program that was not built for such tests this is nothing at all, and it must never be a place where
//! anything is decided.
//!
//! Built with the feature `failpoints`, a program reads three variables of its environment.
//! `TOOLEXEC_FAILPOINT=<name>[:<nth>]` has it kill itself (SIGKILL) when it comes to that place, the
//! first time or the nth. `TOOLEXEC_FAILPOINT_STOP=<name>[:<nth>]` has it stop there (SIGSTOP), with all
//! its threads, until somebody lets it go on; `all` has it stop at every place, every time.
//! `TOOLEXEC_FAILPOINT_LOG=<file>` has it add a line with the name of each place that it comes to.

model::closed_set! {
    /// A place between two acts, in the order in which a request comes to them.
    pub enum Failpoint {
        /// The private copy is written, under a hidden name.
        ClaimCopied = "claim-copied",
        /// It has its name in `work/`.
        Claimed = "claimed",
        /// The inputs are in their slot.
        Staged = "staged",
        /// The claim is durable; the ledger does not have it.
        ClaimDurable = "claim-durable",
        /// The ledger line is written and not yet durable.
        IntentWritten = "intent-written",
        /// The ledger line is durable; nothing runs.
        IntentDurable = "intent-durable",
        /// The tool was started.
        Started = "started",
        /// The tool has ended and what it left is gathered, under a hidden name.
        Collected = "collected",
        /// The record is written and signed, under a hidden name.
        RecordWritten = "record-written",
        /// The log's files and the proofs are written; none of it is durable.
        LogWritten = "log-written",
        /// All of it is durable; the log has not got its new checkpoint.
        ResultDurable = "result-durable",
        /// The checkpoint is in its place.
        LogAdopted = "log-adopted",
        /// The result has its name, not durably.
        Published = "published",
        /// The result has its name, durably.
        PublishedDurable = "published-durable",
        /// The original was moved out of `approved/`, into the claim.
        OriginalAside = "original-aside",
        /// What belongs to it was taken away too.
        OriginalsGone = "originals-gone",
        /// The claim is in `archive/`.
        Archived = "archived",
        /// The claim of a refusal is in `quarantine/`.
        Quarantined = "quarantined",
        /// What can never be a request is in `quarantine/`.
        ObjectQuarantined = "object-quarantined",
        /// A claim that came to nothing has its hidden name, and is still there.
        ClaimHidden = "claim-hidden",
        /// Retention has hidden what it removes.
        RetentionHidden = "retention-hidden",
        /// Retention has removed it.
        RetentionRemoved = "retention-removed",
    }
}

/// Says that the program has come to a place.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn reach(_: Failpoint) {}

#[cfg(feature = "failpoints")]
pub use asked::reach;

#[cfg(feature = "failpoints")]
mod asked {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    use super::Failpoint;

    static TO_DIE: AtomicU32 = AtomicU32::new(0);
    static TO_STOP: AtomicU32 = AtomicU32::new(0);

    /// Says that the program has come to a place.
    pub fn reach(point: Failpoint) {
        if let Some(log) = std::env::var_os("TOOLEXEC_FAILPOINT_LOG") {
            let opened = OpenOptions::new().append(true).create(true).open(log);
            // One write, since several threads come to places at once.
            let line = format!("{}\n", point.as_str());
            let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
            assert!(written.is_ok(), "TOOLEXEC_FAILPOINT_LOG cannot be written");
        }
        if is_asked("TOOLEXEC_FAILPOINT", point, &TO_DIE) {
            assert!(kill_process(getpid(), Signal::KILL).is_ok(), "cannot be killed");
            // The signal is on its way to every thread of this process.
            loop {
                std::thread::park();
            }
        }
        if is_asked("TOOLEXEC_FAILPOINT_STOP", point, &TO_STOP) {
            assert!(kill_process(getpid(), Signal::STOP).is_ok(), "cannot be stopped");
        }
    }

    fn is_asked(variable: &str, point: Failpoint, reached: &AtomicU32) -> bool {
        let Ok(asked) = std::env::var(variable) else { return false };
        if asked == "all" {
            return true;
        }
        let (name, nth) = asked.split_once(':').unwrap_or((&asked, "1"));
        name == point.as_str() && (reached.fetch_add(1, Ordering::SeqCst) + 1).to_string() == nth
    }
}
