//! The limits set by the user and by the host's policy. If both set one, the stricter must always
//! apply.

use serde_json::json;

use super::super::apr::SEMANTIC_ENTAILMENT_V1;
use super::super::code::{AisCode, AisRefusal};
use super::super::entail::EVIDENCE_TOLERANCE;
use super::super::field::{JsonCount, NonEmptyText};
use super::super::rules::ProfileRules;
use super::model::{GuardInput, GuardObservation, GuardResult};
use super::plan::step_of;

fn deny(message: String) -> AisRefusal {
    AisRefusal::new(AisCode::AuthzPolicyDeny, message)
}

fn profile_of<'a>(case: &GuardInput<'a>) -> Result<&'a ProfileRules, AisRefusal> {
    let name = case.bundle.uia().policy_profile.as_str();
    let found = case.rules.profiles.get(name);
    found.ok_or_else(|| deny(format!("the profile `{name}` is not in ais.rules.profiles")))
}

pub(super) fn profile(case: &GuardInput<'_>) -> GuardResult {
    let (profile, name) = (profile_of(case)?, &case.bundle.uia().policy_profile);
    if let Some(tools) = &profile.tools {
        let tool = step_of(case)?.tool.as_str();
        if !tools.iter().any(|known| known == tool) {
            return Err(deny(format!("the profile `{name}` does not allow the tool `{tool}`")));
        }
    }
    Ok(GuardObservation::Passed(name.to_string()))
}

pub(super) fn jurisdiction(case: &GuardInput<'_>) -> GuardResult {
    let named = &case.bundle.uia().constraints.jurisdictions;
    match &case.rules.jurisdiction {
        Some(here) if named.iter().any(|it| it.as_str() == here) => {
            Ok(GuardObservation::Passed(here.clone()))
        }
        Some(here) => {
            Err(deny(format!("the intent does not name the jurisdiction of this host, `{here}`")))
        }
        None => Err(deny(
            "the intent names jurisdictions, but ais.rules.jurisdiction is not set".into(),
        )),
    }
}

pub(super) fn method(case: &GuardInput<'_>) -> GuardResult {
    let method = case.bundle.apr().method.as_str();
    let accepted = case.rules.methods.iter().any(|known| known == method);
    if !accepted || method != SEMANTIC_ENTAILMENT_V1 {
        return Err(deny(format!("the method `{method}` is not accepted here")));
    }
    Ok(GuardObservation::Passed(method.to_owned()))
}

pub(super) fn obligations(case: &GuardInput<'_>) -> GuardResult {
    let required = &case.bundle.apr().evidence.obligations;
    let unknown =
        |it: &&NonEmptyText| !case.rules.obligations.iter().any(|known| known == it.as_str());
    match required.iter().find(unknown) {
        Some(it) => Err(deny(format!("this host does not meet the obligation `{it}`"))),
        None => {
            Ok(GuardObservation::Passed(format!("{} obligations, all of them met", required.len())))
        }
    }
}

/// Returns whether a number reaches a minimum, within the tolerance. NaN never does.
fn is_least(number: f64, least: f64) -> bool {
    number + EVIDENCE_TOLERANCE >= least
}

pub(super) fn coverage(case: &GuardInput<'_>) -> GuardResult {
    let coverage = case.bundle.apr().evidence.coverage.get();
    for least in
        [Some(case.rules.coverage_min), profile_of(case)?.coverage_min].into_iter().flatten()
    {
        if !is_least(coverage, least) {
            let message =
                format!("the plan covers {coverage} of the intent; policy requires {least}");
            let details = json!({ "coverage": coverage, "coverage_min": least });
            return Err(AisRefusal::new(AisCode::AlignBelowThreshold, message).with(details));
        }
    }
    Ok(GuardObservation::Passed(format!("coverage {coverage}")))
}

pub(super) fn risk(case: &GuardInput<'_>) -> GuardResult {
    let (risk, level) =
        (case.bundle.apr().evidence.risk.get(), case.bundle.uia().risk_budget.level);
    let ceiling = usize::try_from(level.get()).ok().and_then(|at| case.rules.risk_max.get(at));
    // A level without a ceiling allows nothing.
    let ceiling = ceiling.copied().unwrap_or(-1.0);
    for most in [Some(ceiling), profile_of(case)?.risk_max].into_iter().flatten() {
        if !is_least(most, risk) {
            let message = format!("the plan's risk is {risk}; level {} allows {most}", level.get());
            let details = json!({ "risk": risk, "risk_max": most, "level": level.get() });
            return Err(AisRefusal::new(AisCode::RiskBudgetExceeded, message).with(details));
        }
    }
    Ok(GuardObservation::Passed(format!("risk {risk} at level {}", level.get())))
}

pub(super) fn spending(case: &GuardInput<'_>) -> GuardResult {
    let (totals, budget) = (&case.bundle.apa().totals, &case.bundle.uia().risk_budget);
    let of_profile = profile_of(case)?.writes_max.unwrap_or(u64::MAX);
    let writes_max = budget.max_writes.get().min(of_profile);
    let calls_max = budget.max_external_calls.map_or(0, JsonCount::get);
    let rows = [
        ("writes", totals.predicted_writes.get(), writes_max, AisCode::RiskWritesExceeded),
        (
            "records",
            totals.predicted_records.get(),
            budget.max_records.get(),
            AisCode::RiskRecordsExceeded,
        ),
        ("external calls", totals.calls(), calls_max, AisCode::RiskCallsExceeded),
    ];
    for (what, predicted, most, code) in rows {
        if predicted > most {
            let message = format!("the plan predicts {predicted} {what}; {most} are allowed");
            let details = json!({ "predicted": predicted, "max": most });
            return Err(AisRefusal::new(code, message).with(details));
        }
    }
    Ok(GuardObservation::Passed(
        "writes, records and external calls are within the user's budget".to_owned(),
    ))
}

pub(super) fn data_classes(case: &GuardInput<'_>) -> GuardResult {
    let permitted = &case.bundle.uia().constraints.data_classes;
    let of_steps = case.bundle.apa().steps.iter().flat_map(|step| &step.expected.data_classes);
    let of_steps = of_steps.map(NonEmptyText::as_str);
    let of_request = case.request.into_iter().flat_map(|it| &it.data_classes).map(String::as_str);
    let foreign = |class: &&str| !permitted.iter().any(|it| it.as_str() == *class);
    match of_steps.chain(of_request).find(foreign) {
        Some(class) => {
            let message = format!("the intent does not permit data of the class `{class}`");
            let details = json!({ "dataClass": class });
            Err(AisRefusal::new(AisCode::DataClassNotPermitted, message).with(details))
        }
        None => Ok(GuardObservation::Passed("every class of data is permitted".to_owned())),
    }
}
