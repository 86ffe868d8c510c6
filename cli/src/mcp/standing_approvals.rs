//! The tool `list_standing_approvals`: the kinds of runs that people have approved in advance for
//! the server's agent, as the daemon published them. Only the daemon counts uses.

use serde_json::{Value, json};
use validator::{ExpectedOutput, InputSlot, StandingApproval, StandingInput, StandingTerms};

use super::published_standing;
use super::server_state::ServerState;
use super::untrusted_markers::UntrustedMarkers;
use crate::failure::Failure;

/// Limit of listed standing approvals, newest first.
const LISTED_MAX: usize = 50;

pub(super) fn list(state: &ServerState) -> Result<Value, Failure> {
    let usable = published_standing::usable(state)?;
    let markers = UntrustedMarkers::new()?;
    let listed = usable.iter().take(LISTED_MAX).map(|standing| described(standing, &markers));
    Ok(json!({
        "standing_approvals": listed.collect::<Vec<_>>(),
        "not_listed": usable.len().saturating_sub(LISTED_MAX),
    }))
}

fn described(standing: &StandingApproval, markers: &UntrustedMarkers) -> Value {
    let terms = standing.terms();
    let text = purpose_and_command(terms);
    json!({
        "id": terms.id.as_str(),
        "reference": standing.reference().to_string(),
        "language": terms.language.as_str(),
        "environment": terms.environment.as_ref().map(ToString::to_string),
        "parameters": terms.parameters.iter().map(|parameter| json!({
            "name": parameter.name,
            "permitted": parameter.kind.permitted_values(),
        })).collect::<Vec<_>>(),
        "fixed_inputs": fixed_inputs(terms),
        "slots": slots(terms),
        "outputs": terms.outputs.iter().map(ExpectedOutput::path).collect::<Vec<_>>(),
        "hosts": terms.network.hosts().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "limits": {
            "cpu_cores_max": terms.cpu.to_string(),
            "memory_mb_max": terms.memory_limit_mb,
            "time_sec_max": terms.time_limit_sec,
            "input_bytes_max": terms.inputs_bytes_max,
        },
        "risk": terms.risk.as_str(),
        "sensitivity": terms.sensitivity.as_str(),
        "not_before_utc": terms.not_before.to_string(),
        "not_after_utc": terms.not_after.to_string(),
        "uses_max": terms.uses_max,
        "uses_per_hour_max": terms.uses_per_hour_max,
        "text": markers.wrap("the purpose and the words of the command", text.as_bytes()),
    })
}

fn fixed_inputs(terms: &StandingTerms) -> Vec<Value> {
    let fixed = terms.inputs.iter().filter_map(|input| match input {
        StandingInput::Fixed(fixed) => {
            Some(json!({ "name": fixed.name(), "sha256": fixed.sha256().to_string() }))
        }
        StandingInput::Slot(_) => None,
    });
    fixed.collect()
}

fn slots(terms: &StandingTerms) -> Vec<Value> {
    let slots = terms.inputs.iter().filter_map(|input| match input {
        StandingInput::Slot(slot) => Some(described_slot(slot)),
        StandingInput::Fixed(_) => None,
    });
    slots.collect()
}

fn described_slot(slot: &InputSlot) -> Value {
    let (min, max) = slot.count;
    json!({
        "slot": slot.name,
        "names": slot.files.to_string(),
        "files_min": min,
        "files_max": max,
        "bytes_max": slot.bytes_max,
    })
}

/// Returns the texts that the author of the standing approval chose freely.
fn purpose_and_command(terms: &StandingTerms) -> String {
    let words: String = terms.words.iter().map(|word| format!("word: {word}\n")).collect();
    format!("purpose: {}\n{words}", terms.purpose)
}
