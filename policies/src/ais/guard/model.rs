//! One case for the guard, and the result of a rule. A case must hold all that a rule may look at.

use model::UtcTime;

use super::super::bundle::Bundle;
use super::super::code::Refusal;
use super::super::facts::{RequestFacts, Supply};
use super::super::rules::AisRules;
use super::super::trust::TrustStore;

/// The input of the guard.
pub struct Case<'a> {
    /// The artifacts.
    pub bundle: &'a Bundle,
    /// The keys whose signatures count.
    pub trust: &'a TrustStore,
    /// The rules of the host's policy.
    pub rules: &'a AisRules,
    /// The call. Without it a bundle can be judged, and never accepted.
    pub request: Option<&'a RequestFacts>,
    /// Digests of what a run would really use.
    pub supply: &'a Supply,
    /// The present time.
    pub now: UtcTime,
    /// Returns whether a nonce was used before. The guard asks only where all signatures are good. It must
    /// not use the nonce up: the owner of [`Accepted`](super::Accepted) does that, durably and before the
    /// run.
    pub nonce_seen: &'a dyn Fn(&str) -> bool,
}

/// The result of a rule that did not refuse.
pub(in crate::ais) enum Said {
    /// It looked at this, and it was good.
    Good(String),
    /// There was nothing to look at.
    NotAsked(&'static str),
}

pub(super) type Answer = Result<Said, Refusal>;
