//! Maps a state to recovery's next step. The function is total and pure. A state without a row in
//! the table must never get a step that changes anything.

use std::fmt;

use super::{ClaimFiles, ClaimState, HiddenState, OriginalState, PathPresence, PromiseState};

/// The destination of a claim after it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// It ran, or may have run.
    Archive,
    /// It was refused, or its sandbox could not be set up.
    Quarantine,
}

/// Recovery's next step. Recovery reads the state again after each, until nothing is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryAction {
    /// Nothing is left to do.
    Done,
    /// A live process is working on it.
    Skip,
    /// Removes a slot without a claim.
    RemoveSlot,
    /// Removes a hidden result that will not be published.
    RemoveHidden,
    /// Removes the claim. The original is in its place and is claimed again.
    RemoveClaim,
    /// Has `indeterminate` recorded under the promised id.
    Record,
    /// Gives the hidden result its name.
    Publish,
    /// Removes the original from `approved/`, then moves the claim out of `work/`.
    Finish(Destination),
    /// Reports the state and changes nothing.
    Report(IllegalState),
}

/// A state that no order of operations and no crash leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IllegalState {
    /// The result exists twice, published and hidden.
    TwoResults,
    /// The claim is in both `archive/` and `quarantine/`.
    TwoDestinations,
    /// The ledger line and the claim's note differ, or a note has no claim.
    TwoPromises,
    /// The claim is in `work/` and also in `archive/` or `quarantine/`.
    StillInWork,
    /// Retention removed the result while the claim is in `work/`.
    RemovedInWork,
    /// A result exists that neither the ledger nor the claim names.
    Unpromised,
    /// The original was moved aside, but no result is published.
    RemovedTooEarly,
    /// The run was begun, but the claim's note or copy cannot be read.
    TornAndBegun,
    /// The result is published, but the claim's note or copy cannot be read.
    TornAndRecorded,
    /// The ledger has a run of an object that was never read as a request.
    ObjectBegun,
    /// The ledger has the run, but its claim is in `quarantine/`.
    RefusalInLedger,
    /// The claim is in `archive/`, but the ledger has no line of it.
    NotInTheLedger,
    /// The ledger has the run, but neither a claim nor its end exists.
    Lost,
}

impl IllegalState {
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
            Self::RemovedTooEarly => {
                "look for the result in a backup; if the request never ran, move original.md back \
                 into approved/ and the claim away"
            }
            Self::TornAndBegun | Self::TornAndRecorded => {
                "check the disk; restore the claim from a backup, or move it away"
            }
            Self::ObjectBegun | Self::RefusalInLedger => {
                "compare the ledger and the claim with a backup: another program changed one"
            }
            Self::NotInTheLedger => {
                "restore a newer ledger before anything runs: the request could run twice"
            }
            Self::Lost => "restore the result and the claim from a backup, or record the loss",
        }
    }
}

impl fmt::Display for IllegalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoResults => "its result exists twice, published and hidden",
            Self::TwoDestinations => "it is in both archive/ and quarantine/",
            Self::TwoPromises => "the ledger and the claim name two different results",
            Self::StillInWork => "it is in work/ and also in archive/ or quarantine/",
            Self::RemovedInWork => "its result expired and was removed while it is in work/",
            Self::Unpromised => "a result exists that neither the ledger nor the claim names",
            Self::RemovedTooEarly => "the original was removed before a result existed",
            Self::TornAndBegun => "it was begun, but its copy cannot be read",
            Self::TornAndRecorded => "its result is published, but its copy cannot be read",
            Self::ObjectBegun => "it was never read, but the ledger says that it was begun",
            Self::RefusalInLedger => "the ledger says that it was begun, but it is in quarantine/",
            Self::NotInTheLedger => "it is in archive/, but missing from the ledger",
            Self::Lost => "it was begun, but its claim, result and archive are all missing",
        })
    }
}

