//! The guard: the check that one call may be executed under its artifacts. It must never trust an
//! artifact whose signature is not good, nor query a nonce before all signatures are good.
//! Otherwise a party that can sign nothing could use up a nonce, or learn of its use.
//!
//! The guard first checks every signature. If one is not good, it reports every other rule as not
//! asked. Otherwise it applies each rule by itself, so that a record can contain each verdict. The
//! refusal is that of the first rule that refuses.

mod budget;
mod effects;
mod fresh;
mod judgement;
mod model;
mod plan;
mod signatures;
mod supply;

use self::model::{GuardObservation, GuardResult};
use super::code::AisRefusal;

pub use self::model::GuardInput;
pub use judgement::{AcceptedCall, GuardCheck, GuardVerdict, Judgement};

type GuardRule = (&'static str, fn(&GuardInput<'_>) -> GuardResult);

/// The rules after the signatures, in the order in which their refusals count.
const RULES: [GuardRule; 25] = [
    ("exp", fresh::exp),
    ("lifetime", fresh::lifetime),
    ("nonce", fresh::nonce),
    ("time-window", fresh::time_window),
    ("links", plan::links),
    ("crl", fresh::crl),
    ("uia-revoked", fresh::uia_revoked),
    ("apa-revoked", fresh::apa_revoked),
    ("profile", budget::profile),
    ("jurisdiction", budget::jurisdiction),
    ("method", budget::method),
    ("obligations", budget::obligations),
    ("evidence", plan::evidence),
    ("coverage", budget::coverage),
    ("risk", budget::risk),
    ("totals", plan::totals),
    ("budget", budget::spending),
    ("step", plan::step),
    ("explicit", plan::explicit),
    ("alternative", plan::alternative),
    ("binding", plan::binding),
    ("data-classes", budget::data_classes),
    ("operation", effects::operation),
    ("destinations", effects::destinations),
    ("supply", supply::digests),
];

/// Accepts a call or refuses it.
///
/// # Errors
/// [`AisRefusal`] of the first rule that refuses.
pub fn guard(case: &GuardInput<'_>) -> Result<AcceptedCall, AisRefusal> {
    judge(case).accepted()
}

/// Applies every rule.
pub fn judge(case: &GuardInput<'_>) -> Judgement {
    let (mut checks, signers) = signatures::check_all(case);
    let signed = checks.iter().all(|check| !matches!(check.verdict, GuardVerdict::Refused(_)));
    for (rule, ask) in RULES {
        let answer = if signed {
            ask(case)
        } else {
            Ok(GuardObservation::NotApplicable("a signature is invalid"))
        };
        checks.push(GuardCheck::of(rule, answer));
    }
    Judgement::of(case, checks, signers)
}
