//! Rules that find contradictions in a record's facts alone, one per row. A rule must never reject
//! an honest run's record. A fact that an older record lacks contradicts nothing.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use model::{Outcome, ResultId, Sha256, UtcTime};
use policies::BackendKind;
use serde::Deserialize;
use serde_json::Value;
use validator::CLOCK_SKEW_SEC;

use crate::verify_error::VerifyError;
use crate::yaml;

/// The rules. Each returns a contradiction in the facts, if any.
const RULES: [fn(&FactReader<'_>) -> Option<String>; 27] = [
    ran_for_its_outcome,
    never_ran_for_its_outcome,
    exit_code_without_run,
    exit_code_zero,
    exit_code_nonzero,
    exit_code_signal,
    exit_code_unknown,
    out_of_memory,
    violation,
    output_rejected,
    output_incomplete,
    artifacts_without_run,
    ran_despite_refusal,
    ran_despite_gate,
    ran_without_permission,
    ran_despite_ais,
    answer_digests,
    refused_without_reason,
    times_in_order,
    approved_before,
    result_id_names_request,
    request_digest,
    signature_for_each_approval,
    approvers_for_approval,
    replay_of_other_request,
    totals_cover_lists,
    backend_detail_of_other_backend,
];

/// The creation and approval times in the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTimes {
    created: UtcTime,
    approved: UtcTime,
}

impl RequestTimes {
    /// Returns `None` if the bytes are not a request: such a file has no times to compare.
    pub(super) fn read(request: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct RawRequestTimes {
            created_utc: String,
            approved_utc: String,
        }
        let text = std::str::from_utf8(request).ok()?;
        let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
        let front: RawRequestTimes = match yaml::parse(front) {
            Some(front) => RawRequestTimes::deserialize(front).ok()?,
            None => serde_yaml::from_str(front).ok()?,
        };
        let (created, approved) =
            (front.created_utc.parse().ok()?, front.approved_utc.parse().ok()?);
        Some(Self { created, approved })
    }
}

/// Returns every contradiction in these facts.
pub(super) fn faults<'a>(
    file: &'a str,
    facts: &'a Value,
    request: Option<RequestTimes>,
) -> impl Iterator<Item = VerifyError> + 'a {
    let reader = FactReader { facts, request };
    let found = RULES.iter().filter_map(move |rule| rule(&reader));
    found.map(|what| VerifyError::Inconsistency { file: file.to_owned(), what })
}

struct FactReader<'a> {
    facts: &'a Value,
    request: Option<RequestTimes>,
}

impl<'a> FactReader<'a> {
    fn text(&self, key: &str) -> &'a str {
        self.facts[key].as_str().unwrap_or_default()
    }

    fn outcome(&self) -> &'a str {
        self.text("outcome")
    }

    /// Returns whether the outcome is one of these, with any exit code and any signal.
    fn outcome_is(&self, outcomes: &[Outcome]) -> bool {
        outcomes.iter().any(|outcome| outcome.as_str() == self.outcome())
    }

    fn exit_code(&self) -> Option<i64> {
        self.facts["exit_code"].as_i64()
    }

    fn time(&self, key: &str) -> Option<UtcTime> {
        self.text(key).parse().ok()
    }

    fn has(&self, key: &str) -> bool {
        self.facts.get(key).is_some_and(|value| !value.is_null())
    }

    fn rows(&self, key: &str) -> &'a [Value] {
        self.facts[key].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns whether a run is stated; `None` for an older record that does not say.
    fn ran(&self) -> Option<bool> {
        self.facts.get("started_utc").map(|it| !it.is_null())
    }
}

/// Returns the principals of the stated approvals, without duplicates.
pub(super) fn principals(facts: &Value) -> BTreeSet<&str> {
    let rows = facts["approvals"].as_array().into_iter().flatten();
    rows.filter_map(|row| row["principal"].as_str()).collect()
}

/// Parses a number, including one written as text because JSON readers would round it.
pub(super) fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The backend that is the sandbox alone.
const CONFINED: &str = "confined";
/// The role of the file that each further backend has.
const PROGRAM_ROLE: &str = "program";

const NEVER_RAN: [Outcome; 2] = [Outcome::Refused, Outcome::SetupError];
/// A request can be cancelled before its start, and a run can be lost with all its results.
const WITH_OR_WITHOUT_RUN: [Outcome; 2] = [Outcome::Cancelled, Outcome::Indeterminate];

