//! The front matter of a request as a JSON Schema, for editors. Generated from the same lists as
//! the check, it must never replace it: it sees one value at a time, no real dates and no sections.

use model::{Language, SLUG_MAX, has_deceptive};
use serde_json::{Map, Value, json};

use crate::declarations::{COMPONENT_BYTES_MAX, COMPONENTS_MAX};
use crate::limits::{CORES_MAX, MEMORY_MIB_MAX, TIME_SEC_MAX};
use crate::network::NetworkAccess;
use crate::outputs::PATCH_OF;
use crate::request::{Backend, Constraint, RequestedBy};
use crate::request_key::RequestKey;

pub(crate) const DATE: &str = "(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])";
pub(crate) const TIME: &str = "([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]";
pub(crate) const STAMP: &str = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\
                     T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$";

/// Returns the front matter of an approved request as JSON Schema (draft 2020-12), with YAML read
/// as JSON. It accepts every text that [`crate::Draft::check`] accepts, except a digest of 64
/// decimal digits without quotes, which JSON reads as a number. It cannot express real dates,
/// relations between two values, or the meaning of a sentence.
#[must_use]
pub fn front_matter_schema() -> Value {
    let sentence = json!({ "$ref": "#/$defs/sentence" });
    let mut properties = Map::new();
    for &key in RequestKey::ALL {
        let value = described(value_of(key, &sentence), key.meaning());
        properties.insert(key.as_str().to_owned(), value);
    }
    properties.extend(extensions(&sentence));
    let required = RequestKey::ALL.iter().filter(|key| !key.is_optional());
    let required: Vec<&str> = required.map(|key| key.as_str()).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:threegate:tool-request:1",
        "title": "Tool request, front matter",
        "description": "The YAML between the two `---` lines of a tool request. An editor with \
            yaml-language-server uses it after a first line `# yaml-language-server: \
            $schema=<this file>`. `toolexec lint` decides.",
        "type": "object",
        "required": required,
        "properties": properties,
        "patternProperties": { "^x-.": {} },
        "additionalProperties": false,
        "$defs": { "sentence": sentence_schema() },
        "if": {
            "required": ["network"],
            "properties": { "network": { "const": NetworkAccess::Allowlist.as_str() } },
        },
        "then": {
            "required": ["network_allowlist"],
            "properties": { "network_allowlist": { "minItems": 1 } },
        },
        "else": { "properties": { "network_allowlist": { "maxItems": 0 } } },
    })
}

fn value_of(key: RequestKey, sentence: &Value) -> Value {
    match key {
        RequestKey::RequestType => json!({ "const": "tool_request" }),
        RequestKey::SchemaVersion => json!({ "enum": [1, "1"] }),
        RequestKey::RequestId => {
            let slug = format!("[A-Za-z0-9_-]{{1,{SLUG_MAX}}}");
            text(&format!("^TR-[0-9]{{4}}{DATE}-{TIME}Z-{slug}$"))
        }
        RequestKey::CreatedUtc | RequestKey::ApprovedUtc => text(STAMP),
        RequestKey::RequestedBy => one_of(RequestedBy::TEXTS),
        RequestKey::Language => one_of(Language::TEXTS),
        RequestKey::Network => json!({
            "enum": NetworkAccess::TEXTS,
            "default": NetworkAccess::None.as_str(),
        }),
        RequestKey::NetworkAllowlist => list(text(&host())),
        RequestKey::CpuLimit => cores(),
        RequestKey::MemoryLimitMb => whole(MEMORY_MIB_MAX),
        RequestKey::TimeLimitSec => whole(TIME_SEC_MAX),
        RequestKey::Inputs => {
            list(record(&[("name", input_name()), ("sha256", text("^[0-9A-Fa-f]{64}$"))]))
        }
        RequestKey::OutputsExpected => list(output()),
        RequestKey::Constraints => {
            list(json!({ "allOf": [sentence], "examples": Constraint::SEED }))
        }
        RequestKey::Backend => one_of(Backend::TEXTS),
        RequestKey::ApprovedBy | RequestKey::Purpose => sentence.clone(),
    }
}

