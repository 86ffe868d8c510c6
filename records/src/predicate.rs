//! The JSON Schema of the predicate, for readers of statements without this program. Generated from
//! the records' registries. It must never allow a key that no record has: readers would await it.

use model::{LauncherMode, LimitName, Mechanism, Outcome, RejectReason};
use policies::aana::{GateDecision, Route};
use policies::permissions::ToolAuthorizationState;
use policies::{BackendKind, GateMode, Verdict, VmAccelerator};
use serde_json::{Map, Value, json};
use validator::{JSON_INTEGER_MAX, NetworkAccess};

use crate::field::{
    ABSENT_IN_OLDER_RECORDS, DecisionField, ProvenanceField, RunField, UpstreamField,
};
use crate::guest_report::GuestEnding;
use crate::in_toto::PREDICATE_TYPE;

/// Returns the JSON Schema (draft 2020-12) of the predicate of type [`PREDICATE_TYPE`].
#[must_use]
pub fn predicate_schema() -> Value {
    let fields = fields();
    let keys = fields.iter().map(|(key, ..)| *key);
    let required: Vec<&str> = keys.filter(|key| !ABSENT_IN_OLDER_RECORDS.contains(key)).collect();
    let mut properties = Map::new();
    for (key, mut value, meaning) in fields {
        if let Some(object) = value.as_object_mut() {
            object.insert("description".to_owned(), meaning.into());
        }
        properties.insert(key.to_owned(), value);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": PREDICATE_TYPE,
        "title": "Tool result, predicate of an in-toto Statement v1",
        "description": "The facts in the front matter of a tool result. The subjects of the \
            statement are the files of the result directory, the Markdown first. `unknown` never \
            means zero; `null` is a value that never existed.",
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
        "$defs": {
            "count": {
                "description": "A whole number; one beyond 2^53-1, which JSON readers would \
                    round, is written as a string.",
                "anyOf": [
                    { "type": "integer", "minimum": 0, "maximum": JSON_INTEGER_MAX },
                    { "type": "string", "pattern": "^[0-9]{16,20}$" },
                ],
            },
            "sha256": { "type": "string", "pattern": "^[0-9a-f]{64}$" },
            "time": {
                "type": "string",
                "format": "date-time",
                "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
            },
        },
    })
}

fn fields() -> Vec<(&'static str, Value, &'static str)> {
    let upstream = UpstreamField::ALL.iter().map(|it| (it.as_str(), upstream(*it), it.meaning()));
    let provenance =
        ProvenanceField::ALL.iter().map(|it| (it.as_str(), provenance(*it), it.meaning()));
    let decisions = DecisionField::ALL.iter().map(|it| (it.as_str(), decision(*it), it.meaning()));
    let run = RunField::ALL.iter().map(|it| (it.as_str(), run(*it), it.meaning()));
    upstream.chain(provenance).chain(decisions).chain(run).collect()
}

fn upstream(field: UpstreamField) -> Value {
    let artifact = object(&[
        ("path", text()),
        ("sha256", sha256()),
        ("size_bytes", count()),
        ("mode", json!({ "type": "string", "pattern": "^[0-7]{4}$" })),
        ("declared", flag()),
    ]);
    match field {
        UpstreamField::ResultType => json!({ "const": "tool_result" }),
        UpstreamField::SchemaVersion => json!({ "const": 1 }),
        UpstreamField::ResultId | UpstreamField::RequestId | UpstreamField::Backend => text(),
        UpstreamField::CreatedUtc => time(),
        UpstreamField::Executor => json!({ "const": "tool-exec" }),
        UpstreamField::ExitCode => json!({ "type": "integer", "minimum": -1, "maximum": 255 }),
        UpstreamField::RuntimeSec => json!({ "type": "number", "minimum": 0 }),
        UpstreamField::NetworkUsed => one_of(NetworkAccess::TEXTS),
        UpstreamField::NetworkDestinations => list(text()),
        UpstreamField::Artifacts => list(artifact),
        UpstreamField::StdoutSha256 | UpstreamField::StderrSha256 => sha256(),
    }
}

