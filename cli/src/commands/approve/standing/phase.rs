//! The state of a stored standing approval, by its terms and the ledger. It proves nothing: no
//! signature is verified.

use model::UtcTime;
use spool::StandingHistory;
use validator::StandingTerms;

model::closed_set! {
    /// The state of a stored standing approval.
    pub(super) enum StandingPhase {
        NotAdmitted = "not admitted",
        Revoked = "revoked",
        Ended = "ended",
        UsedUp = "used up",
        NotYet = "not yet",
        Active = "active",
    }
}

impl StandingPhase {
    pub(super) fn of(terms: &StandingTerms, history: &StandingHistory, now: UtcTime) -> Self {
        let uses = u64::try_from(history.uses.len()).unwrap_or(u64::MAX);
        if history.revoked.is_some() {
            Self::Revoked
        } else if history.admitted.is_none() {
            Self::NotAdmitted
        } else if now >= terms.not_after {
            Self::Ended
        } else if uses >= terms.uses_max {
            Self::UsedUp
        } else if now < terms.not_before {
            Self::NotYet
        } else {
            Self::Active
        }
    }
}
