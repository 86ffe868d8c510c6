//! Logs of many sizes: each that grows is cosigned, and no fork of it.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use records::log::{Checkpoint, LogView, WitnessedLog, judge_add_checkpoint};

use super::{GrownLog, body, reader, signer, time, unseen};
use crate::fixture::RecordScratch;
use crate::log::{entry, log_key, opened};

const SIZE: u64 = 130;

/// Cosigns a log at growing sizes, as a witness does, and returns the last state.
fn witnessed(log: &GrownLog, sizes: &[u64]) -> WitnessedLog {
    let (key, signer, reader) = (log_key(), signer(), reader());
    let mut known = unseen();
    for size in sizes {
        let body = log.body(known.size(), *size);
        let judged = judge_add_checkpoint(&body, key.public(), &known).unwrap();
        let kept = format!("{}{}", log.note(*size), signer.cosign(&judged, time()));
        let kept_checkpoint = Checkpoint::verify(&kept, key.public()).unwrap();
        assert_eq!(reader.cosigned_at(&kept_checkpoint), Some(time()));
        known = WitnessedLog::of_kept(&kept).unwrap();
        assert_eq!(known, log.cosigned(*size));
    }
    known
}

#[test]
fn every_log_that_grows_is_cosigned_and_no_fork_of_it() {
    let log = GrownLog::new(SIZE, SIZE);
    let forks = [0, 1, 2, 7, 64, 100, 127, 128, 129].map(|prefix| GrownLog::new(prefix, SIZE));
    let sizes = prop::collection::vec(0..=SIZE, 1..6);
    let case = (sizes, 0..forks.len(), 0..=SIZE, 0..=SIZE);
    let config =
        ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() };
    let judged = TestRunner::new(config).run(&case, |(mut sizes, fork, size, old)| {
        sizes.sort_unstable();
        let (known, fork, key) = (witnessed(&log, &sizes), &forks[fork], log_key());
        let cosigned = known.size();
        let judge = |body: &str| judge_add_checkpoint(body, key.public(), &known);
        // The witness has seen an entry that the fork lacks.
        let is_fork = cosigned > fork.prefix;
        if is_fork {
            let own = size.min(cosigned);
            let bodies = [
                fork.body(own, size),
                fork.body(old.min(size), size),
                body(cosigned, &log.proof(own, size.max(own)), fork.note(size)),
                body(cosigned, &[], fork.note(size)),
                body(0, &[], fork.note(size)),
            ];
            for body in bodies {
                prop_assert!(judge(&body).is_err(), "{body}");
            }
        } else if size >= cosigned {
            // To this witness the other log is the fork, from now on.
            let grown = judge(&fork.body(cosigned, size)).unwrap();
            let known = WitnessedLog::of_kept(grown.checkpoint().note()).unwrap();
            let back = judge_add_checkpoint(&log.body(size, SIZE), key.public(), &known);
            prop_assert_eq!(back.is_err(), size > fork.prefix);
        }
        Ok(())
    });
    judged.unwrap();
}

#[test]
fn a_log_that_is_still_written_is_witnessed() {
    let scratch = RecordScratch::in_memory();
    let (mut known, mut log) = (unseen(), opened(scratch.path()).unwrap());
    for number in 0..20 {
        log.append(&entry(number)).unwrap();
        let view = LogView::open(scratch.path(), log.key()).unwrap();
        let body = view.add_checkpoint(known.size()).unwrap();
        let judged = judge_add_checkpoint(&body, log.key(), &known).unwrap();
        known = WitnessedLog::of_kept(judged.checkpoint().note()).unwrap();
    }
    assert_eq!(known.size(), 20);
}