/// Returns the next step.
#[must_use]
pub fn next_action(state: &ClaimFiles) -> RecoveryAction {
    if state.claim == ClaimState::Locked || state.hidden == HiddenState::Locked {
        return RecoveryAction::Skip;
    }
    if state.has_two_results() {
        return RecoveryAction::Report(IllegalState::TwoResults);
    }
    if state.archived == PathPresence::Present && state.quarantined == PathPresence::Present {
        return RecoveryAction::Report(IllegalState::TwoDestinations);
    }
    if state.promise == PromiseState::Contradicted {
        return RecoveryAction::Report(IllegalState::TwoPromises);
    }
    match state.claim {
        ClaimState::Absent => without_claim(state),
        _ => of_claim(state),
    }
}

impl ClaimFiles {
    fn has_two_results(&self) -> bool {
        self.hidden != HiddenState::Absent && self.published == PathPresence::Present
    }

    fn is_aside(&self) -> bool {
        matches!(self.original, OriginalState::Aside | OriginalState::AnotherAside)
    }
}

fn without_claim(state: &ClaimFiles) -> RecoveryAction {
    let there = |part| part == PathPresence::Present;
    match state.promise {
        // A note without its claim is impossible.
        PromiseState::Noted | PromiseState::Contradicted => {
            RecoveryAction::Report(IllegalState::TwoPromises)
        }
        PromiseState::None if there(state.archived) => {
            RecoveryAction::Report(IllegalState::NotInTheLedger)
        }
        PromiseState::None if state.hidden != HiddenState::Absent => RecoveryAction::RemoveHidden,
        PromiseState::Begun if there(state.quarantined) => {
            RecoveryAction::Report(IllegalState::RefusalInLedger)
        }
        PromiseState::Begun if state.hidden != HiddenState::Absent => {
            RecoveryAction::Report(IllegalState::Lost)
        }
        PromiseState::Begun
            if !([state.published, state.archived, state.removed].map(there)).contains(&true) =>
        {
            RecoveryAction::Report(IllegalState::Lost)
        }
        PromiseState::None | PromiseState::Begun if there(state.slot) => RecoveryAction::RemoveSlot,
        PromiseState::None | PromiseState::Begun => RecoveryAction::Done,
    }
}

fn of_claim(state: &ClaimFiles) -> RecoveryAction {
    if state.archived == PathPresence::Present || state.quarantined == PathPresence::Present {
        return RecoveryAction::Report(IllegalState::StillInWork);
    }
    if state.removed == PathPresence::Present {
        return RecoveryAction::Report(IllegalState::RemovedInWork);
    }
    if state.published == PathPresence::Present {
        return of_published(state);
    }
    // The original is only removed after the result is durable.
    if state.is_aside() {
        return RecoveryAction::Report(IllegalState::RemovedTooEarly);
    }
    match (state.claim, state.promise, state.hidden) {
        (ClaimState::Torn, PromiseState::Begun, _) => {
            RecoveryAction::Report(IllegalState::TornAndBegun)
        }
        (ClaimState::Object, PromiseState::Begun, _) => {
            RecoveryAction::Report(IllegalState::ObjectBegun)
        }
        (_, PromiseState::None, HiddenState::Absent) => RecoveryAction::RemoveClaim,
        (_, PromiseState::None, _) => RecoveryAction::Report(IllegalState::Unpromised),
        (ClaimState::Request | ClaimState::Object, _, HiddenState::Whole) => {
            RecoveryAction::Publish
        }
        (_, PromiseState::Begun, HiddenState::Absent) => RecoveryAction::Record,
        (_, _, HiddenState::Absent) => RecoveryAction::RemoveClaim,
        _ => RecoveryAction::RemoveHidden,
    }
}

fn of_published(state: &ClaimFiles) -> RecoveryAction {
    match (state.claim, state.promise) {
        (_, PromiseState::None) => RecoveryAction::Report(IllegalState::Unpromised),
        (ClaimState::Torn, _) => RecoveryAction::Report(IllegalState::TornAndRecorded),
        (ClaimState::Object, PromiseState::Begun) => {
            RecoveryAction::Report(IllegalState::ObjectBegun)
        }
        (_, PromiseState::Begun) => RecoveryAction::Finish(Destination::Archive),
        _ => RecoveryAction::Finish(Destination::Quarantine),
    }
}
