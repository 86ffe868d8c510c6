//! The intent digest: what a request means to do, without who approved it and when. Two requests
//! that would do different things must never share it.

use serde_json::{Map, Value, json};

use crate::digest::Sha256;
use crate::request::{Parts, Work};

/// SHA-256 of the compact JSON object of argv, hosts, inputs, limits, network, outputs and
/// request_id, keys in code point order. Hosts and outputs are sets and so are sorted.
pub(crate) fn digest(parts: &Parts) -> Sha256 {
    let mut hosts: Vec<String> = parts.network.hosts().iter().map(ToString::to_string).collect();
    hosts.sort();
    let mut outputs: Vec<&str> = parts.outputs_expected.iter().map(|it| it.path()).collect();
    outputs.sort_unstable();
    let mut inputs: Vec<(&str, String)> =
        parts.inputs.iter().map(|it| (it.name(), it.sha256().to_string())).collect();
    inputs.sort();
    let inputs = inputs.into_iter().map(|(name, digest)| (name.to_owned(), digest.into()));
    // Members are inserted in sorted order, for the map may keep insertion order if another crate
    // asks serde_json for that.
    let limits = [
        ("cpu_limit", json!(parts.cpu.to_string())),
        ("memory_limit_mb", json!(parts.memory_limit_mb)),
        ("time_limit_sec", json!(parts.time_limit_sec)),
    ];
    let argv: &[String] = match &parts.work {
        Work::Command { argv, .. } => argv,
        Work::Code(_) => &[],
    };
    let members = [
        ("argv", json!(argv)),
        ("hosts", json!(hosts)),
        ("inputs", Value::Object(inputs.collect())),
        ("limits", object(limits)),
        ("network", json!(parts.network.as_str())),
        ("outputs", json!(outputs)),
        ("request_id", json!(parts.id.as_str())),
    ];
    let mut all = object(members);
    // Code is no argv; without these members two programs would share a digest.
    if let Work::Code(code) = &parts.work {
        all["code"] = json!(code.text());
        all["code_inputs"] = json!(code.inputs());
        all.sort_all_objects();
    }
    Sha256::of(all.to_string().as_bytes())
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(Map::from_iter(members.map(|(key, value)| (key.to_owned(), value))))
}
