//! Every combination of values gets one step, and repeating the steps terminates.

use super::{Claim, Hidden, Illegal, Original, Place, Promise, State, Step, There, step};

fn product() -> Vec<State> {
    let there = [false, true].map(There::from);
    let mut all = vec![State::NOTHING];
    let spread = |all: Vec<State>, with: &dyn Fn(State) -> Vec<State>| -> Vec<State> {
        all.into_iter().flat_map(with).collect()
    };
    let claims = [Claim::Absent, Claim::Locked, Claim::Torn, Claim::Request, Claim::Object];
    all = spread(all, &|it| claims.map(|claim| State { claim, ..it }).to_vec());
    let promises = [Promise::Nothing, Promise::Noted, Promise::Begun, Promise::Contradicted];
    all = spread(all, &|it| promises.map(|promise| State { promise, ..it }).to_vec());
    let hidden = [Hidden::Absent, Hidden::Locked, Hidden::Partial, Hidden::Whole];
    all = spread(all, &|it| hidden.map(|hidden| State { hidden, ..it }).to_vec());
    let originals = [
        Original::Unknown,
        Original::InPlace,
        Original::Another,
        Original::Gone,
        Original::Aside,
        Original::AnotherAside,
    ];
    all = spread(all, &|it| originals.map(|original| State { original, ..it }).to_vec());
    all = spread(all, &|it| there.map(|published| State { published, ..it }).to_vec());
    all = spread(all, &|it| there.map(|archived| State { archived, ..it }).to_vec());
    all = spread(all, &|it| there.map(|quarantined| State { quarantined, ..it }).to_vec());
    all = spread(all, &|it| there.map(|removed| State { removed, ..it }).to_vec());
    spread(all, &|it| there.map(|slot| State { slot, ..it }).to_vec())
}

/// Returns the state after the step, or `None` if the step changes nothing.
fn after(state: State, step: Step) -> Option<State> {
    let gone =
        State { claim: Claim::Absent, original: Original::Unknown, slot: There::Absent, ..state };
    match step {
        Step::Rest | Step::LeaveAlone | Step::Report(_) => None,
        Step::RemoveSlot => Some(State { slot: There::Absent, ..state }),
        Step::RemoveHidden => Some(State { hidden: Hidden::Absent, ..state }),
        Step::Publish => Some(State { hidden: Hidden::Absent, published: There::Present, ..state }),
        Step::Tell => Some(State { published: There::Present, ..state }),
        Step::Forget => Some(State { promise: Promise::Nothing, ..gone }),
        Step::Tidy(Place::Archive) => Some(State { archived: There::Present, ..gone }),
        Step::Tidy(Place::Quarantine) => {
            Some(State { promise: Promise::Nothing, quarantined: There::Present, ..gone })
        }
    }
}

#[test]
fn every_combination_gets_a_step_and_few_are_legal() {
    let all = product();
    assert_eq!(all.len(), 5 * 4 * 4 * 6 * 2 * 2 * 2 * 2 * 2);
    let count = |kind: &dyn Fn(&Step) -> bool| all.iter().map(step).filter(|it| kind(it)).count();
    let illegal = count(&|it| matches!(it, Step::Report(_)));
    let alone = count(&|it| matches!(it, Step::LeaveAlone));
    assert_eq!((all.len(), illegal, alone), (15360, 8784, 6144));
}

#[test]
fn every_way_ends_and_none_ends_in_what_is_illegal() {
    for first in product() {
        let mut state = first;
        for turn in 0.. {
            assert!(turn < 5, "{first:?} goes round");
            let taken = step(&state);
            if let Step::Report(illegal) = taken {
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
fn nothing_runs_or_is_told_twice() {
    for state in product() {
        let told = state.published == There::Present;
        match step(&state) {
            Step::Tell => {
                assert_eq!((state.promise, told), (Promise::Begun, false), "{state:?}");
                assert_eq!(state.hidden, Hidden::Absent, "{state:?}");
            }
            // A forgotten request is claimed again.
            Step::Forget => {
                assert!(!told && state.promise != Promise::Begun, "{state:?}");
                assert_ne!(state.hidden, Hidden::Whole, "{state:?}");
            }
            Step::Publish => assert_eq!((state.hidden, told), (Hidden::Whole, false), "{state:?}"),
            Step::Tidy(_) => assert!(told, "{state:?}"),
            Step::RemoveHidden => assert!(!told, "{state:?}"),
            _ => {}
        }
    }
}

#[test]
fn a_ledger_line_whose_result_is_nowhere_is_reported_unless_retention_took_it() {
    let line = State { promise: Promise::Begun, ..State::NOTHING };
    assert_eq!(step(&line), Step::Report(Illegal::Lost));
    assert_eq!(step(&State { removed: There::Present, ..line }), Step::Rest);
    assert_eq!(step(&State { archived: There::Present, ..line }), Step::Rest);
    let unknown = State { archived: There::Present, ..State::NOTHING };
    assert_eq!(step(&unknown), Step::Report(Illegal::NotInTheLedger));
}
