//! Finished runs for the tests of the steps that come after one.

use sandbox::outcome::OutcomeFacts;
use sandbox::report::{Accounting, CollectedOutput, FinishedRun, Stream};

/// The facts of a run that met no limit and was collected completely; its end is not known.
pub(super) const QUIET: OutcomeFacts = OutcomeFacts {
    tool: None,
    killed: None,
    oom_kills: 0,
    pids_limit_hit: false,
    out_full: false,
    file_full: false,
    output_rejected: false,
    collected_all: true,
};

/// Returns a run with these facts that wrote nothing.
pub(super) fn finished_with(facts: OutcomeFacts) -> FinishedRun {
    let stream = Stream { kept_bytes: 0, produced_bytes: 0, sha256: [0; 32] };
    FinishedRun {
        facts,
        denied: Vec::new(),
        violation: None,
        accounting: Accounting::default(),
        stdout: stream,
        stderr: stream,
        collected: CollectedOutput { complete: true, ..CollectedOutput::default() },
        lost: None,
    }
}
