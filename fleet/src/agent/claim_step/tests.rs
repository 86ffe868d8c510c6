//! Every combination of facts has its step, and an interrupted agent reaches the same end.

use super::*;

fn every() -> Vec<ClaimSituation> {
    let mut every = Vec::new();
    for origin in [ClaimOrigin::Fleet, ClaimOrigin::Local] {
        for row in [ClaimRowState::Claimed, ClaimRowState::Started, ClaimRowState::NotMine] {
            for (is_placed, has_result) in
                [(false, false), (true, false), (false, true), (true, true)]
            {
                every.extend(
                    [
                        SubmissionPresence::Absent,
                        SubmissionPresence::Ours,
                        SubmissionPresence::Other,
                    ]
                    .map(|submission| ClaimSituation {
                        origin,
                        is_placed,
                        row,
                        submission,
                        has_result,
                    }),
                );
            }
        }
    }
    every
}

#[test]
fn a_published_record_is_reported_before_anything_else() {
    for facts in every() {
        let is_reported = next_step(facts) == ClaimStep::Report;
        assert_eq!(is_reported, facts.has_result, "{facts:?}");
    }
}

#[test]
fn a_request_is_placed_only_with_its_claim_and_only_once() {
    let placed: Vec<_> =
        every().into_iter().filter(|it| next_step(*it) == ClaimStep::Place).collect();
    let wanted = ClaimSituation {
        origin: ClaimOrigin::Fleet,
        is_placed: false,
        row: ClaimRowState::Claimed,
        submission: SubmissionPresence::Absent,
        has_result: false,
    };
    assert_eq!(placed, [wanted]);
}

#[test]
fn a_started_request_keeps_its_claim_until_its_record() {
    for facts in every() {
        let waits = facts.row == ClaimRowState::Started || facts.origin == ClaimOrigin::Local;
        if waits && !facts.has_result {
            let step = next_step(facts);
            assert!(matches!(step, ClaimStep::Wait | ClaimStep::MissRecord), "{facts:?}");
        }
    }
}

#[test]
fn a_record_is_missed_only_after_a_start_whose_file_is_gone() {
    for facts in every() {
        let waits = facts.row == ClaimRowState::Started || facts.origin == ClaimOrigin::Local;
        let is_gone = facts.submission != SubmissionPresence::Ours;
        let is_missed = waits && is_gone && !facts.has_result;
        assert_eq!(next_step(facts) == ClaimStep::MissRecord, is_missed, "{facts:?}");
    }
}

#[test]
fn only_the_claimed_document_is_removed_and_only_without_its_claim() {
    for facts in every().into_iter().filter(|it| next_step(*it) == ClaimStep::Withdraw) {
        assert_eq!(facts.submission, SubmissionPresence::Ours, "{facts:?}");
        assert_eq!(facts.row, ClaimRowState::NotMine, "{facts:?}");
    }
}

#[test]
fn a_claim_is_given_back_only_while_it_is_not_started() {
    for facts in every().into_iter().filter(|it| next_step(*it) == ClaimStep::GiveBack) {
        assert_eq!(facts.row, ClaimRowState::Claimed, "{facts:?}");
        assert!(facts.is_placed, "{facts:?}");
    }
}

/// One host with its claim, its spool and its daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SimulatedHost {
    facts: ClaimSituation,
    placings: u32,
    reports: u32,
    is_forgotten: bool,
}

impl SimulatedHost {
    fn step(mut self) -> Self {
        match next_step(self.facts) {
            ClaimStep::Place => {
                self.facts.submission = SubmissionPresence::Ours;
                self.placings += 1;
            }
            ClaimStep::NotePlaced => self.facts.is_placed = true,
            ClaimStep::Report => {
                self.reports += 1;
                self.is_forgotten = true;
            }
            ClaimStep::Withdraw => self.facts.submission = SubmissionPresence::Absent,
            ClaimStep::Forget | ClaimStep::GiveBack => self.is_forgotten = true,
            ClaimStep::Wait | ClaimStep::Blocked | ClaimStep::MissRecord => self.daemon(),
        }
        self
    }

    /// The daemon starts a submitted request, publishes its record, then removes the original.
    fn daemon(&mut self) {
        if self.facts.row == ClaimRowState::Claimed {
            self.facts.row = ClaimRowState::Started;
        } else {
            self.facts.has_result = true;
            self.facts.submission = SubmissionPresence::Absent;
        }
    }
}

/// The agent is killed after each of its steps in turn: its memory is lost, the rest is not.
#[test]
fn an_interrupted_claim_is_placed_once_and_reported() {
    let begun = SimulatedHost {
        facts: ClaimSituation {
            origin: ClaimOrigin::Fleet,
            is_placed: false,
            row: ClaimRowState::Claimed,
            submission: SubmissionPresence::Absent,
            has_result: false,
        },
        placings: 0,
        reports: 0,
        is_forgotten: false,
    };
    for killed_after in 0..8 {
        let mut host = begun;
        for at in 0..16 {
            if host.is_forgotten {
                break;
            }
            host = host.step();
            if at == killed_after {
                host.facts.is_placed = false;
            }
        }
        assert_eq!((host.placings, host.reports), (1, 1), "killed after {killed_after}: {host:?}");
    }
}
