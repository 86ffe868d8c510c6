//! The input of the guard, and the result of a rule. The input must contain everything that a rule
//! may use.

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
    /// The call. A bundle can be judged without it, but never accepted.
    pub request: Option<&'a RequestFacts>,
    /// The digests of what a run would actually use.
    pub supply: &'a Supply,
    /// The present time.
    pub now: UtcTime,
    /// Returns whether a nonce was used before. The guard asks only if all signatures are good. The
    /// function must not use the nonce up: the owner of [`Accepted`](super::Accepted) does that,
    /// durably and before the run.
    pub nonce_seen: &'a dyn Fn(&str) -> bool,
}

/// The result of a rule that did not refuse.
pub(in crate::ais) enum Said {
    /// No objection, with the observation.
    Good(String),
    /// Not applicable.
    NotAsked(&'static str),
}

pub(super) type Answer = Result<Said, Refusal>;
