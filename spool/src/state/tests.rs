//! Every combination of values gets one step, and repeating the steps terminates.

use super::{
    ClaimFiles, ClaimState, Destination, HiddenState, IllegalState, OriginalState, PathPresence,
    PromiseState, RecoveryAction, next_action,
};

fn product() -> Vec<ClaimFiles> {
    let there = [false, true].map(PathPresence::from);
    let mut all = vec![ClaimFiles::NOTHING];
    let spread = |all: Vec<ClaimFiles>,
                  with: &dyn Fn(ClaimFiles) -> Vec<ClaimFiles>|
     -> Vec<ClaimFiles> { all.into_iter().flat_map(with).collect() };
    let claims = [
        ClaimState::Absent,
        ClaimState::Locked,
        ClaimState::Torn,
        ClaimState::Request,
        ClaimState::Object,
    ];
    all = spread(all, &|it| claims.map(|claim| ClaimFiles { claim, ..it }).to_vec());
    let promises =
        [PromiseState::None, PromiseState::Noted, PromiseState::Begun, PromiseState::Contradicted];
    all = spread(all, &|it| promises.map(|promise| ClaimFiles { promise, ..it }).to_vec());
    let hidden =
        [HiddenState::Absent, HiddenState::Locked, HiddenState::Partial, HiddenState::Whole];
    all = spread(all, &|it| hidden.map(|hidden| ClaimFiles { hidden, ..it }).to_vec());
    let originals = [
        OriginalState::Unknown,
        OriginalState::InPlace,
        OriginalState::Another,
        OriginalState::Gone,
        OriginalState::Aside,
        OriginalState::AnotherAside,
    ];
    all = spread(all, &|it| originals.map(|original| ClaimFiles { original, ..it }).to_vec());
    all = spread(all, &|it| there.map(|published| ClaimFiles { published, ..it }).to_vec());
    all = spread(all, &|it| there.map(|archived| ClaimFiles { archived, ..it }).to_vec());
    all = spread(all, &|it| there.map(|quarantined| ClaimFiles { quarantined, ..it }).to_vec());
    all = spread(all, &|it| there.map(|removed| ClaimFiles { removed, ..it }).to_vec());
    spread(all, &|it| there.map(|slot| ClaimFiles { slot, ..it }).to_vec())
}

/// Returns the state after the step, or `None` if the step changes nothing.
fn after(state: ClaimFiles, step: RecoveryAction) -> Option<ClaimFiles> {
    let gone = ClaimFiles {
        claim: ClaimState::Absent,
        original: OriginalState::Unknown,
        slot: PathPresence::Absent,
        ..state
    };
    match step {
        RecoveryAction::Done | RecoveryAction::Skip | RecoveryAction::Report(_) => None,
        RecoveryAction::RemoveSlot => Some(ClaimFiles { slot: PathPresence::Absent, ..state }),
        RecoveryAction::RemoveHidden => Some(ClaimFiles { hidden: HiddenState::Absent, ..state }),
        RecoveryAction::Publish => Some(ClaimFiles {
            hidden: HiddenState::Absent,
            published: PathPresence::Present,
            ..state
        }),
        RecoveryAction::Record => Some(ClaimFiles { published: PathPresence::Present, ..state }),
        RecoveryAction::RemoveClaim => Some(ClaimFiles { promise: PromiseState::None, ..gone }),
        RecoveryAction::Finish(Destination::Archive) => {
            Some(ClaimFiles { archived: PathPresence::Present, ..gone })
        }
        RecoveryAction::Finish(Destination::Quarantine) => Some(ClaimFiles {
            promise: PromiseState::None,
            quarantined: PathPresence::Present,
            ..gone
        }),
    }
}

#[test]
fn every_combination_gets_a_step_and_few_are_legal() {
    let all = product();
    assert_eq!(all.len(), 5 * 4 * 4 * 6 * 2 * 2 * 2 * 2 * 2);
    let count = |kind: &dyn Fn(&RecoveryAction) -> bool| {
        all.iter().map(next_action).filter(|it| kind(it)).count()
    };
    let illegal = count(&|it| matches!(it, RecoveryAction::Report(_)));
    let alone = count(&|it| matches!(it, RecoveryAction::Skip));
    assert_eq!((all.len(), illegal, alone), (15360, 8784, 6144));
}

#[test]
fn every_way_ends_and_none_ends_in_what_is_illegal() {
    for first in product() {
        let mut state = first;
        for turn in 0.. {
            assert!(turn < 5, "{first:?} goes round");
            let taken = next_action(&state);
            if let RecoveryAction::Report(illegal) = taken {
                assert_eq!(turn, 0, "{first:?} is led to {state:?}: {illegal}");
            }
            match after(state, taken) {
                Some(next) => state = next,
                None => break,
            }
        }
    }
}

#[test]
fn nothing_runs_or_is_recorded_twice() {
    for state in product() {
        let is_published = state.published == PathPresence::Present;
        match next_action(&state) {
            RecoveryAction::Record => {
                assert_eq!(
                    (state.promise, is_published),
                    (PromiseState::Begun, false),
                    "{state:?}"
                );
                assert_eq!(state.hidden, HiddenState::Absent, "{state:?}");
            }
            // A forgotten request is claimed again.
            RecoveryAction::RemoveClaim => {
                assert!(!is_published && state.promise != PromiseState::Begun, "{state:?}");
                assert_ne!(state.hidden, HiddenState::Whole, "{state:?}");
            }
            RecoveryAction::Publish => {
                assert_eq!((state.hidden, is_published), (HiddenState::Whole, false), "{state:?}")
            }
            RecoveryAction::Finish(_) => assert!(is_published, "{state:?}"),
            RecoveryAction::RemoveHidden => assert!(!is_published, "{state:?}"),
            _ => {}
        }
    }
}

#[test]
fn a_ledger_line_whose_result_is_nowhere_is_reported_unless_retention_took_it() {
    let line = ClaimFiles { promise: PromiseState::Begun, ..ClaimFiles::NOTHING };
    assert_eq!(next_action(&line), RecoveryAction::Report(IllegalState::Lost));
    assert_eq!(
        next_action(&ClaimFiles { removed: PathPresence::Present, ..line }),
        RecoveryAction::Done
    );
    assert_eq!(
        next_action(&ClaimFiles { archived: PathPresence::Present, ..line }),
        RecoveryAction::Done
    );
    let unknown = ClaimFiles { archived: PathPresence::Present, ..ClaimFiles::NOTHING };
    assert_eq!(next_action(&unknown), RecoveryAction::Report(IllegalState::NotInTheLedger));
}
