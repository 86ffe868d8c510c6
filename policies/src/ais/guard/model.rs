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
    /// The artifacts, whose form was checked, but not their signatures.
    pub bundle: &'a AisBundle,
    /// The keys whose signatures count.
    pub trust: &'a AisTrustStore,
    /// The rules of the host's policy.
    pub rules: &'a AisRules,
    /// The call. A bundle can be judged without it, but never accepted.
    pub request: Option<&'a RequestFacts>,
    /// The digests of what a run would actually use.
    pub supply: &'a EnvironmentDigests,
    /// The time of the judgement. The rules allow a clock skew of 120 seconds.
    pub now: UtcTime,
    /// Returns whether a nonce was used before; called only if all signatures are good. It must not
    /// use it up: the owner of the [`AcceptedCall`](super::AcceptedCall) does, durably and before
    /// the run.
    pub nonce_used: &'a dyn Fn(&str) -> bool,
}

/// The result of a rule that did not refuse.
pub(in crate::ais) enum GuardObservation {
    /// No objection, with the observation.
    Passed(String),
    NotApplicable(&'static str),
}

pub(super) type GuardResult = Result<GuardObservation, AisRefusal>;