fn provenance(field: ProvenanceField) -> Value {
    let input = object(&[("name", text()), ("sha256", sha256())]);
    let approval = object(&[("principal", text()), ("key", text()), ("touch", or_null(touch()))]);
    match field {
        ProvenanceField::Outcome => one_of(Outcome::TEXTS),
        ProvenanceField::Reason | ProvenanceField::Environment => or_null(text()),
        ProvenanceField::ExecutorVersion
        | ProvenanceField::RequestFile
        | ProvenanceField::Approval => text(),
        ProvenanceField::ReplayOf => {
            or_null(object(&[("result_id", text()), ("record_sha256", sha256())]))
        }
        ProvenanceField::RequestSha256 => sha256(),
        ProvenanceField::IntentSha256 => or_null(sha256()),
        ProvenanceField::Inputs => list(input),
        ProvenanceField::Approvals => list(approval),
        ProvenanceField::Standing => or_null(standing()),
        ProvenanceField::BackendDetail => backend_detail(),
        ProvenanceField::Argv | ProvenanceField::ConstraintsStated => list(text()),
        ProvenanceField::ArgvTotal | ProvenanceField::ConstraintsStatedTotal => count(),
    }
}

fn touch() -> Value {
    let mut touch = object(&[("user_verified", flag()), ("counter", count())]);
    touch["properties"]["webauthn"] = object(&[
        ("rp_id", text()),
        ("origin", text()),
        ("backup_eligible", flag()),
        ("backed_up", flag()),
    ]);
    touch
}

fn backend_detail() -> Value {
    let file = object(&[("role", text()), ("sha256", sha256())]);
    let mut detail =
        object(&[("name", text()), ("kind", one_of(BackendKind::TEXTS)), ("files", list(file))]);
    detail["properties"]["machine"] = machine();
    detail
}

fn machine() -> Value {
    object(&[
        ("accelerator", one_of(VmAccelerator::TEXTS)),
        ("root", text()),
        ("guest_memory_mb", count()),
        ("time_ms_max", count()),
        ("start_ms_max", count()),
        ("status_from", one_of(&["guest"])),
        ("ending", or_null(one_of(GuestEnding::TEXTS))),
        ("guest_kernel", or_null(text())),
        ("boot_ms", or_null(count())),
        ("tool_ms", or_null(count())),
        ("oom_kills", or_null(count())),
        ("pids_refused", or_null(count())),
    ])
}

fn standing() -> Value {
    let parameter = object(&[("name", text()), ("value", text())]);
    let input = object(&[("name", text()), ("size_bytes", count())]);
    object(&[
        ("id", text()),
        ("sha256", sha256()),
        ("use", or_null(count())),
        ("uses_max", count()),
        ("parameters", list(parameter)),
        ("inputs", or_unknown(list(input))),
    ])
}

fn decision(field: DecisionField) -> Value {
    let rule = object(&[("rule", text()), ("verdict", one_of(Verdict::TEXTS)), ("reason", text())]);
    let violation =
        object(&[("code", text()), ("severity", text()), ("message", text()), ("line", count())]);
    let policy = object(&[("name", text()), ("sha256", sha256())]);
    match field {
        DecisionField::Policy => policy,
        DecisionField::Rules => list(rule),
        DecisionField::Violations => list(violation),
        DecisionField::ViolationsTotal => count(),
        DecisionField::Gate => or_null(or_unknown(gate())),
        DecisionField::Permission => or_null(or_unknown(permission())),
        DecisionField::Ais => or_null(or_unknown(ais())),
    }
}

fn permission() -> Value {
    object(&[
        ("agent", text()),
        ("subject", text()),
        ("accesscontrol", or_null(text())),
        ("tool", text()),
        ("state", one_of(ToolAuthorizationState::TEXTS)),
        ("reason", text()),
    ])
}

fn ais() -> Value {
    let nullable = || or_null(text());
    object(&[
        ("verdict", one_of(&["accept", "refuse"])),
        ("code", nullable()),
        ("uia", nullable()),
        ("apa", nullable()),
        ("apr", nullable()),
        ("tca", nullable()),
        ("ibe", nullable()),
        ("step", nullable()),
        ("nonce", nullable()),
        ("exp", nullable()),
        ("crl_issued", nullable()),
        ("crl_expires", nullable()),
        ("answer", answer()),
    ])
}

/// The whole answer as one line of JSON, and its digest. `json` is null if the answer is too long.
fn answer() -> Value {
    object(&[("json", or_null(text())), ("sha256", sha256())])
}