fn ran_for_its_outcome(reader: &FactReader<'_>) -> Option<String> {
    let needed = !reader.outcome_is(&NEVER_RAN) && !reader.outcome_is(&WITH_OR_WITHOUT_RUN);
    let missing = ["started_utc", "ended_utc", "confinement", "accounting"];
    let missing = missing.iter().find(|key| !reader.has(key));
    let key = missing.filter(|_| needed && reader.ran().is_some())?;
    Some(format!("outcome is {} and {key} is null", reader.outcome()))
}

fn never_ran_for_its_outcome(reader: &FactReader<'_>) -> Option<String> {
    let keys = ["started_utc", "ended_utc", "accounting", "denials"];
    let key = keys.iter().find(|key| reader.outcome_is(&NEVER_RAN) && reader.has(key))?;
    Some(format!("outcome is {} and {key} states a run", reader.outcome()))
}

fn exit_code_without_run(reader: &FactReader<'_>) -> Option<String> {
    let code = reader.exit_code().filter(|code| *code != -1)?;
    (reader.ran() == Some(false)).then(|| format!("nothing ran and exit_code is {code}"))
}

fn exit_code_zero(reader: &FactReader<'_>) -> Option<String> {
    let code = reader.exit_code().filter(|code| *code != 0)?;
    let good = reader.outcome_is(&[Outcome::Ok, Outcome::OutputRejected]);
    good.then(|| format!("outcome is {} and exit_code is {code}", reader.outcome()))
}

fn exit_code_nonzero(reader: &FactReader<'_>) -> Option<String> {
    let code = reader.exit_code().filter(|code| !(1..=255).contains(code))?;
    reader
        .outcome_is(&[Outcome::ExitNonzero(1)])
        .then(|| format!("outcome is exit_nonzero and exit_code is {code}"))
}

fn exit_code_signal(reader: &FactReader<'_>) -> Option<String> {
    // 128+n, and Linux has signals 1 to 64.
    let code = reader.exit_code().filter(|code| !(129..=192).contains(code))?;
    reader
        .outcome_is(&[Outcome::Signal(1)])
        .then(|| format!("outcome is signal and exit_code is {code}"))
}

fn exit_code_unknown(reader: &FactReader<'_>) -> Option<String> {
    let code = reader.exit_code().filter(|code| *code != -1)?;
    reader
        .outcome_is(&[Outcome::Indeterminate])
        .then(|| format!("outcome is indeterminate and exit_code is {code}"))
}

fn out_of_memory(reader: &FactReader<'_>) -> Option<String> {
    let kills = number(&reader.facts["accounting"]["oom_kills"]).filter(|kills| *kills > 0)?;
    let is_stated = reader.outcome_is(&[Outcome::MemoryLimit, Outcome::SeccompViolation]);
    (!is_stated).then(|| format!("outcome is {} and oom_kills is {kills}", reader.outcome()))
}

fn violation(reader: &FactReader<'_>) -> Option<String> {
    let call = reader.facts["denials"]["violation"].as_str()?;
    (!reader.outcome_is(&[Outcome::SeccompViolation]))
        .then(|| format!("outcome is {} and the violation is {call}", reader.outcome()))
}

fn output_rejected(reader: &FactReader<'_>) -> Option<String> {
    let count = number(&reader.facts["rejected_total"]).filter(|count| *count > 0)?;
    reader
        .outcome_is(&[Outcome::Ok])
        .then(|| format!("outcome is ok and rejected_total is {count}"))
}

fn output_incomplete(reader: &FactReader<'_>) -> Option<String> {
    let incomplete =
        reader.facts["collection_complete"] == false && reader.outcome_is(&[Outcome::Ok]);
    incomplete.then(|| "outcome is ok and collection_complete is false".to_owned())
}

fn artifacts_without_run(reader: &FactReader<'_>) -> Option<String> {
    let kept = reader.rows("artifacts").len();
    (reader.ran() == Some(false) && kept > 0)
        .then(|| format!("nothing ran and {kept} artifacts were kept"))
}

fn ran_despite_refusal(reader: &FactReader<'_>) -> Option<String> {
    let refused = |rule: &&Value| rule["verdict"] == "refuse";
    let rule = reader.rows("rules").iter().find(refused)?;
    let rule = rule["rule"].as_str().unwrap_or_default();
    (reader.ran() == Some(true)).then(|| format!("rule {rule} refused, but a run is stated"))
}

