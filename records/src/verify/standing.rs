//! Verification that a run stayed within the standing approval that its record states. It needs the
//! record alone: the document, the request, the chosen values and the sizes are in it. It must never
//! pass over a bound that it cannot read.

use std::collections::BTreeMap;

use model::{HostAudience, Sha256, UtcTime};
use policies::standing::{InputSize, StandingDifference, admits};
use serde_json::Value;
use validator::{Request, StandingApproval};

use crate::verify::approvals::is_of_a_run;
use crate::verify::inconsistency::number;

/// A run within its standing approval.
pub(super) struct ContainedRun {
    pub(super) approval: StandingApproval,
    /// As "within SA-…, use 3 of 200".
    pub(super) text: String,
}

/// Returns the standing approval of the run, or `None` if the run used none. A record without a run
/// states no time of it, and after a crash no sizes: the other bounds are checked. `knows_labels`
/// states that `host` has the labels of a fleet list.
///
/// # Errors
/// Each statement of the record that contradicts the document, or a bound that the run exceeded.
pub(super) fn check(
    facts: &Value,
    request: &Request,
    sidecars: &[(String, Vec<u8>)],
    host: Option<HostAudience<'_>>,
    knows_labels: bool,
) -> Result<Option<ContainedRun>, Vec<String>> {
    // Records of earlier versions do not have the key; it was any other extension then.
    let Some(stated) = facts.get("standing") else { return Ok(None) };
    if stated.is_null() {
        return match request.standing() {
            Some(named) => Err(vec![format!("standing is null and the request uses {named}")]),
            None => Ok(None),
        };
    }
    let sha256 = stated["sha256"].as_str().unwrap_or_default();
    let approval = document(facts, sha256, sidecars).map_err(|problem| vec![problem])?;
    let terms = approval.terms();
    let mut problems = Vec::new();
    let sizes = input_sizes(facts, request);
    let sizes: Vec<InputSize<'_>> =
        sizes.iter().map(|(name, bytes)| InputSize { name, bytes: *bytes }).collect();
    // Without a log, the host that made the record is not known.
    let host = host.unwrap_or(HostAudience::of(Some(&terms.audience)));
    match admits(&approval, request, host, &sizes) {
        Ok(binding) if binding.parameters != parameters(stated) => {
            problems.push("standing: the parameters are not those of the command".to_owned());
        }
        Ok(_) => {}
        Err(differences) => {
            problems.extend(differences.iter().map(|it| beyond(&approval, it, host, knows_labels)));
        }
    }
    let is_replay = !facts["replay_of"].is_null();
    let begun = facts["started_utc"].as_str().and_then(|text| text.parse::<UtcTime>().ok());
    // A replay is decided at the time of its original.
    if !is_replay && begun.is_some_and(|at| at < terms.not_before || at >= terms.not_after) {
        problems.push(format!("beyond {}: started_utc is outside its time", terms.id));
    }
    let used = number(&stated["use"]);
    if used.is_none() != is_replay {
        problems.push("standing: only a replay has no use".to_owned());
    }
    if used.is_some_and(|used| used == 0 || used > terms.uses_max) {
        problems.push(format!("beyond {}: use is {}", terms.id, stated["use"]));
    }
    if number(&stated["uses_max"]) != Some(terms.uses_max) || stated["id"] != terms.id.as_str() {
        problems.push("standing: the id or uses_max is not that of the document".to_owned());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let text = match used {
        Some(used) => format!("within {}, use {used} of {}", terms.id, terms.uses_max),
        None => format!("within {}, a replay", terms.id),
    };
    Ok(Some(ContainedRun { approval, text }))
}

/// Returns the message about one difference. A log has the name of its host, so a label cannot be
/// judged without the list of the fleet.
fn beyond(
    approval: &StandingApproval,
    difference: &StandingDifference,
    host: HostAudience<'_>,
    knows_labels: bool,
) -> String {
    let terms = approval.terms();
    match (difference, host.name()) {
        (StandingDifference::Host, Some(name)) if !knows_labels => format!(
            "beyond {}: x-audience is {}, and the record is in the log of {name}; help: if {} is a \
             label of a fleet, add --fleet fleet.yaml, the signed list that gives hosts their \
             labels",
            terms.id, terms.audience, terms.audience
        ),
        _ => format!("beyond {}: {difference}", terms.id),
    }
}

/// Returns the standing approval that the request of a record names, if the record has it. The
/// signers of a request that did not run are those of this document too.
pub(super) fn named_document(
    facts: &Value,
    request: &Request,
    sidecars: &[(String, Vec<u8>)],
) -> Option<StandingApproval> {
    let sha256 = request.standing()?.sha256.to_string();
    document(facts, &sha256, sidecars).ok()
}

/// Finds the document by its digest and reads it as of the time of the record.
fn document(
    facts: &Value,
    sha256: &str,
    sidecars: &[(String, Vec<u8>)],
) -> Result<StandingApproval, String> {
    let found = sidecars.iter().find(|(_, bytes)| Sha256::of(bytes).to_string() == sha256);
    let (path, bytes) =
        found.ok_or_else(|| "standing: no file in request/ has its digest".to_owned())?;
    let made = facts["created_utc"].as_str().and_then(|text| text.parse().ok());
    let made = made.ok_or_else(|| "created_utc: not a time".to_owned())?;
    let name = path.rsplit('/').next().unwrap_or(path);
    StandingApproval::read_recorded(bytes, name, made).map_err(|violations| {
        let first = violations.first().map_or("not readable", |it| it.message.as_str());
        format!("{path}: {first}")
    })
}

/// Returns the stated size of each input. Sizes that a crash has lost count as 0: the caller
/// reports that their bounds were not checked.
fn input_sizes(facts: &Value, request: &Request) -> Vec<(String, u64)> {
    let stated = &facts["standing"]["inputs"];
    if *stated == "unknown" && !is_of_a_run(facts) {
        return request.inputs().iter().map(|input| (input.name().to_owned(), 0)).collect();
    }
    let rows = stated.as_array().into_iter().flatten();
    rows.filter_map(|row| Some((row["name"].as_str()?.to_owned(), number(&row["size_bytes"])?)))
        .collect()
}

fn parameters(stated: &Value) -> BTreeMap<String, String> {
    let rows = stated["parameters"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    rows.filter_map(|row| Some((text(&row["name"])?, text(&row["value"])?))).collect()
}
