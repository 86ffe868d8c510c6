//! The host's assertion about its own tools. It must never promise an operation without a runtime
//! in the policy, nor a host that the policy does not offer.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::facts::tool_name;
use crate::policy::Policy;

/// The maximum number of files that a run keeps.
const WRITES_MAX: u64 = 1000;

/// The part of the assertion that does not come from the policy.
#[derive(Clone, Copy, Debug)]
pub struct HostClaim<'a> {
    /// The operator of the host, by a stable identifier.
    pub operator: &'a str,
    /// The version in `urn:tca:toolexec.run@<version>`.
    pub version: &'a str,
    /// The classes of data that runs may use, in the terms of users' intents.
    pub data_classes: &'a [String],
}

/// Returns the host's unsigned tool assertion. It has one operation for each language with a
/// runtime in the policy. The arguments are those of [`super::step_args`].
#[must_use]
pub fn host_tca(policy: &Policy, claim: &HostClaim<'_>) -> Map<String, Value> {
    let names: BTreeSet<String> = policy.runtimes().map(|it| tool_name(it.language())).collect();
    let destinations: Vec<String> = policy.rules.network.offered().collect();
    let operations: Vec<Value> = names
        .into_iter()
        .map(|name| {
            json!({
                "name": name,
                "argsSchema": args_schema(),
                "effects": {
                    "writes": [0, WRITES_MAX],
                    "dataClasses": claim.data_classes,
                    "destinations": destinations,
                },
            })
        })
        .collect();
    let tca = json!({
        "@type": "TCA",
        "id": format!("urn:tca:toolexec.run@{}", claim.version),
        "operations": operations,
        "operator": claim.operator,
        "proof": {},
    });
    match tca {
        Value::Object(tca) => tca,
        _ => Map::new(),
    }
}

fn args_schema() -> Value {
    let digest = json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["prompt", "intent_sha256", "argv", "inputs"],
        "properties": {
            "prompt": { "type": "string", "minLength": 1 },
            "intent_sha256": digest,
            "argv": { "type": "array", "items": { "type": "string" } },
            "inputs": { "type": "object", "additionalProperties": digest },
        },
        "additionalProperties": false,
    })
}