/// Also compares the gate's whole answer with its parts.
fn ran_despite_gate(reader: &FactReader<'_>) -> Option<String> {
    let gate = &reader.facts["gate"];
    let decision = gate["gate_decision"].as_str()?;
    if let Some(text) = gate["answer"]["json"].as_str() {
        let answer: Value = serde_json::from_str(text).unwrap_or_default();
        let keys =
            ["gate_decision", "recommended_action", "aana_route", "hard_blockers", "reasons"];
        if let Some(key) = keys.into_iter().find(|key| answer[*key] != gate[*key]) {
            return Some(format!("gate.{key} is {} and the answer has {}", gate[key], answer[key]));
        }
    }
    let enforced = gate["mode"] == "enforce";
    let message = || format!("it ran, but the gate's decision was {decision}");
    (enforced && decision != "pass" && reader.ran()?).then(message)
}

fn ran_without_permission(reader: &FactReader<'_>) -> Option<String> {
    let state = reader.facts["permission"]["state"].as_str()?;
    let message = || format!("it ran, but the permission was {state}");
    (state != "APPROVED" && reader.ran()?).then(message)
}

fn answer_digests(reader: &FactReader<'_>) -> Option<String> {
    ["gate", "ais"].into_iter().find_map(|key| {
        let answer = &reader.facts[key]["answer"];
        let (text, stated) = (answer["json"].as_str()?, answer["sha256"].as_str()?);
        let message = || format!("{key}.answer has another digest than {stated}");
        (Sha256::of(text.as_bytes()).to_string() != stated).then(message)
    })
}

fn ran_despite_ais(reader: &FactReader<'_>) -> Option<String> {
    let verdict = reader.facts["ais"]["verdict"].as_str()?;
    let message = || "it ran, but the AIS guard refused it".to_owned();
    (verdict != "accept" && reader.ran()?).then(message)
}

fn refused_without_reason(reader: &FactReader<'_>) -> Option<String> {
    let refused = reader.rows("rules").iter().any(|rule| rule["verdict"] == "refuse");
    let found = !reader.rows("violations").is_empty();
    let bare =
        reader.outcome_is(&[Outcome::Refused]) && !refused && !found && !reader.has("reason");
    bare.then(|| "outcome is refused and no reason is stated".to_owned())
}

fn times_in_order(reader: &FactReader<'_>) -> Option<String> {
    let named = reader.text("result_id").parse::<ResultId>().ok().and_then(|id| time_in_id(&id));
    let order = [
        ("started_utc", reader.time("started_utc")),
        ("ended_utc", reader.time("ended_utc")),
        ("created_utc", reader.time("created_utc")),
    ];
    let known: Vec<(&str, UtcTime)> =
        order.into_iter().filter_map(|(key, at)| Some((key, at?))).collect();
    let wrong = known.windows(2).find_map(|pair| match pair {
        [(first, a), (second, b)] if a > b => Some(format!("{second} {b} is before {first} {a}")),
        _ => None,
    });
    wrong.or_else(|| {
        let (named, created) = (named?, reader.time("created_utc")?);
        (named > created).then(|| format!("created_utc {created} is before {named} of result_id"))
    })
}

fn approved_before(reader: &FactReader<'_>) -> Option<String> {
    let (request, started) = (reader.request?, reader.time("started_utc")?);
    // The approver's clock may differ from the host's.
    let later = |at: UtcTime| at.unix() > started.unix().saturating_add(CLOCK_SKEW_SEC);
    let of = [("approved_utc", request.approved), ("created_utc", request.created)];
    let (key, at) = of.into_iter().find(|(_, at)| later(*at))?;
    Some(format!("started_utc {started} is before the request's {key} {at}"))
}

fn result_id_names_request(reader: &FactReader<'_>) -> Option<String> {
    let (id, request) = (reader.text("result_id"), reader.text("request_id"));
    let subject = id.get("TS-YYYYMMDD-HHMMSSZ-".len()..)?;
    let digest = reader.text("request_sha256");
    // A file too odd to be read is named by its file name and states the digest of no bytes.
    let read = !digest.is_empty() && digest != Sha256::of(b"").to_string();
    match subject.strip_prefix("REFUSED-") {
        Some(digits) if read && !digest.starts_with(digits) => {
            Some(format!("result_id is {id} and request_sha256 is {digest}"))
        }
        None if subject != request => {
            Some(format!("result_id is {id} and request_id is {request}"))
        }
        _ => None,
    }
}

