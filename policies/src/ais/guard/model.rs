//! The input of the guard, and the result of a rule. The input must contain everything that a rule
//! may use.

use model::UtcTime;

use super::super::bundle::AisBundle;
use super::super::code::AisRefusal;
use super::super::facts::{EnvironmentDigests, RequestFacts};
use super::super::rules::AisRules;
use super::super::trust::AisTrustStore;

/// The input of the guard.
pub struct GuardInput<'a> {
    /// The artifacts.
    pub bundle: &'a AisBundle,
    /// The keys whose signatures count.
    pub trust: &'a AisTrustStore,
    /// The rules of the host's policy.
    pub rules: &'a AisRules,
    /// The call. A bundle can be judged without it, but never accepted.
    pub request: Option<&'a RequestFacts>,
    /// The digests of what a run would actually use.
    pub supply: &'a EnvironmentDigests,
    /// The present time.
    pub now: UtcTime,
    /// Returns whether a nonce was used before. The guard asks only if all signatures are good. The
    /// function must not use the nonce up: the owner of [`Accepted`](super::Accepted) does that,
    /// durably and before the run.
    pub nonce_used: &'a dyn Fn(&str) -> bool,
}

/// The result of a rule that did not refuse.
pub(in crate::ais) enum GuardObservation {
    /// No objection, with the observation.
    Passed(String),
    /// Not applicable.
    NotApplicable(&'static str),
}

pub(super) type GuardResult = Result<GuardObservation, AisRefusal>;
