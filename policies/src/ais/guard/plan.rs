//! The references between the artifacts, and the step of this call. The step must never differ from
//! the request.

use serde_json::{Value, json};

use super::super::apa::{Apa, PlanStep};
use super::super::code::{AisCode, AisRefusal};
use super::super::entail::{EVIDENCE_TOLERANCE, entail};
use super::super::field::{NonEmptyText, Uri};
use super::model::{GuardInput, GuardObservation, GuardResult};

pub(super) fn step_of<'a>(case: &GuardInput<'a>) -> Result<&'a PlanStep, AisRefusal> {
    let reference = case.bundle.ibe().apa_step_ref.as_str();
    case.bundle.apa().step(reference).ok_or_else(|| {
        let message = format!("the plan has no step `{reference}`");
        AisRefusal::new(AisCode::IbeStepNotFound, message).with(json!({ "apaStepRef": reference }))
    })
}

pub(super) fn links(case: &GuardInput<'_>) -> GuardResult {
    let bundle = case.bundle;
    let (uia, apa, apr) = (&bundle.uia().id, &bundle.apa().id, &bundle.apr().id);
    let ibe = bundle.ibe();
    let links: [(&str, &Uri, &Uri); 6] = [
        ("ibe.uiaRef", &ibe.uia_ref, uia),
        ("ibe.aprRef", &ibe.apr_ref, apr),
        ("ibe.tcaRef", &ibe.tca_ref, &bundle.tca().id),
        ("apa.uia", &bundle.apa().uia, uia),
        ("apr.uia", &bundle.apr().uia, uia),
        ("apr.apa", &bundle.apr().apa, apa),
    ];
    match links.into_iter().find(|(_, named, is)| named != is) {
        Some((link, named, is)) => {
            let details = json!({ "link": link, "named": named.as_str(), "is": is.as_str() });
            let message = format!("{link} names {named}, but the bundle has {is}");
            Err(AisRefusal::new(AisCode::LinkMismatch, message).with(details))
        }
        None => Ok(GuardObservation::Passed(
            "every artifact refers to the artifacts of the bundle".to_owned(),
        )),
    }
}

pub(super) fn evidence(case: &GuardInput<'_>) -> GuardResult {
    let (stated, apa) = (&case.bundle.apr().evidence, case.bundle.apa());
    let found = entail(case.bundle.uia(), apa);
    let differs = |one: f64, two: f64| (one - two).abs() > EVIDENCE_TOLERANCE;
    let (coverage, risk) = (stated.coverage.get(), stated.risk.get());
    if differs(coverage, found.coverage) || differs(risk, found.risk) {
        let details = json!({
            "said": { "coverage": coverage, "risk": risk },
            "computed": { "coverage": found.coverage, "risk": found.risk },
        });
        let message = format!(
            "the proof states coverage {coverage} and risk {risk}; computed: {} and {}",
            found.coverage, found.risk
        );
        return Err(AisRefusal::new(AisCode::AlignMismatch, message).with(details));
    }
    for (step, score) in apa.steps.iter().zip(&found.scores) {
        let stated_score = step.alignment.score.get();
        if differs(stated_score, *score) {
            let message =
                format!("step `{}` states score {stated_score}; computed: {score}", step.id);
            let details =
                json!({ "step": step.id.as_str(), "said": stated_score, "computed": score });
            return Err(AisRefusal::new(AisCode::AlignMismatch, message).with(details));
        }
    }
    Ok(GuardObservation::Passed(format!(
        "coverage {coverage}, risk {risk}, and every score, as computed"
    )))
}

pub(super) fn totals(case: &GuardInput<'_>) -> GuardResult {
    let Apa { steps, totals, .. } = case.bundle.apa();
    let sum = |of: fn(&PlanStep) -> u64| steps.iter().map(of).fold(0, u64::saturating_add);
    let writes = sum(|step| step.expected.writes.get());
    let calls = sum(|step| step.expected.calls());
    let (all_writes, all_calls) = (totals.predicted_writes.get(), totals.calls());
    if all_writes < writes || all_calls < calls {
        let message = format!(
            "the steps have {writes} writes and {calls} calls; the totals state {all_writes} \
             and {all_calls}"
        );
        return Err(AisRefusal::new(AisCode::PlanTotalsLow, message));
    }
    Ok(GuardObservation::Passed(format!(
        "{all_writes} writes and {all_calls} calls cover the steps"
    )))
}

pub(super) fn step(case: &GuardInput<'_>) -> GuardResult {
    let step = step_of(case)?;
    Ok(GuardObservation::Passed(format!("{}: {}", step.id, step.tool)))
}

