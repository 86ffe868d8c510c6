//! The contract of permission requests: names, version, schema, and request data (seed 003,
//! `contract`). It has exactly the members of the seed. The data that ties an answer to its request
//! is next to the contract's data, never inside it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::PermissionCalls;
use super::name::{PermissionSource, ToolName};

/// The contract's version.
pub const CONTRACT_VERSION: &str = "1.0.0";
/// The type of the event that asks.
pub const REQUEST_TYPE: &str = "arvo.default.simple.permission.request";
/// The type of the event that answers.
pub const ANSWER_TYPE: &str = "evt.arvo.default.simple.permission.request.success";
/// The contract as a JSON Schema, draft 2020-12.
pub const CONTRACT_SCHEMA: &str = include_str!("contract-1.0.0.schema.json");

/// One version of a contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contract {
    /// The URI by which both sides know it.
    pub uri: &'static str,
    /// The version of the contract, as both events state it.
    pub version: &'static str,
    /// The type of the event that it accepts.
    pub accepts: &'static str,
    /// The type of the event that it emits.
    pub emits: &'static str,
    /// The JSON Schema of both.
    pub schema: &'static str,
}

/// The contract of both implementations.
pub const CONTRACT: Contract = Contract {
    uri: "#/arvo/tools/default/agentic/permission/simple",
    version: CONTRACT_VERSION,
    accepts: REQUEST_TYPE,
    emits: ANSWER_TYPE,
    schema: CONTRACT_SCHEMA,
};

/// The visibility of the calls' inputs in a permission request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShownInputs {
    /// The inputs of every call.
    Whole,
    /// `requests` is null.
    Withheld,
}

/// The data of a permission request: the contract's `accepts` data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RequestData {
    /// The name of the agent, as in the source.
    pub agent_id: String,
    /// The tools, by the names that agents use.
    pub requested_tools: Vec<ToolName>,
    /// A sentence for the person who answers: `<agent> asks to call <tools>`.
    pub reason: String,
    /// Further data about each tool.
    pub tool_meta_data: BTreeMap<ToolName, ToolMetaData>,
}

/// Further data about one tool.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ToolMetaData {
    /// The name that agents use.
    pub name: ToolName,
    /// The tool's own name.
    pub original_name: String,
    /// The kind of tool: `arvo`, `mcp`, `internal` or `toolexec`.
    pub kind: String,
    /// The waiting calls; `None` if inputs are not shown.
    #[serde(deserialize_with = "Option::deserialize")]
    pub requests: Option<Vec<ShownCall>>,
}

/// One call as the file shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownCall {
    /// The arguments of the call, by name.
    pub input: Map<String, Value>,
}

impl RequestData {
    /// Makes the data for all of these tools.
    #[must_use]
    pub fn of(source: &PermissionSource, calls: &PermissionCalls, shown: ShownInputs) -> Self {
        let tools: Vec<ToolName> = calls.iter().map(|(tool, _)| tool.clone()).collect();
        let names: Vec<&str> = tools.iter().map(ToolName::as_str).collect();
        let reason = format!("{} asks to call {}", source.name, names.join(", "));
        let about = |(tool, tool_calls): (&ToolName, &super::call::ToolCalls)| {
            let show = |input: &Map<String, Value>| ShownCall { input: input.clone() };
            let requests = match shown {
                ShownInputs::Whole => Some(tool_calls.inputs.iter().map(show).collect()),
                ShownInputs::Withheld => None,
            };
            let (original_name, kind) = (tool_calls.original_name.clone(), tool_calls.kind.clone());
            (tool.clone(), ToolMetaData { name: tool.clone(), original_name, kind, requests })
        };
        Self {
            agent_id: source.name.as_str().to_owned(),
            requested_tools: tools,
            reason,
            tool_meta_data: calls.iter().map(about).collect(),
        }
    }
}