fn extensions(sentence: &Value) -> Map<String, Value> {
    let agent = json!({
        "type": "object",
        "required": ["name", "subject"],
        "properties": {
            "name": sentence,
            "subject": sentence,
            "accesscontrol": { "anyOf": [{ "type": "null" }, sentence] },
        },
        "additionalProperties": false,
    });
    [
        ("x-requester", sentence.clone(), "The requester, as stated in the request."),
        ("x-agent", agent, "The agent, as stated in the request."),
        ("x-audience", sentence.clone(), "The host that the request is for."),
        (
            "x-standing",
            text("^SA-[0-9]{8}-[0-9]{6}Z-[A-Za-z0-9_-]{1,64}@sha256:[0-9a-f]{64}$"),
            "The standing approval that the request uses, with the digest of its file.",
        ),
        (
            "x-environment",
            environment(),
            "The environment with the libraries and programs of the run, with its digest.",
        ),
    ]
    .map(|(key, value, meaning)| (key.to_owned(), described(value, meaning)))
    .into_iter()
    .collect()
}

pub(crate) fn described(mut value: Value, meaning: &str) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.insert("description".to_owned(), meaning.into());
    }
    value
}

/// Returns the schema of a number of cores.
pub(crate) fn cores() -> Value {
    json!({ "anyOf": [
        {
            "type": "string",
            "pattern": "^[0-9]{1,6}(\\.[0-9]{1,3})?$",
            "not": { "pattern": "^0+(\\.0+)?$" },
        },
        { "type": "number", "minimum": 0.001, "exclusiveMaximum": CORES_MAX + 1 },
    ]})
}

/// Returns the schema of a reference to an environment.
pub(crate) fn environment() -> Value {
    text("^[a-z0-9][a-z0-9-]{0,39}@sha256:[0-9a-f]{64}$")
}

pub(crate) fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

pub(crate) fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

pub(crate) fn whole(most: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most })
}

pub(crate) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

pub(crate) fn record(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    json!({
        "type": "object",
        "required": names,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// Returns the schema of the name of an input. That of a folder ends with `/`.
pub(crate) fn input_name() -> Value {
    text(&format!("^{}/?$", path()))
}

/// Returns the schema of an expected output.
pub(crate) fn output() -> Value {
    let folder = described(
        text(&format!("^{}/$", path())),
        "The folder input whose changes TOOL-EXEC writes to this file.",
    );
    let mut output = record(&[
        ("path", text(&format!("^(/out/)?{}$", path()))),
        ("description", json!({ "type": "string" })),
    ]);
    if let Some(properties) = output.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(PATCH_OF.to_owned(), folder);
    }
    output
}

/// Returns the pattern of a path of an input or below /out.
fn path() -> String {
    let component = format!("[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{}}}", COMPONENT_BYTES_MAX - 1);
    format!("{component}(/{component}){{0,{}}}", COMPONENTS_MAX - 1)
}

/// Returns the pattern of a host name (last label begins with a letter) or IPv4 address, with port.
pub(crate) fn host() -> String {
    let label = |first: &str| format!("{first}([A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?");
    let name = format!("({}\\.)*{}", label("[A-Za-z0-9]"), label("[A-Za-z]"));
    let octet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    let port = "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|\
                [1-9][0-9]{0,3})";
    format!("^({name}|{octet}(\\.{octet}){{3}})(:{port})?$")
}

/// Returns the schema of a non-empty line without the characters that the check refuses.
pub(crate) fn sentence_schema() -> Value {
    let tricks = deceptive_class();
    text(&format!("^[^{tricks}]*[^\\s{tricks}][^{tricks}]*$"))
}

/// Returns the inside of a class with every control, direction and invisible character.
fn deceptive_class() -> String {
    let mut class = String::new();
    let mut open: Option<(char, char)> = None;
    for c in '\0'..=char::MAX {
        if !has_deceptive(c.encode_utf8(&mut [0; 4])) {
            continue;
        }
        open = match open {
            Some((first, last)) if u32::from(c) == u32::from(last) + 1 => Some((first, c)),
            _ => {
                push_range(&mut class, open);
                Some((c, c))
            }
        };
    }
    push_range(&mut class, open);
    class
}

fn push_range(class: &mut String, range: Option<(char, char)>) {
    let Some((first, last)) = range else { return };
    class.push_str(&escape(first));
    if first != last {
        class.push('-');
        class.push_str(&escape(last));
    }
}

/// Escapes a character as in ECMA-262, with the flag `u` beyond four digits.
fn escape(c: char) -> String {
    match u32::from(c) {
        code @ 0..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\u{{{code:x}}}"),
    }
}