fn request_digest(reader: &FactReader<'_>) -> Option<String> {
    let first = reader.rows("files").first()?;
    let (digest, path) =
        (reader.text("request_sha256"), first["path"].as_str().unwrap_or_default());
    let found = first["sha256"].as_str().unwrap_or_default();
    (!digest.is_empty() && found != digest)
        .then(|| format!("request_sha256 is {digest} and {path} has {found}"))
}

fn signature_for_each_approval(reader: &FactReader<'_>) -> Option<String> {
    let stated = reader.rows("approvals").len();
    let is_signature =
        |row: &&Value| row["path"].as_str().is_some_and(|path| path.ends_with(".sig"));
    let files = reader.rows("files").iter().filter(is_signature).count();
    (stated > files).then(|| format!("{stated} approvals are stated and {files} signature files"))
}

fn approvers_for_approval(reader: &FactReader<'_>) -> Option<String> {
    let people = reader.text("approval").strip_prefix("signed by ")?.split_once(" of ")?.0;
    let people: usize = people.parse().ok()?;
    let stated = principals(reader.facts).len();
    // After a crash the ledger has the kind of the approval, but not the signers.
    let recovered = [Outcome::Indeterminate, Outcome::SetupError];
    let forgotten = reader.outcome_is(&recovered) && reader.rows("rules").is_empty();
    (people > stated && !forgotten)
        .then(|| format!("approval is by {people} people and approvals are by {stated}"))
}

fn replay_of_other_request(reader: &FactReader<'_>) -> Option<String> {
    let of = reader.facts.get("replay_of").filter(|of| !of.is_null())?;
    let of = of["result_id"].as_str().unwrap_or_default();
    let named = of.get("TS-YYYYMMDD-HHMMSSZ-".len()..).unwrap_or_default();
    let same = named == reader.text("request_id") && of != reader.text("result_id");
    let known = of.parse::<ResultId>().is_ok() && same;
    (!known).then(|| format!("replay_of is {of} and request_id is {}", reader.text("request_id")))
}

fn totals_cover_lists(reader: &FactReader<'_>) -> Option<String> {
    let lists = ["argv", "constraints_stated", "violations", "rejected"];
    lists.iter().find_map(|key| {
        let (listed, total) =
            (reader.rows(key).len(), number(&reader.facts[format!("{key}_total")])?);
        let more = u64::try_from(listed).is_ok_and(|listed| listed > total);
        more.then(|| format!("{key} has {listed} rows and {key}_total is {total}"))
    })
}

/// A run in the sandbox alone has no further files, and any other run has some.
fn backend_detail_of_other_backend(reader: &FactReader<'_>) -> Option<String> {
    let (name, detail) = (reader.text("backend"), &reader.facts["backend_detail"]);
    if detail.is_null() {
        let lacks = reader.ran() == Some(true) && !name.is_empty() && name != CONFINED;
        return lacks.then(|| format!("it ran in backend {name}, and its files are not stated"));
    }
    let stated = detail["name"].as_str().unwrap_or_default();
    if stated != name {
        return Some(format!("backend is {name} and backend_detail is of {stated}"));
    }
    let is_machine = detail["kind"] == BackendKind::Microvm.as_str();
    if is_machine != detail["machine"].is_object() {
        return Some("backend_detail has a machine only if its kind is microvm".to_owned());
    }
    if name == CONFINED || detail["kind"] == BackendKind::Sandbox.as_str() {
        return Some(format!("backend is {name} and backend_detail is not of a further backend"));
    }
    let mut files = detail["files"].as_array().into_iter().flatten();
    let has_program = files.any(|file| file["role"] == PROGRAM_ROLE);
    (!has_program).then(|| format!("backend is {name} and no file has the role {PROGRAM_ROLE}"))
}

fn time_in_id(id: &ResultId) -> Option<UtcTime> {
    let text = id.as_str().get("TS-".len().."TS-YYYYMMDD-HHMMSSZ".len())?;
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let date = [part(0, 4), part(4, 6), part(6, 8)].join("-");
    let time = [part(9, 11), part(11, 13), part(13, 15)].join(":");
    format!("{date}T{time}Z").parse().ok()
}
