//! What is true of the request that a bundle is to be bound to, and of the host that would run it. All
//! of it must come from what was verified and will be used, never from the bundle.

use std::collections::BTreeMap;

use model::{Language, Sha256};
use serde_json::{Map, Value, json};
use validator::{HostPort, Request};

/// A request as the guard sees it.
#[derive(Clone, Debug)]
pub struct RequestFacts {
    /// `toolexec.run.<language>`
    pub tool: String,
    /// The arguments that the step must have, exactly; as [`step_args`] makes them.
    pub args: Map<String, Value>,
    /// The hosts that the run may reach.
    pub hosts: Vec<HostPort>,
    /// How much it declares to write: its expected outputs.
    pub writes: u64,
    /// The classes of data that it says to work with, such as its sensitivity; may be empty.
    pub data_classes: Vec<String>,
}

impl RequestFacts {
    /// What a request says of itself. No data class: the words of a request (`public`, `internal`,
    /// `confidential`) are not those of every user's intent; add them where policy maps them.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        Self {
            tool: tool_name(request.language()),
            args: step_args(request),
            hosts: request.network().hosts().to_vec(),
            writes: u64::try_from(request.outputs_expected().len()).unwrap_or(u64::MAX),
            data_classes: Vec::new(),
        }
    }
}

/// Digests of what is really used, by name; what is empty is not compared.
#[derive(Clone, Default, Debug)]
pub struct Supply {
    /// `policy`: the policy file's bytes; `seccomp`: the filter's text.
    pub policies: BTreeMap<String, Sha256>,
    /// Our programs, by file name.
    pub guards: BTreeMap<String, Sha256>,
    /// The binaries that the run executes, by the name of their entry in the policy.
    pub runtimes: BTreeMap<String, Sha256>,
}

/// The tool's name: of the plan's step, the operation, the permission.
#[must_use]
pub fn tool_name(language: Language) -> String {
    format!("toolexec.run.{}", language.as_str())
}

/// The arguments of a step that does what the request does:
/// `{prompt, intent_sha256, argv, inputs: {name: sha256}}`.
#[must_use]
pub fn step_args(request: &Request) -> Map<String, Value> {
    let inputs: Map<String, Value> = request
        .inputs()
        .iter()
        .map(|input| (input.name().to_owned(), Value::from(input.sha256().to_string())))
        .collect();
    let args = json!({
        "prompt": request.purpose(),
        "intent_sha256": request.intent_sha256().to_string(),
        "argv": request.argv(),
        "inputs": inputs,
    });
    match args {
        Value::Object(args) => args,
        _ => Map::new(),
    }
}