fn gate() -> Value {
    let route = || one_of(Route::TEXTS);
    object(&[
        ("mode", one_of(GateMode::TEXTS)),
        ("gate_decision", one_of(GateDecision::TEXTS)),
        ("recommended_action", route()),
        ("aana_route", or_null(route())),
        ("runtime_recommended_route", or_null(route())),
        ("aix_score", json!({ "type": "number", "minimum": 0 })),
        ("hard_blockers", list(text())),
        ("reasons", list(text())),
        ("answer", answer()),
    ])
}

fn run(field: RunField) -> Value {
    let limit = object(&[
        ("name", one_of(LimitName::TEXTS)),
        ("mechanism", one_of(Mechanism::TEXTS)),
        ("asked", count()),
        ("in_force", count()),
    ]);
    let stream = || object(&[("kept_bytes", count()), ("produced_bytes", or_unknown(count()))]);
    let rejected = object(&[("path", text()), ("reason", one_of(RejectReason::TEXTS))]);
    let mut file = object(&[("path", text()), ("sha256", sha256()), ("size_bytes", count())]);
    file["properties"]["name"] = text();
    match field {
        RunField::StartedUtc | RunField::EndedUtc => or_null(time()),
        RunField::Limits => list(limit),
        RunField::Confinement => or_null(confinement()),
        RunField::Accounting => or_null(accounting()),
        RunField::Denials => or_null(or_unknown(denials())),
        RunField::Network => or_null(or_unknown(network())),
        RunField::Streams => object(&[("stdout", stream()), ("stderr", stream())]),
        RunField::Rejected => list(rejected),
        RunField::RejectedTotal => count(),
        RunField::Missing => list(text()),
        RunField::CollectionComplete => or_null(flag()),
        RunField::Files => list(file),
    }
}

fn confinement() -> Value {
    let mask = || json!({ "type": "string", "pattern": "^[0-9a-f]{16}$" });
    let namespace = object(&[("kind", text()), ("inode", count())]);
    object(&[
        ("mode", one_of(LauncherMode::TEXTS)),
        ("uid", count()),
        ("groups", list(count())),
        ("namespaces", list(namespace)),
        ("landlock", object(&[("abi", count()), ("handled", list(text()))])),
        ("seccomp", object(&[("mode", count()), ("sha256", list(sha256()))])),
        ("no_new_privs", flag()),
        (
            "capabilities",
            object(&[
                ("inheritable", mask()),
                ("permitted", mask()),
                ("effective", mask()),
                ("bounding", mask()),
                ("ambient", mask()),
            ]),
        ),
        ("mounts_sha256", sha256()),
        ("degraded", list(text())),
    ])
}

fn accounting() -> Value {
    let counted = [
        "wall_us",
        "cpu_user_us",
        "cpu_system_us",
        "memory_peak_bytes",
        "oom_kills",
        "pids_peak",
        "pids_refused",
        "switches_voluntary",
        "switches_forced",
        "blocks_in",
        "blocks_out",
        "out_bytes",
    ];
    let mut fields: Vec<(&str, Value)> =
        counted.into_iter().map(|key| (key, or_unknown(count()))).collect();
    fields.push(("memory_peak_sampled", or_unknown(flag())));
    object(&fields)
}

fn denials() -> Value {
    let unseen = || json!({ "const": "not observable" });
    object(&[
        ("calls", list(object(&[("name", text()), ("count", count())]))),
        ("violation", or_null(text())),
        ("files", unseen()),
        ("landlock", unseen()),
    ])
}

fn network() -> Value {
    let host = object(&[
        ("host", text()),
        ("addresses", list(text())),
        ("connections", count()),
        ("bytes_out", count()),
        ("bytes_in", count()),
    ]);
    let refusal = object(&[("asked", text()), ("reason", text()), ("times", count())]);
    object(&[
        ("proxy_confined_by", text()),
        ("hosts", list(host)),
        ("refusals", list(refusal)),
        ("refusals_left_out", count()),
    ])
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "$ref": "#/$defs/count" })
}

fn sha256() -> Value {
    json!({ "$ref": "#/$defs/sha256" })
}

fn time() -> Value {
    json!({ "$ref": "#/$defs/time" })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn or_unknown(value: Value) -> Value {
    json!({ "anyOf": [value, { "const": "unknown" }] })
}

fn or_null(value: Value) -> Value {
    json!({ "anyOf": [value, { "type": "null" }] })
}

fn object(fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(key, _)| *key).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}
