//! Decides whether a standing approval may be used once more. The ledger counts under its lock; this decides
//! from its numbers. A host whose clock was set back must never start a use.

use model::UtcTime;
use validator::{CLOCK_SKEW_SEC, StandingTerms};

/// The facts about earlier uses, by the ledger, and about the signers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StandingUses {
    /// The present time.
    pub now: UtcTime,
    /// The number of uses so far.
    pub uses: u64,
    /// The number of uses in the last 3,600 seconds.
    pub uses_last_hour: u64,
    /// The time of the latest use, if any.
    pub latest: Option<UtcTime>,
    /// A revocation of the standing approval is known.
    pub is_revoked: bool,
    /// The signatures still count: keys that are trusted and not revoked.
    pub is_signed: bool,
}

impl StandingUses {
    /// Returns the facts of a standing approval without any use.
    #[must_use]
    pub fn none(now: UtcTime) -> Self {
        Self { now, uses: 0, uses_last_hour: 0, latest: None, is_revoked: false, is_signed: true }
    }
}

model::closed_set! {
    /// The reason why a standing approval may not be used now.
    pub enum UseRefusal {
        /// It was revoked.
        Revoked = "it was revoked",
        /// Its signatures no longer count.
        Signature = "its signatures do not count",
        /// The clock was set back since the latest use.
        Clock = "the clock was set back since its latest use",
        /// `not_before_utc` is in the future.
        Early = "not_before_utc is in the future",
        /// `not_after_utc` has come.
        Ended = "not_after_utc has passed",
        /// `uses_max` is reached.
        UsedUp = "uses_max is reached",
        /// `uses_per_hour_max` is reached.
        Rate = "uses_per_hour_max is reached",
    }
}

/// Returns the number of the next use, from 1.
///
/// # Errors
/// The first [`UseRefusal`] in the order of its declaration.
pub fn check_use(terms: &StandingTerms, facts: &StandingUses) -> Result<u64, UseRefusal> {
    // Runs that begin at the same time take their times in another order than their lines.
    let latest = facts.latest.unwrap_or(facts.now);
    let is_set_back = latest.unix().saturating_sub(facts.now.unix()) > CLOCK_SKEW_SEC;
    let now = facts.now.max(latest);
    let refusal = if facts.is_revoked {
        UseRefusal::Revoked
    } else if !facts.is_signed {
        UseRefusal::Signature
    } else if is_set_back {
        UseRefusal::Clock
    } else if now < terms.not_before {
        UseRefusal::Early
    } else if now >= terms.not_after {
        UseRefusal::Ended
    } else if facts.uses >= terms.uses_max {
        UseRefusal::UsedUp
    } else if facts.uses_last_hour >= terms.uses_per_hour_max {
        UseRefusal::Rate
    } else {
        return Ok(facts.uses + 1);
    };
    Err(refusal)
}
