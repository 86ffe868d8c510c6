//! Maps a state to recovery's next step. The function is total and pure. A state without a row in
//! the table must never get a step that changes anything.

use std::fmt;

use super::{Claim, Hidden, Original, Promise, State, There};

/// The destination of a claim after it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It ran, or may have run.
    Archive,
    /// It was refused, or its sandbox could not be set up.
    Quarantine,
}

/// Recovery's next step. Recovery reads the state again after each step, until nothing is left to
/// do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing is left to do.
    Rest,
    /// A live process is working on it.
    LeaveAlone,
    /// Removes a slot without a claim.
    RemoveSlot,
    /// Removes a hidden result that will not be published.
    RemoveHidden,
    /// Removes the claim. The original is in its place and is claimed again.
    Forget,
    /// Has `indeterminate` recorded under the promised id.
    Tell,
    /// Gives the hidden result its name.
    Publish,
    /// Removes the original from `approved/`, then moves the claim out of `work/`.
    Tidy(Place),
    /// Reports the state and changes nothing.
    Report(Illegal),
}

/// A state that no order of operations and no crash leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
    TwoResults,
    TwoDestinations,
    TwoPromises,
    StillInWork,
    RemovedInWork,
    Unpromised,
    TakenTooEarly,
    TornAndBegun,
    TornAndTold,
    ObjectBegun,
    LineOfARefusal,
    NotInTheLedger,
    Lost,
}

impl Illegal {
    /// Returns the operator's remedy.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::TwoResults => "compare the two, and keep the one that `toolexec verify` accepts",
            Self::TwoDestinations | Self::StillInWork => {
                "compare the copies, and remove the one that does not belong there"
            }
            Self::TwoPromises => {
                "check which of the two ids has a result, then remove the claim's result.json"
            }
            Self::RemovedInWork => "find its record in a backup, then move the claim out of work/",
            Self::Unpromised => "find out who published it, verify it, then move the claim away",
            Self::TakenTooEarly => {
                "look for the result in a backup; if the request never ran, move original.md back \
                 into approved/ and the claim away"
            }
            Self::TornAndBegun | Self::TornAndTold => {
                "check the disk; restore the claim from a backup, or move it away"
            }
            Self::ObjectBegun | Self::LineOfARefusal => {
                "compare the ledger and the claim with a backup: another program changed one"
            }
            Self::NotInTheLedger => {
                "restore a newer ledger before anything runs: the request could run twice"
            }
            Self::Lost => "restore the result and the claim from a backup, or record the loss",
        }
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoResults => "its result exists twice, published and hidden",
            Self::TwoDestinations => "it is in both archive/ and quarantine/",
            Self::TwoPromises => "the ledger and the claim name two different results",
            Self::StillInWork => "it is in work/ and also in archive/ or quarantine/",
            Self::RemovedInWork => "its result expired and was removed while it is in work/",
            Self::Unpromised => "a result exists that neither the ledger nor the claim names",
            Self::TakenTooEarly => "the original was removed before a result existed",
            Self::TornAndBegun => "it was begun, but its copy cannot be read",
            Self::TornAndTold => "its result is published, but its copy cannot be read",
            Self::ObjectBegun => "it was never read, but the ledger says that it was begun",
            Self::LineOfARefusal => "the ledger says that it was begun, but it is in quarantine/",
            Self::NotInTheLedger => "it is in archive/, but missing from the ledger",
            Self::Lost => "it was begun, but its claim, result and archive are all missing",
        })
    }
}

/// Returns the next step.
#[must_use]
pub fn step(state: &State) -> Step {
    if state.claim == Claim::Locked || state.hidden == Hidden::Locked {
        return Step::LeaveAlone;
    }
    if state.is_there_twice() {
        return Step::Report(Illegal::TwoResults);
    }
    if state.archived == There::Present && state.quarantined == There::Present {
        return Step::Report(Illegal::TwoDestinations);
    }
    if state.promise == Promise::Contradicted {
        return Step::Report(Illegal::TwoPromises);
    }
    match state.claim {
        Claim::Absent => without_claim(state),
        _ => of_claim(state),
    }
}

impl State {
    fn is_there_twice(&self) -> bool {
        self.hidden != Hidden::Absent && self.published == There::Present
    }

    fn is_aside(&self) -> bool {
        matches!(self.original, Original::Aside | Original::AnotherAside)
    }
}

fn without_claim(state: &State) -> Step {
    let there = |part| part == There::Present;
    match state.promise {
        // A note without its claim is impossible.
        Promise::Noted | Promise::Contradicted => Step::Report(Illegal::TwoPromises),
        Promise::Nothing if there(state.archived) => Step::Report(Illegal::NotInTheLedger),
        Promise::Nothing if state.hidden != Hidden::Absent => Step::RemoveHidden,
        Promise::Begun if there(state.quarantined) => Step::Report(Illegal::LineOfARefusal),
        Promise::Begun if state.hidden != Hidden::Absent => Step::Report(Illegal::Lost),
        Promise::Begun
            if !([state.published, state.archived, state.removed].map(there)).contains(&true) =>
        {
            Step::Report(Illegal::Lost)
        }
        Promise::Nothing | Promise::Begun if there(state.slot) => Step::RemoveSlot,
        Promise::Nothing | Promise::Begun => Step::Rest,
    }
}

fn of_claim(state: &State) -> Step {
    if state.archived == There::Present || state.quarantined == There::Present {
        return Step::Report(Illegal::StillInWork);
    }
    if state.removed == There::Present {
        return Step::Report(Illegal::RemovedInWork);
    }
    if state.published == There::Present {
        return of_published(state);
    }
    // The original is only removed after the result is durable.
    if state.is_aside() {
        return Step::Report(Illegal::TakenTooEarly);
    }
    match (state.claim, state.promise, state.hidden) {
        (Claim::Torn, Promise::Begun, _) => Step::Report(Illegal::TornAndBegun),
        (Claim::Object, Promise::Begun, _) => Step::Report(Illegal::ObjectBegun),
        (_, Promise::Nothing, Hidden::Absent) => Step::Forget,
        (_, Promise::Nothing, _) => Step::Report(Illegal::Unpromised),
        (Claim::Request | Claim::Object, _, Hidden::Whole) => Step::Publish,
        (_, Promise::Begun, Hidden::Absent) => Step::Tell,
        (_, _, Hidden::Absent) => Step::Forget,
        _ => Step::RemoveHidden,
    }
}

fn of_published(state: &State) -> Step {
    match (state.claim, state.promise) {
        (_, Promise::Nothing) => Step::Report(Illegal::Unpromised),
        (Claim::Torn, _) => Step::Report(Illegal::TornAndTold),
        (Claim::Object, Promise::Begun) => Step::Report(Illegal::ObjectBegun),
        (_, Promise::Begun) => Step::Tidy(Place::Archive),
        _ => Step::Tidy(Place::Quarantine),
    }
}
