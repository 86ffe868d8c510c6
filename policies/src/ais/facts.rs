//! The facts about the request and the host that a bundle must match. They must come from verified
//! data that the run will use, never from the bundle.

use std::collections::BTreeMap;

use model::{Language, Sha256};
use serde_json::{Map, Value, json};
use validator::{HostPort, Request};

/// A request, as the guard sees it.
#[derive(Clone, Debug)]
pub struct RequestFacts {
    /// `toolexec.run.<language>`
    pub tool: String,
    /// The exact arguments of the step, as [`step_args`] makes them.
    pub args: Map<String, Value>,
    /// The hosts that the run may reach.
    pub hosts: Vec<HostPort>,
    /// The number of declared writes: its expected outputs.
    pub writes: u64,
    /// The declared classes of data, such as its sensitivity; may be empty.
    pub data_classes: Vec<String>,
}

impl RequestFacts {
    /// Returns the facts of a request, without data classes. The terms of a request (`public`,
    /// `internal`, `confidential`) differ from those of users' intents. A caller whose policy maps
    /// them adds them.
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

/// The digests in actual use, by name. An empty map is not compared.
#[derive(Clone, Default, Debug)]
pub struct EnvironmentDigests {
    /// `policy`: the bytes of the policy file; `seccomp`: the text of the filter.
    pub policies: BTreeMap<String, Sha256>,
    /// Our programs, by file name.
    pub guards: BTreeMap<String, Sha256>,
    /// The binaries that the run executes, by the name of their entry in the policy.
    pub runtimes: BTreeMap<String, Sha256>,
}

/// Returns the name of the tool in a plan's step, an operation and a permission.
#[must_use]
pub fn tool_name(language: Language) -> String {
    format!("toolexec.run.{}", language.as_str())
}

/// Returns the arguments of a step that does the same as the request: `{prompt, intent_sha256,
/// argv, inputs: {name: sha256}}`.
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
