//! The review of a standing approval as JSON: the facts of the text.

use model::digest_words;
use serde_json::{Value, json};
use validator::{InputSlot, ParameterKind, StandingApproval, StandingTerms, reveal_line};

use super::data::StandingReview;
use super::{examples, terms_text, warnings};
use crate::commands::approve::review::json::{of_rules, output_json};
use crate::output::{self, violation};

/// The keys that are null if the document cannot be read.
const KEYS: [&str; 18] = [
    "standing_id",
    "sha256",
    "words",
    "purpose",
    "created_utc",
    "approved_by",
    "approved_utc",
    "audience",
    "agents",
    "subject",
    "not_before_utc",
    "not_after_utc",
    "uses",
    "may_vary",
    "fixed",
    "examples",
    "widest_effect",
    "warnings",
];

pub(super) fn object(case: &StandingReview) -> Value {
    let mut object = json!({
        "file": output::path(&case.path),
        "verdict": case.verdict().as_str(),
        "violations": case.violations.iter().map(violation).collect::<Vec<_>>(),
        "pending": case.pending.iter().map(violation).collect::<Vec<_>>(),
        "filled_on_approval": case.filled_on_approval,
        "policy": of_rules(&case.rules),
        "signature_files": case.signature_files(),
        "rejection_files": case.rejection_files(),
    });
    for key in KEYS {
        object[key] = Value::Null;
    }
    if let Some(standing) = &case.standing {
        of_document(&mut object, case, standing);
    }
    object
}

fn of_document(object: &mut Value, case: &StandingReview, standing: &StandingApproval) {
    let terms = standing.terms();
    let there = |key, value: Option<String>| match case.filled_on_approval.contains(&key) {
        true => Value::Null,
        false => json!(value),
    };
    object["standing_id"] = terms.id.as_str().into();
    object["sha256"] = case.sha256().to_string().into();
    object["words"] = json!(digest_words(&case.sha256()));
    object["purpose"] = terms.purpose.as_str().into();
    object["created_utc"] = terms.created.to_string().into();
    object["approved_by"] = there("approved_by", terms.approved_by.clone());
    object["approved_utc"] = there("approved_utc", terms.approved.map(|at| at.to_string()));
    object["audience"] = terms.audience.as_str().into();
    object["agents"] = json!(terms.agents);
    object["subject"] = json!(terms.subject);
    object["not_before_utc"] = terms.not_before.to_string().into();
    object["not_after_utc"] = terms.not_after.to_string().into();
    object["uses"] = json!({"max": terms.uses_max, "per_hour_max": terms.uses_per_hour_max});
    object["may_vary"] = json!({
        "parameters": terms.parameters.iter().map(of_parameter).collect::<Vec<_>>(),
        "slots": terms_text::slots(terms).map(of_slot).collect::<Vec<_>>(),
    });
    object["fixed"] = of_fixed(terms);
    object["examples"] = json!(examples::of(standing));
    let stated = terms_text::stated_effect(standing.bytes());
    let stated: Vec<String> = stated.iter().map(|line| reveal_line(line)).collect();
    object["widest_effect"] =
        json!({"computed": terms_text::widest_effect(terms), "stated": stated.join("\n")});
    object["warnings"] = json!(warnings::of(terms));
}

/// Returns a parameter with the keys that the document has.
fn of_parameter(parameter: &validator::StandingParameter) -> Value {
    let name = &parameter.name;
    match &parameter.kind {
        ParameterKind::Integer { min, max } => json!({"name": name, "integer": [min, max]}),
        ParameterKind::Choice(all) => json!({"name": name, "choice": all}),
        ParameterKind::Text { alphabet, chars_max } => {
            json!({"name": name, "text": alphabet.as_str(), "chars_max": chars_max})
        }
    }
}

fn of_slot(slot: &InputSlot) -> Value {
    json!({
        "slot": slot.name,
        "name": slot.files.to_string(),
        "count": [slot.count.0, slot.count.1],
        "bytes_max": slot.bytes_max,
    })
}

fn of_fixed(terms: &StandingTerms) -> Value {
    let inputs = terms_text::fixed_inputs(terms)
        .map(|it| json!({"name": it.name(), "sha256": it.sha256().to_string()}));
    let outputs = terms.outputs.iter().map(output_json);
    let constraints = terms.constraints.iter().map(validator::Constraint::text);
    json!({
        "command": terms.words.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "inputs": inputs.collect::<Vec<_>>(),
        "language": terms.language.as_str(),
        "environment": terms.environment.as_ref().map(ToString::to_string),
        "network": terms.network.as_str(),
        "hosts": terms.network.hosts().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "limits": {
            "cpu_milli": terms.cpu.as_milli(),
            "memory_mb": terms.memory_limit_mb,
            "time_sec": terms.time_limit_sec,
            "inputs_bytes": terms.inputs_bytes_max,
        },
        "outputs": outputs.collect::<Vec<_>>(),
        "constraints": constraints.collect::<Vec<_>>(),
        "risk": terms.risk.as_str(),
        "sensitivity": terms.sensitivity.as_str(),
        "runs_code_of_inputs": terms.runs_code_of_inputs,
    })
}
