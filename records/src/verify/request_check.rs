//! Comparison of a record with the request that it carries. It must never report a difference that
//! an honest run could have caused, nor ignore one because the request was hard to parse.

use serde_json::Value;
use validator::Request;

use crate::verify::approvals::is_of_a_run;
use crate::verify::inconsistency::number;
use crate::verify_error::VerifyError;

/// Returns every statement of the record about its request that contradicts the request.
pub(super) fn faults(file: &str, facts: &Value, request: &Request) -> Vec<VerifyError> {
    // A file refused as unusable is not described by its record, even if it can be parsed later.
    if facts["intent_sha256"].is_null() && !is_of_a_run(facts) {
        return Vec::new();
    }
    let what = command_and_inputs(facts, request).into_iter().chain(environment(facts, request));
    let what = what.chain(backend(facts, request));
    let what = what.chain(network(facts, request)).chain(limits(facts, request));
    what.map(|what| VerifyError::Inconsistency { file: file.to_owned(), what }).collect()
}

fn command_and_inputs(facts: &Value, request: &Request) -> Vec<String> {
    let mut problems = Vec::new();
    let intent = request.intent_sha256().to_string();
    for (key, expected) in [("request_id", request.id().as_str()), ("intent_sha256", &intent)] {
        if facts.get(key).is_some_and(|it| it != expected) {
            problems.push(format!("{key} is {} and the request's is {expected}", facts[key]));
        }
    }
    let argv = request.argv();
    // The record truncates a list that does not fit, and states the total.
    if let Some(stated) = facts["argv"].as_array()
        && (stated.len() > argv.len()
            || stated.iter().zip(argv).any(|(word, expected)| word != expected))
    {
        problems.push("argv is not the command of the request".to_owned());
    }
    let beyond_seed = request.constraints().iter().filter(|it| !it.is_seed()).count();
    let totals = [("argv_total", argv.len()), ("constraints_stated_total", beyond_seed)];
    for (key, expected) in totals {
        let stated = number(&facts[key]);
        if stated.is_some_and(|total| usize::try_from(total) != Ok(expected)) {
            problems.push(format!("{key} is {} and the request has {expected}", facts[key]));
        }
    }
    if let Some(stated) = facts["inputs"].as_array() {
        let same = stated.len() == request.inputs().len()
            && stated.iter().zip(request.inputs()).all(|(row, input)| {
                row["name"] == input.name() && row["sha256"] == input.sha256().to_string()
            });
        problems.extend((!same).then(|| "inputs are not those of the request".to_owned()));
    }
    problems
}

/// A run uses the environment that its request names, or does not start. Records of earlier
/// versions do not have the key; it was any other extension then.
fn environment(facts: &Value, request: &Request) -> Option<String> {
    let stated = facts.get("environment")?;
    let named = request.environment().map(ToString::to_string);
    let shown = named.as_deref().unwrap_or("null");
    let differs = stated.as_str() != named.as_deref();
    differs.then(|| format!("environment is {stated} and the request's is {shown}"))
}

/// A run uses the backend that its request names; else the policy chooses one. A refused request
/// used none, and records of earlier versions state `confined` for it.
fn backend(facts: &Value, request: &Request) -> Option<String> {
    let named = request.backend().filter(|_| is_of_a_run(facts))?.as_str();
    let stated = facts.get("backend")?;
    (stated != named).then(|| format!("backend is {stated} and the request's is {named}"))
}

/// The policy may omit a host, but the record must not name one that the request does not ask for.
fn network(facts: &Value, request: &Request) -> Vec<String> {
    let hosts = request.network().hosts();
    let mut problems = Vec::new();
    if facts["network_used"] == "allowlist" && hosts.is_empty() {
        problems.push("network_used is allowlist and the request asks for no host".to_owned());
    }
    let reached = facts["network_destinations"].as_array().into_iter().flatten();
    let other = |host: &&Value| !hosts.iter().any(|granted| *host == granted.host());
    let strange = |host: &Value| format!("{host} was reached and the request does not ask for it");
    problems.extend(reached.filter(other).map(strange));
    problems
}

/// Compares the limits that the request sets; the policy sets the others. A virtual machine
/// enforces the time itself, and its sandbox has more for the start and the end of the guest.
fn limits(facts: &Value, request: &Request) -> Vec<String> {
    let machine = &facts["backend_detail"]["machine"];
    let start_ms = number(&machine["start_ms_max"]).unwrap_or_default();
    let time_ms = request.time_limit_sec().saturating_mul(1000);
    let requested = [
        ("wall_ms_max", time_ms.saturating_add(start_ms)),
        ("memory_bytes_max", request.memory_limit_mb().saturating_mul(1 << 20)),
        ("cpu_milli", u64::from(request.cpu().as_milli())),
    ];
    let mut problems = Vec::new();
    if number(&machine["time_ms_max"]).is_some_and(|stated| stated != time_ms) {
        let stated = &machine["time_ms_max"];
        let what = format!("the guest's time_ms_max is {stated} and the request asks {time_ms}");
        problems.push(what);
    }
    if number(&machine["guest_memory_mb"]).is_some_and(|mb| mb > request.memory_limit_mb()) {
        problems.push("the guest has more memory than the request asks".to_owned());
    }
    for row in facts["limits"].as_array().into_iter().flatten() {
        let Some((name, limit)) = requested.iter().find(|(name, _)| row["name"] == *name) else {
            continue;
        };
        let stated = [number(&row["asked"]), number(&row["in_force"])];
        if stated[0].is_some_and(|stated| stated != *limit) {
            problems
                .push(format!("{name}: asked is {} and the request asks {limit}", row["asked"]));
        }
        // Without a cgroup, cores are whole, so more than the requested fraction may be active.
        if *name != "cpu_milli" && stated[1].is_some_and(|stated| stated > *limit) {
            problems.push(format!(
                "{name}: in_force is {} and the request asks {limit}",
                row["in_force"]
            ));
        }
    }
    problems
}
