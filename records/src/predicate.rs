//! The predicate as a JSON Schema, for whoever reads statements without this program. It is made of the
//! words that records are made of, and must never allow a key that no record has: a reader would
//! wait for it for ever.

use model::{LimitName, Mechanism, Mode, Outcome, RejectReason};
use policies::aana::{Gate, Route};
use policies::permissions::ToolAuthorizationState;
use policies::{GateMode, Verdict};
use serde_json::{Map, Value, json};
use validator::{JSON_INTEGER_MAX, NetworkAccess};

use crate::in_toto::PREDICATE_TYPE;

/// Keys that the records of earlier versions do not have.
const LATER: [&str; 3] = ["ais", "gate", "permission"];

/// The predicate of type [`PREDICATE_TYPE`] as JSON Schema (draft 2020-12).
#[must_use]
pub fn predicate_schema() -> Value {
    let fields: Vec<(&str, Value, &str)> =
        [upstream(), provenance(), decisions(), run()].into_iter().flatten().collect();
    let keys = fields.iter().map(|(key, ..)| *key);
    let required: Vec<&str> = keys.filter(|key| !LATER.contains(key)).collect();
    let mut properties = Map::new();
    for (key, mut value, meaning) in fields.clone() {
        if let Some(object) = value.as_object_mut() {
            object.insert("description".to_owned(), meaning.into());
        }
        properties.insert(key.to_owned(), value);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": PREDICATE_TYPE,
        "title": "Tool result, predicate of an in-toto Statement v1",
        "description": "What the front matter of a tool result says, key by key. The subjects of \
            the statement are the files of the result directory, the Markdown first. `unknown` is \
            never zero; `null` is what was never there.",
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

type Fields = Vec<(&'static str, Value, &'static str)>;

fn upstream() -> Fields {
    let artifact = record(&[
        ("path", text()),
        ("sha256", sha256()),
        ("size_bytes", count()),
        ("mode", json!({ "type": "string", "pattern": "^[0-7]{4}$" })),
        ("declared", flag()),
    ]);
    vec![
        ("result_type", json!({ "const": "tool_result" }), "Upstream's word for this."),
        ("schema_version", json!({ "const": 1 }), "Upstream's version."),
        ("result_id", text(), "Also the name of the result directory."),
        ("created_utc", time(), "When the record was made."),
        ("request_id", text(), "The request's own id, or `unusable`."),
        ("executor", json!({ "const": "tool-exec" }), "The program that ran it."),
        ("backend", text(), "The lane it ran in."),
        (
            "exit_code",
            json!({ "type": "integer", "minimum": -1, "maximum": 255 }),
            "The tool's own; 128+n after signal n; -1 where nothing ran or nobody knows.",
        ),
        ("runtime_sec", json!({ "type": "number", "minimum": 0 }), "Wall time in seconds."),
        ("network_used", words(NetworkAccess::TEXTS), "Whether hosts were granted."),
        ("network_destinations", list(text()), "Hosts that were, or may have been, reached."),
        ("artifacts", list(artifact), "Files that the tool left and that were kept."),
        ("stdout_sha256", sha256(), "Of the kept bytes."),
        ("stderr_sha256", sha256(), "Of the kept bytes."),
    ]
}

fn provenance() -> Fields {
    let input = record(&[("name", text()), ("sha256", sha256())]);
    let touch = record(&[("user_verified", flag()), ("counter", count())]);
    let approval = record(&[("principal", text()), ("key", text()), ("touch", or_null(touch))]);
    vec![
        ("outcome", words(Outcome::TEXTS), "How it ended."),
        ("reason", or_null(text()), "Why it was refused, not set up, or is indeterminate."),
        ("executor_version", text(), "Of the program."),
        (
            "replay_of",
            or_null(record(&[("result_id", text()), ("record_sha256", sha256())])),
            "The record whose run was done again; null in the record of a request's own run.",
        ),
        ("request_sha256", sha256(), "Of the exact bytes of the request."),
        ("request_file", text(), "The request's name where it was found."),
        ("intent_sha256", or_null(sha256()), "Of what the request asks for."),
        ("inputs", list(input), "Files that the tool was given."),
        ("approval", text(), "What the approval was worth."),
        (
            "approvals",
            list(approval),
            "Verified approvals: who, by which key, and what a security key said of it.",
        ),
        ("argv", list(text()), "The command, word by word, from its beginning."),
        ("argv_total", count(), "How many words it has."),
        ("constraints_stated", list(text()), "Constraints that were stated, not enforced."),
        ("constraints_stated_total", count(), "How many there are."),
    ]
}

fn decisions() -> Fields {
    let rule = record(&[("rule", text()), ("verdict", words(Verdict::TEXTS)), ("reason", text())]);
    let violation =
        record(&[("code", text()), ("severity", text()), ("message", text()), ("line", count())]);
    let policy = record(&[("name", text()), ("sha256", sha256())]);
    vec![
        ("policy", policy, "The policy that decided."),
        ("rules", list(rule), "What each of its rules said, and why: also which said no."),
        ("violations", list(violation), "What the request's check found, from its beginning."),
        ("violations_total", count(), "How much it found."),
        (
            "gate",
            or_null(known(gate())),
            "What the AANA gate said; null where there was no call to judge, unknown after a crash.",
        ),
        (
            "permission",
            or_null(known(permission())),
            "What people answered of the agent and the tool; null where policy asks for none, \
             unknown after a crash.",
        ),
        (
            "ais",
            or_null(known(ais())),
            "What the AIS guard said of the bundle; null where it was not asked, unknown after a crash.",
        ),
    ]
}

fn permission() -> Value {
    record(&[
        ("agent", text()),
        ("subject", text()),
        ("accesscontrol", or_null(text())),
        ("tool", text()),
        ("state", words(ToolAuthorizationState::TEXTS)),
        ("reason", text()),
    ])
}

fn ais() -> Value {
    let said = || or_null(text());
    record(&[
        ("verdict", words(&["accept", "refuse"])),
        ("code", said()),
        ("uia", said()),
        ("apa", said()),
        ("apr", said()),
        ("tca", said()),
        ("ibe", said()),
        ("step", said()),
        ("nonce", said()),
        ("exp", said()),
        ("crl_issued", said()),
        ("crl_expires", said()),
        ("answer", answer()),
    ])
}

/// The whole answer as one line of JSON, and its digest; `json` is null where it has no room.
fn answer() -> Value {
    record(&[("json", or_null(text())), ("sha256", sha256())])
}

fn gate() -> Value {
    let route = || words(Route::TEXTS);
    record(&[
        ("mode", words(GateMode::TEXTS)),
        ("gate_decision", words(Gate::TEXTS)),
        ("recommended_action", route()),
        ("aana_route", or_null(route())),
        ("runtime_recommended_route", or_null(route())),
        ("aix_score", json!({ "type": "number", "minimum": 0 })),
        ("hard_blockers", list(text())),
        ("reasons", list(text())),
        ("answer", answer()),
    ])
}

fn run() -> Fields {
    let limit = record(&[
        ("name", words(LimitName::TEXTS)),
        ("mechanism", words(Mechanism::TEXTS)),
        ("asked", count()),
        ("in_force", count()),
    ]);
    let stream = || record(&[("kept_bytes", count()), ("produced_bytes", known(count()))]);
    let rejected = record(&[("path", text()), ("reason", words(RejectReason::TEXTS))]);
    let mut file = record(&[("path", text()), ("sha256", sha256()), ("size_bytes", count())]);
    file["properties"]["name"] = text();
    vec![
        ("started_utc", or_null(time()), "When the tool was started."),
        ("ended_utc", or_null(time()), "When it had ended."),
        ("limits", list(limit), "What was asked, and what was read back from the kernel."),
        ("confinement", or_null(confinement()), "Every layer that was really in force."),
        ("accounting", or_null(accounting()), "What the run used."),
        ("denials", or_null(known(denials())), "What the tool tried and was denied."),
        ("network", or_null(known(network())), "What the egress proxy saw."),
        ("streams", record(&[("stdout", stream()), ("stderr", stream())]), "Bytes of each."),
        ("rejected", list(rejected), "Objects in /out that were not kept, and why."),
        ("rejected_total", count(), "How many there were."),
        ("missing", list(text()), "Files that the request expects and the run did not leave."),
        ("collection_complete", or_null(flag()), "Whether all of /out was looked at."),
        ("files", list(file), "Files of the request, and their names where they were found."),
    ]
}

fn confinement() -> Value {
    let mask = || json!({ "type": "string", "pattern": "^[0-9a-f]{16}$" });
    let namespace = record(&[("kind", text()), ("inode", count())]);
    record(&[
        ("mode", words(Mode::TEXTS)),
        ("uid", count()),
        ("groups", list(count())),
        ("namespaces", list(namespace)),
        ("landlock", record(&[("abi", count()), ("handled", list(text()))])),
        ("seccomp", record(&[("mode", count()), ("sha256", list(sha256()))])),
        ("no_new_privs", flag()),
        (
            "capabilities",
            record(&[
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
        counted.into_iter().map(|key| (key, known(count()))).collect();
    fields.push(("memory_peak_sampled", known(flag())));
    record(&fields)
}

fn denials() -> Value {
    let unseen = || json!({ "const": "not observable" });
    record(&[
        ("calls", list(record(&[("name", text()), ("count", count())]))),
        ("violation", or_null(text())),
        ("files", unseen()),
        ("landlock", unseen()),
    ])
}

fn network() -> Value {
    let host = record(&[
        ("host", text()),
        ("addresses", list(text())),
        ("connections", count()),
        ("bytes_out", count()),
        ("bytes_in", count()),
    ]);
    let refusal = record(&[("asked", text()), ("reason", text()), ("times", count())]);
    record(&[
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

fn words(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn known(value: Value) -> Value {
    json!({ "anyOf": [value, { "const": "unknown" }] })
}

fn or_null(value: Value) -> Value {
    json!({ "anyOf": [value, { "type": "null" }] })
}

fn record(fields: &[(&str, Value)]) -> Value {
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
