//! The tool `list_standing_approvals`: the kinds of runs that people have approved in advance for
//! the server's agent, as the daemon published them. Only the daemon counts uses. With a command,
//! the list has those that admit it, and the first difference of each other one.

use model::escape_line;
use serde_json::{Value, json};
use validator::{
    ExpectedOutput, InputSlot, StandingApproval, StandingInput, StandingTerms, shell_words,
};

use super::arguments::StandingListArguments;
use super::published_standing;
use super::server_state::ServerState;
use super::standing_fit::fit;
use super::untrusted_markers::UntrustedMarkers;
use crate::failure::Failure;

/// Limit of listed standing approvals, newest first.
const LISTED_MAX: usize = 50;

pub(super) fn list(
    state: &ServerState,
    arguments: &StandingListArguments,
) -> Result<Value, Failure> {
    let words = command_words(arguments)?;
    let usable = published_standing::usable(state)?;
    let markers = UntrustedMarkers::new()?;
    let (mut listed, mut others, mut not_listed) = (Vec::new(), Vec::new(), 0_u64);
    for standing in &usable {
        let fitting = words.as_deref().map(|words| fit(standing, words, &arguments.inputs));
        let is_full = listed.len() + others.len() >= LISTED_MAX;
        match fitting {
            _ if is_full => not_listed += 1,
            None => listed.push(described(standing, &markers)),
            Some(Ok(parameters)) => {
                let mut row = described(standing, &markers);
                row["parameters_of_command"] = json!(parameters);
                listed.push(row);
            }
            Some(Err(difference)) => others.push(json!({
                "reference": standing.reference().to_string(),
                "difference": difference,
            })),
        }
    }
    Ok(json!({
        "standing_approvals": listed,
        "others": words.is_some().then_some(others),
        "not_listed": not_listed,
    }))
}

/// Returns the words of the given command, or `None` if there is none.
fn command_words(arguments: &StandingListArguments) -> Result<Option<Vec<String>>, Failure> {
    match (&arguments.command, arguments.words.as_slice()) {
        (None, []) => Ok(None),
        (None, words) => Ok(Some(words.to_vec())),
        (Some(line), []) => shell_words(line).map(Some).map_err(|violations| {
            let messages = violations.iter().map(|row| escape_line(&row.message));
            let messages = messages.collect::<Vec<_>>().join("; ");
            Failure::with_help(&messages, "give the command as separate words")
        }),
        (Some(_), _) => {
            let why = "both given; help: give the command as words or as one line, not both";
            Err(Failure::Message(format!("words, command: {why}")))
        }
    }
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
