//! The digest of a request's effect, without its approval. Different effects never share it.

use std::collections::BTreeMap;

use model::Sha256;
use serde::Serialize;
use serde_json::Value;

use super::model::{RequestParts, Work};
use crate::outputs;

/// The members of the JSON object, in code point order.
#[derive(Serialize)]
struct IntentFields<'a> {
    argv: &'a [String],
    // Code is not in argv. Without these members, two programs would share a digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code_inputs: Option<Value>,
    // The digest alone: it decides what runs, and the name is for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    hosts: Vec<String>,
    inputs: BTreeMap<&'a str, String>,
    limits: IntentLimits,
    network: &'static str,
    outputs: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<IntentPatch<'a>>,
    request_id: &'a str,
}

#[derive(Serialize)]
struct IntentLimits {
    cpu_limit: String,
    memory_limit_mb: u64,
    time_limit_sec: u64,
}

#[derive(Serialize)]
struct IntentPatch<'a> {
    folder: &'a str,
    path: &'a str,
}

/// Returns the SHA-256 of the compact JSON of argv, hosts, inputs, limits, network, outputs and
/// request_id, for code also code and code_inputs, with an environment also its digest, with a
/// patch also its path and folder, in code point order; sets are sorted.
pub(crate) fn digest(parts: &RequestParts) -> Sha256 {
    let mut hosts: Vec<String> = parts.network.hosts().iter().map(ToString::to_string).collect();
    hosts.sort();
    let mut outputs: Vec<&str> = parts.outputs_expected.iter().map(|it| it.path()).collect();
    outputs.sort_unstable();
    let (argv, code) = match &parts.work {
        Work::Command { argv, .. } => (argv.as_slice(), None),
        Work::Code(code) => (&[][..], Some(code)),
    };
    let code_inputs = code.map(|code| {
        let mut inputs = Value::Object(code.inputs().clone());
        // The map keeps insertion order if another crate enables that feature of serde_json.
        inputs.sort_all_objects();
        inputs
    });
    let intent = IntentFields {
        argv,
        code: code.map(|code| code.text()),
        code_inputs,
        environment: parts.environment.as_ref().map(|it| it.sha256.to_string()),
        hosts,
        inputs: parts.inputs.iter().map(|it| (it.name(), it.sha256().to_string())).collect(),
        limits: IntentLimits {
            cpu_limit: parts.cpu.to_string(),
            memory_limit_mb: parts.memory_limit_mb,
            time_limit_sec: parts.time_limit_sec,
        },
        network: parts.network.as_str(),
        outputs,
        patch: outputs::patch(&parts.outputs_expected)
            .map(|patch| IntentPatch { folder: patch.folder, path: patch.path }),
        request_id: parts.id.as_str(),
    };
    // Serialization cannot fail: keys are text, and numbers are whole or were JSON before. Even if
    // it did, two requests would not share a digest.
    let bytes = serde_json::to_vec(&intent).unwrap_or_else(|_| parts.id.as_str().into());
    Sha256::of(&bytes)
}
