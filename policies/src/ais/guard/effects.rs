//! The capabilities in the tool's assertion. Its schema must never fetch another document.

use jsonschema::PatternOptions;
use serde_json::{Map, Value, json};
use validator::HostPort;

use super::super::apa::PlanStep;
use super::super::code::{AisCode, AisRefusal};
use super::super::destination::{host_of_url, names};
use super::super::field::NonEmptyText;
use super::super::tca::Operation;
use super::model::{GuardInput, GuardObservation, GuardResult};
use super::plan::step_of;

/// The keywords of JSON Schema that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

fn operation_of<'a>(case: &GuardInput<'a>, step: &PlanStep) -> Result<&'a Operation, AisRefusal> {
    let (tca, tool) = (case.bundle.tca(), step.tool.as_str());
    tca.operation(tool).ok_or_else(|| {
        let message = format!("{} has no operation `{tool}`", tca.id);
        AisRefusal::new(AisCode::TcaOpNotAllowed, message).with(json!({ "tool": tool }))
    })
}

pub(super) fn operation(case: &GuardInput<'_>) -> GuardResult {
    let step = step_of(case)?;
    let operation = operation_of(case, step)?;
    let (least, most) = operation.effects.writes.bounds();
    let writes = step.expected.writes.get();
    if !(least..=most).contains(&writes) {
        let message = format!("the step has {writes} writes; its operation has {least} to {most}");
        return Err(AisRefusal::new(AisCode::TcaEffectsExceeded, message)
            .with(json!({ "writes": writes, "declared": [least, most] })));
    }
    let declared = &operation.effects.data_classes;
    if let Some(class) = step.expected.data_classes.iter().find(|class| !declared.contains(class)) {
        let message = format!("the operation does not declare data of the class `{class}`");
        return Err(AisRefusal::new(AisCode::TcaEffectsExceeded, message)
            .with(json!({ "dataClass": class.as_str() })));
    }
    arguments(&operation.args_schema, &step.args)?;
    known_arguments(step)?;
    Ok(GuardObservation::Passed(format!("{}: arguments and effects as declared", operation.name)))
}

/// Checks the arguments against the operation's JSON Schema. Patterns are matched in linear time.
/// References are refused, to other documents and within the schema: a few dozen references that
/// each name two others would take forever to evaluate.
fn arguments(schema: &Value, args: &Map<String, Value>) -> Result<(), AisRefusal> {
    let invalid = |message: String| AisRefusal::new(AisCode::InputSchemaInvalid, message);
    if has_reference(schema) {
        return Err(invalid("argsSchema refers to another schema; write it out".to_owned()));
    }
    let schema = jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| invalid(format!("argsSchema is not a JSON Schema: {error}")))?;
    match schema.validate(&Value::Object(args.clone())) {
        Ok(()) => Ok(()),
        Err(error) => {
            let place = error.instance_path().to_string();
            Err(invalid(format!("arguments: {error}")).with(json!({ "path": place })))
        }
    }
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| REFERENCES.contains(&name.as_str()) || has_reference(value)),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

/// Checks the arguments of operations that this program knows by name, regardless of their schema.
fn known_arguments(step: &PlanStep) -> Result<(), AisRefusal> {
    let text = |name: &str| step.args.get(name).and_then(Value::as_str).unwrap_or_default();
    let wrong = match step.tool.as_str() {
        "http.get" => host_of_url(text("url")).is_none().then_some("`url` is not an http(s) URL"),
        "ollama.generate" => text("prompt").is_empty().then_some("`prompt` is empty"),
        tool if tool.starts_with("toolexec.run.") => {
            text("prompt").is_empty().then_some("`prompt` is empty")
        }
        _ => None,
    };
    match wrong {
        Some(what) => {
            Err(AisRefusal::new(AisCode::InputSchemaInvalid, format!("arguments: {what}")))
        }
        None => Ok(()),
    }
}

pub(super) fn destinations(case: &GuardInput<'_>) -> GuardResult {
    let step = step_of(case)?;
    let mut hosts: Vec<HostPort> = case.request.map_or_else(Vec::new, |it| it.hosts.clone());
    if let Some(url) = step.args.get("url").and_then(Value::as_str) {
        match host_of_url(url) {
            Some(host) => hosts.push(host),
            None => return Err(not_allowed(url, "the step's url")),
        }
    }
    if hosts.is_empty() {
        return Ok(GuardObservation::NotApplicable("no host is named"));
    }
    let operation = operation_of(case, step)?;
    let none: Vec<NonEmptyText> = Vec::new();
    let declared = operation.effects.destinations.as_ref().unwrap_or(&none);
    for host in &hosts {
        if !names(declared, host) {
            return Err(not_allowed(&host.to_string(), "the operation"));
        }
        let permitted = &case.bundle.uia().constraints.destinations;
        if permitted.as_ref().is_some_and(|list| !names(list, host)) {
            return Err(not_allowed(&host.to_string(), "the intent"));
        }
    }
    let shown: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    Ok(GuardObservation::Passed(shown.join(", ")))
}

fn not_allowed(host: &str, whose: &str) -> AisRefusal {
    let message = format!("{whose} does not name the host `{host}`");
    AisRefusal::new(AisCode::DestinationNotAllowed, message).with(json!({ "destination": host }))
}
