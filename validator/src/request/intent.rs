//! The intent digest: what a request means to do, without who approved it and when. Two requests
//! that would do different things must never share it.

use std::collections::BTreeMap;

use model::Sha256;
use serde::Serialize;
use serde_json::Value;

use super::model::{Parts, Work};

/// The members in code point order, as they are written.
#[derive(Serialize)]
struct Intent<'a> {
    argv: &'a [String],
    // Code is not in argv; without these members two programs would share a digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code_inputs: Option<Value>,
    hosts: Vec<String>,
    inputs: BTreeMap<&'a str, String>,
    limits: Limits,
    network: &'static str,
    outputs: Vec<&'a str>,
    request_id: &'a str,
}

#[derive(Serialize)]
struct Limits {
    cpu_limit: String,
    memory_limit_mb: u64,
    time_limit_sec: u64,
}

/// SHA-256 of the compact JSON object of argv, hosts, inputs, limits, network, outputs and
/// request_id, and of code and code_inputs where the work is code; keys in code point order. Hosts
/// and outputs are sets and so are sorted.
pub(crate) fn digest(parts: &Parts) -> Sha256 {
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
        // The map may keep insertion order if another crate asks serde_json for that.
        inputs.sort_all_objects();
        inputs
    });
    let intent = Intent {
        argv,
        code: code.map(|code| code.text()),
        code_inputs,
        hosts,
        inputs: parts.inputs.iter().map(|it| (it.name(), it.sha256().to_string())).collect(),
        limits: Limits {
            cpu_limit: parts.cpu.to_string(),
            memory_limit_mb: parts.memory_limit_mb,
            time_limit_sec: parts.time_limit_sec,
        },
        network: parts.network.as_str(),
        outputs,
        request_id: parts.id.as_str(),
    };
    // Nothing here can fail to be JSON: keys are text, and numbers are whole or were JSON before.
    // Were it otherwise, two requests would still not share a digest.
    let bytes = serde_json::to_vec(&intent).unwrap_or_else(|_| parts.id.as_str().into());
    Sha256::of(&bytes)
}