pub(super) fn explicit(case: &GuardInput<'_>) -> GuardResult {
    for step in &case.bundle.apa().steps {
        for (name, value) in &step.args {
            // A command's arguments may contain anything; `binding` compares them.
            let words = step.tool.as_str().starts_with("toolexec.run.") && name == "argv";
            if let Some(what) = unfilled(value, words) {
                let message = format!("step `{}`: the argument `{name}` {what}", step.id);
                let details = json!({ "step": step.id.as_str(), "argument": name });
                return Err(AisRefusal::new(AisCode::PlanNotExplicit, message).with(details));
            }
        }
    }
    Ok(GuardObservation::Passed("every argument of every step has a value".to_owned()))
}

const MARKS: [&str; 8] = ["{{", "}}", "${", "$(", "{%", "%}", "<%", "%>"];

fn unfilled(value: &Value, words: bool) -> Option<&'static str> {
    match value {
        Value::Null => Some("is missing"),
        Value::String(text) if !words && is_template(text) => Some("is a template"),
        Value::Array(items) => items.iter().find_map(|item| unfilled(item, words)),
        Value::Object(members) => members.values().find_map(|member| unfilled(member, words)),
        _ => None,
    }
}

/// Returns whether the text contains marks of a template, or is one placeholder `<such as this>`.
fn is_template(text: &str) -> bool {
    let inner = text.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    MARKS.iter().any(|mark| text.contains(mark))
        || inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['<', '>']))
}

pub(super) fn alternative(case: &GuardInput<'_>) -> GuardResult {
    let step = step_of(case)?;
    let group: Vec<&PlanStep> = match &step.alternative {
        Some(name) => group_of(case.bundle.apa(), name),
        None if step.guard.is_some() => vec![step],
        None => return Ok(GuardObservation::NotApplicable("the step is not an alternative")),
    };
    let mut chosen = Vec::new();
    for member in &group {
        if is_chosen(member, &case.bundle.whole)? {
            chosen.push(member.id.as_str());
        }
    }
    if chosen == [step.id.as_str()] {
        return Ok(GuardObservation::Passed(format!(
            "of {} alternatives the guard chooses {}",
            group.len(),
            step.id
        )));
    }
    let message = format!("the guards choose {chosen:?} and not `{}` alone", step.id);
    Err(AisRefusal::new(AisCode::PlanGuardUnmet, message).with(json!({ "chosen": chosen })))
}

fn group_of<'a>(apa: &'a Apa, name: &NonEmptyText) -> Vec<&'a PlanStep> {
    apa.steps.iter().filter(|step| step.alternative.as_ref() == Some(name)).collect()
}

/// Returns whether a step's guard chooses it, by values in the intent and the tool's assertion.
fn is_chosen(step: &PlanStep, whole: &Value) -> Result<bool, AisRefusal> {
    let refuse = |what: &str| {
        Err(AisRefusal::new(AisCode::PlanGuardUnmet, format!("step `{}`: {what}", step.id)))
    };
    let Some(guard) = &step.guard else { return refuse("an alternative without a guard") };
    if !guard.pointer.starts_with("/uia/") && !guard.pointer.starts_with("/tca/") {
        return refuse("its guard does not point into the intent or the tool's assertion");
    }
    match whole.pointer(&guard.pointer) {
        Some(value) => Ok(*value == guard.equals),
        None => refuse("its guard points to a missing value"),
    }
}

pub(super) fn binding(case: &GuardInput<'_>) -> GuardResult {
    let Some(request) = case.request else {
        return Ok(GuardObservation::NotApplicable("no request was given"));
    };
    let step = step_of(case)?;
    let refuse = |what: &str, details: Value| {
        let message = format!("step `{}`: {what}", step.id);
        Err(AisRefusal::new(AisCode::IbeBindingMismatch, message).with(details))
    };
    if step.tool.as_str() != request.tool {
        return refuse(
            "its tool is not the request's",
            json!({ "step": step.tool.as_str(), "is": request.tool }),
        );
    }
    let names = step.args.keys().chain(request.args.keys());
    let differs = |name: &&String| step.args.get(*name) != request.args.get(*name);
    if let Some(name) = names.into_iter().find(differs) {
        let details = json!({
            "argument": name, "step": step.args.get(name), "is": request.args.get(name),
        });
        return refuse(&format!("its `{name}` is not the request's"), details);
    }
    let expected = &step.expected;
    let hosts = u64::try_from(request.hosts.len()).unwrap_or(u64::MAX);
    if expected.writes.get() < request.writes {
        let message = format!(
            "the request writes {} files; the step allows {}",
            request.writes,
            expected.writes.get()
        );
        return Err(AisRefusal::new(AisCode::RiskWritesExceeded, message));
    }
    if expected.calls() < hosts {
        let message =
            format!("the request names {hosts} hosts; the step allows {} calls", expected.calls());
        return Err(AisRefusal::new(AisCode::RiskCallsExceeded, message));
    }
    Ok(GuardObservation::Passed(format!("{} with the request's own arguments", step.tool)))
}
