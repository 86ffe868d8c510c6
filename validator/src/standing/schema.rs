//! The front matter of a standing approval as a JSON Schema, for editors. Generated from the same
//! list of keys as the check, it must never replace it: it compares no two values.

use model::{Language, SLUG_MAX};
use serde_json::{Map, Value, json};

use super::key::StandingKey;
use super::model::TextAlphabet;
use super::parameters::{CHARS_MAX, CHOICES_MAX};
use super::read::{BYTES_MAX, REQUEST_TYPE, USES_MAX};
use crate::json_schema::{
    DATE, STAMP, TIME, cores, described, environment, host, input_name, list, one_of, output,
    record, sentence_schema, text, whole,
};
use crate::limits::{MEMORY_MIB_MAX, TIME_SEC_MAX};
use crate::network::NetworkAccess;
use crate::request::Constraint;
use crate::risk::{RiskLevel, Sensitivity};

/// Returns the front matter of a standing approval as JSON Schema (draft 2020-12), with YAML read as
/// JSON. It accepts every text that [`super::StandingApproval::read`] accepts.
#[must_use]
pub fn standing_schema() -> Value {
    let mut properties = Map::new();
    for &key in StandingKey::ALL {
        properties.insert(key.as_str().to_owned(), described(value_of(key), key.meaning()));
    }
    let required = StandingKey::ALL.iter().filter(|key| !key.is_optional());
    let required: Vec<&str> = required.map(|key| key.as_str()).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:threegate:standing-approval:1",
        "title": "Standing approval, front matter",
        "description": "The YAML between the two `---` lines of a standing approval. `toolexec lint` \
            decides.",
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
        "$defs": { "sentence": sentence_schema() },
    })
}

fn value_of(key: StandingKey) -> Value {
    let sentence = json!({ "$ref": "#/$defs/sentence" });
    match key {
        StandingKey::RequestType => json!({ "const": REQUEST_TYPE }),
        StandingKey::SchemaVersion => json!({ "enum": [1, "1"] }),
        StandingKey::StandingId => {
            text(&format!("^SA-[0-9]{{4}}{DATE}-{TIME}Z-[A-Za-z0-9_-]{{1,{SLUG_MAX}}}$"))
        }
        StandingKey::CreatedUtc
        | StandingKey::ApprovedUtc
        | StandingKey::NotBeforeUtc
        | StandingKey::NotAfterUtc => text(STAMP),
        StandingKey::ApprovedBy | StandingKey::Purpose | StandingKey::Audience => sentence,
        StandingKey::Agents => {
            json!({ "type": "array", "items": sentence, "minItems": 1, "uniqueItems": true })
        }
        StandingKey::Subject => json!({ "anyOf": [{ "type": "null" }, sentence] }),
        StandingKey::UsesMax | StandingKey::UsesPerHourMax => whole(USES_MAX),
        StandingKey::Language => one_of(Language::TEXTS),
        StandingKey::Environment => json!({ "anyOf": [{ "type": "null" }, environment()] }),
        StandingKey::Network => one_of(NetworkAccess::TEXTS),
        StandingKey::NetworkAllowlist => list(text(&host())),
        StandingKey::CpuLimit => cores(),
        StandingKey::MemoryLimitMb => whole(MEMORY_MIB_MAX),
        StandingKey::TimeLimitSec => whole(TIME_SEC_MAX),
        StandingKey::InputsBytesMax => whole(BYTES_MAX),
        StandingKey::RunsCodeOfInputs => json!({ "type": "boolean" }),
        StandingKey::Inputs => list(json!({ "anyOf": [fixed(), slot()] })),
        StandingKey::Parameters => list(parameter()),
        StandingKey::OutputsExpected => list(output()),
        StandingKey::Risk => one_of(RiskLevel::TEXTS),
        StandingKey::Sensitivity => one_of(Sensitivity::TEXTS),
        StandingKey::Constraints => {
            list(json!({ "allOf": [sentence], "examples": Constraint::SEED }))
        }
        StandingKey::Examples => list(record(&[
            ("admitted", json!({ "type": "boolean" })),
            ("words", list(word())),
            ("files", list(json!({ "type": "string" }))),
        ])),
    }
}

/// Returns the schema of a word, which YAML may read as a number.
fn word() -> Value {
    json!({ "type": ["string", "number", "boolean", "null"] })
}

fn fixed() -> Value {
    let sha256 = text("^[0-9A-Fa-f]{64}$");
    record(&[("name", input_name()), ("sha256", sha256)])
}

fn slot() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    record(&[
        ("slot", json!({ "type": "string" })),
        ("name", json!({ "type": "string" })),
        ("kind", json!({ "const": "file" })),
        ("count", json!({ "type": "array", "items": count, "minItems": 2, "maxItems": 2 })),
        ("bytes_max", whole(BYTES_MAX)),
    ])
}

fn parameter() -> Value {
    let name = json!({ "type": "string" });
    let whole_number = json!({ "type": "integer" });
    let range = json!({ "type": "array", "items": whole_number, "minItems": 2, "maxItems": 2 });
    let choice =
        json!({ "type": "array", "items": word(), "minItems": 1, "maxItems": CHOICES_MAX });
    json!({ "anyOf": [
        record(&[("name", name.clone()), ("integer", range)]),
        record(&[("name", name.clone()), ("choice", choice)]),
        record(&[("name", name), ("text", one_of(TextAlphabet::TEXTS)), ("chars_max", whole(CHARS_MAX))]),
    ]})
}
