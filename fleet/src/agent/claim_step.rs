//! Maps the state of one claim of this host to the next step. The function is total and pure, so a
//! test tries every combination. No step may place a request twice, or remove a request while its
//! record is still to come.
//!
//! | result | claim | row | submission | step |
//! |---|---|---|---|---|
//! | found | any | any | any | report it |
//! | none | local | any | ours | wait for its record |
//! | none | local | any | absent, another | miss its record: it may be lost |
//! | none | fleet | started, indeterminate | ours | wait for its record |
//! | none | fleet | started, indeterminate | absent, another | miss its record: it may be lost |
//! | none | fleet | claimed, not placed | absent | place the files |
//! | none | fleet | claimed, not placed | ours | note that they are placed |
//! | none | fleet | claimed, placed | ours | wait for the daemon |
//! | none | fleet | claimed, placed | absent | give the claim back: a person withdrew it here |
//! | none | fleet | claimed | another | wait until the other document is gone |
//! | none | fleet | none of this epoch | ours | remove the files, then forget |
//! | none | fleet | none of this epoch | absent, another | forget |
//!
//! The daemon publishes a result before the original leaves `approved/`. So the agent reads the
//! submission first and the results after it. A request that it finds in neither place has no
//! record.

/// The kind of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClaimOrigin {
    /// Claimed from the database.
    Fleet,
    /// Submitted on this host, whose daemon asked for the start.
    Local,
}

/// The claim in the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClaimRowState {
    /// Of this host and this epoch, not started.
    Claimed,
    /// Of this host and this epoch, started; it may be indeterminate meanwhile.
    Started,
    /// Of another host or epoch, or ended.
    NotMine,
}

/// The file in `approved/` with the name of the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SubmissionPresence {
    /// No file has the name.
    Absent,
    /// The claimed document.
    Ours,
    /// Another document, or one that is still being written.
    Other,
}

/// Everything that decides the next step of one claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ClaimSituation {
    pub(super) origin: ClaimOrigin,
    pub(super) is_placed: bool,
    pub(super) row: ClaimRowState,
    pub(super) submission: SubmissionPresence,
    pub(super) has_result: bool,
}

/// The next step of one claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClaimStep {
    /// Another program acts next.
    Wait,
    /// The record is published: it is reported.
    Report,
    /// The files are fetched and placed.
    Place,
    /// The files are placed already.
    NotePlaced,
    /// Another document has the name. The files are placed when it is gone.
    Blocked,
    /// The host has neither the file nor the record of a started or local request. If that lasts,
    /// no record will come.
    MissRecord,
    /// The claim is given back to the other hosts.
    GiveBack,
    /// The claim is lost: its files are removed, then it is forgotten.
    Withdraw,
    /// The claim is lost and has no files here.
    Forget,
}

/// Returns the next step.
pub(super) fn next_step(facts: ClaimSituation) -> ClaimStep {
    if facts.has_result {
        return ClaimStep::Report;
    }
    match (facts.origin, facts.row, facts.submission) {
        (ClaimOrigin::Local, _, SubmissionPresence::Ours)
        | (ClaimOrigin::Fleet, ClaimRowState::Started, SubmissionPresence::Ours) => ClaimStep::Wait,
        (ClaimOrigin::Local, ..) | (ClaimOrigin::Fleet, ClaimRowState::Started, _) => {
            ClaimStep::MissRecord
        }
        (_, ClaimRowState::NotMine, SubmissionPresence::Ours) => ClaimStep::Withdraw,
        (_, ClaimRowState::NotMine, _) => ClaimStep::Forget,
        (_, ClaimRowState::Claimed, SubmissionPresence::Other) => ClaimStep::Blocked,
        (_, ClaimRowState::Claimed, SubmissionPresence::Ours) if facts.is_placed => ClaimStep::Wait,
        (_, ClaimRowState::Claimed, SubmissionPresence::Ours) => ClaimStep::NotePlaced,
        (_, ClaimRowState::Claimed, SubmissionPresence::Absent) if facts.is_placed => {
            ClaimStep::GiveBack
        }
        (_, ClaimRowState::Claimed, SubmissionPresence::Absent) => ClaimStep::Place,
    }
}

#[cfg(test)]
mod tests;
