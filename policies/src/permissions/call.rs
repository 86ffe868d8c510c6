//! The calls that need a permission: tools, and for each the waiting calls with their inputs. Two
//! different inputs must never have the same digest. The order of members makes no difference.

use std::collections::BTreeMap;
use std::fmt;

use model::Sha256;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use validator::{JsonError, Request, Work, read_json};

use super::name::{NameError, PermissionSource, ToolName};

/// The maximum number of tools in one permission request.
pub const TOOLS_MAX: usize = 64;
/// The maximum number of calls of one tool in it.
pub const CALLS_MAX: usize = 64;
/// The maximum size of the calls in JSON, in bytes.
pub const CALLS_BYTES_MAX: usize = 128 * 1024;
const FORM_HELP: &str = "help: see the form in `toolexec permission get --help`";

/// One tool of a permission request (seed 003, the values of `tools`).
#[derive(Clone, PartialEq, Debug)]
pub struct ToolCalls {
    /// The tool's own name, if agents know it by another.
    pub original_name: String,
    /// The kind of tool: `arvo`, `mcp`, `internal`, or `toolexec` for runs of this program.
    pub kind: String,
    /// The inputs of the waiting calls; empty if only the tool is asked for.
    pub inputs: Vec<Map<String, Value>>,
}

/// The tools of one permission request, by the name that agents use.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PermissionCalls(BTreeMap<ToolName, ToolCalls>);

/// The reason why the calls cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallsError {
    /// Not JSON that every reader understands in the same way.
    Json(JsonError),
    /// A wrong form or an invalid name.
    Form(String),
    /// Too many: the limit is 64 tools with 64 calls each.
    TooMany,
    /// A definition or call that names another tool than its key.
    NameMismatch(ToolName),
}

impl fmt::Display for CallsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "permission request: {error}; {FORM_HELP}"),
            Self::Form(what) => write!(f, "permission request: {what}; {FORM_HELP}"),
            Self::TooMany => write!(
                f,
                "permission request: more than {TOOLS_MAX} tools, or {CALLS_MAX} of one; help: \
                 request fewer at once"
            ),
            Self::NameMismatch(tool) => write!(
                f,
                "permission request: tools.{tool}: names another tool; help: use one name for the \
                 tool"
            ),
        }
    }
}

impl std::error::Error for CallsError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCalls {
    source: PermissionSource,
    tools: BTreeMap<ToolName, RawTool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTool {
    definition: Option<RawToolDefinition>,
    #[serde(default)]
    requests: Vec<RawCall>,
}

/// Only these members of a server's entry matter; others, such as `inputSchema`, are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawToolDefinition {
    name: String,
    server_config: Option<RawToolServer>,
}

#[derive(Deserialize)]
struct RawToolServer {
    kind: String,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawCall {
    /// The id of the call in the model's turn; ignored.
    #[serde(rename = "toolUseId")]
    _tool_use_id: Option<String>,
    name: Option<String>,
    input: Map<String, Value>,
}

impl PermissionCalls {
    /// Makes an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the call of one run, for the daemon: the tool `toolexec.run.<language>` with the
    /// command, or the code, as its input.
    #[must_use]
    pub fn of_request(request: &Request) -> Self {
        let input = match request.work() {
            Work::Command { argv, .. } => json!({ "argv": argv }),
            Work::Code(code) => json!({ "code": code.text(), "inputs": code.inputs() }),
        };
        let tool = ToolName::of_run(request.language());
        let inputs = input.as_object().cloned().into_iter().collect();
        let name = tool.as_str().to_owned();
        let calls = ToolCalls { original_name: name, kind: "toolexec".into(), inputs };
        Self(BTreeMap::from([(tool, calls)]))
    }

    /// Adds a tool. Further calls of the same tool are added to its inputs.
    ///
    /// # Errors
    /// [`CallsError::TooMany`].
    pub fn add(
        &mut self,
        tool: ToolName,
        inputs: Vec<Map<String, Value>>,
    ) -> Result<(), CallsError> {
        let name = tool.as_str().to_owned();
        let calls = self.0.entry(tool).or_insert_with(|| ToolCalls {
            original_name: name,
            kind: "internal".into(),
            inputs: Vec::new(),
        });
        calls.inputs.extend(inputs);
        let crowded = self.0.len() > TOOLS_MAX || has_too_many_calls(&self.0);
        if crowded { Err(CallsError::TooMany) } else { Ok(()) }
    }

    /// Reads `{"source": …, "tools": {<name>: {"definition": …, "requests": [{"input": …}]}}}`, the
    /// parameters of the seed's `get` and `requestBuilder`.
    ///
    /// # Errors
    /// [`CallsError`] states the problem.
    pub fn read(bytes: &[u8]) -> Result<(PermissionSource, Self), CallsError> {
        let value = read_json(bytes, CALLS_BYTES_MAX).map_err(CallsError::Json)?;
        let form: RawCalls =
            serde_json::from_value(value).map_err(|error| CallsError::Form(error.to_string()))?;
        let mut tools = BTreeMap::new();
        for (tool, form) in form.tools {
            let calls = form.into_calls(&tool)?;
            tools.insert(tool, calls);
        }
        if tools.len() > TOOLS_MAX || has_too_many_calls(&tools) {
            return Err(CallsError::TooMany);
        }
        Ok((form.source, Self(tools)))
    }

    /// Returns whether no tool is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the tools with their calls, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolName, &ToolCalls)> {
        self.0.iter()
    }

    /// Returns only the calls of these tools.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(&ToolName) -> bool) -> Self {
        let kept = self.0.iter().filter(|(tool, _)| wanted(tool));
        Self(kept.map(|(tool, calls)| (tool.clone(), calls.clone())).collect())
    }

    /// Returns the digest of source, tools and inputs. The order of members makes no difference.
    pub(crate) fn sha256(&self, source: &PermissionSource) -> Sha256 {
        let tools: BTreeMap<_, Vec<String>> = self
            .iter()
            .map(|(tool, calls)| (tool, calls.digests().map(|it| it.to_string()).collect()))
            .collect();
        let bytes = serde_json::to_vec(&json!({ "source": source, "tools": tools }));
        // It cannot fail: keys and values are text. The fallback would only miss equal requests.
        Sha256::of(&bytes.unwrap_or_else(|_| format!("{source:?} {tools:?}").into_bytes()))
    }
}

impl RawTool {
    fn into_calls(self, tool: &ToolName) -> Result<ToolCalls, CallsError> {
        let other = |name: &str| name != tool.as_str();
        let names = self.requests.iter().filter_map(|call| call.name.as_deref());
        let definition = self.definition.as_ref().map(|it| it.name.as_str());
        if names.chain(definition).any(other) {
            return Err(CallsError::NameMismatch(tool.clone()));
        }
        let server = self.definition.and_then(|it| it.server_config);
        let (kind, original) = match server {
            Some(server) => (server.kind, server.name),
            None => ("internal".to_owned(), None),
        };
        // Both are shown to a person and must be readable, like names.
        let shows = |text: &str| text.parse::<ToolName>();
        let form = |error: NameError| CallsError::Form(format!("tools.{tool}: {error}"));
        let original_name = original.unwrap_or_else(|| tool.as_str().to_owned());
        shows(&kind).and(shows(&original_name)).map_err(form)?;
        let inputs = self.requests.into_iter().map(|call| call.input).collect();
        Ok(ToolCalls { original_name, kind, inputs })
    }
}

impl ToolCalls {
    pub(crate) fn digests(&self) -> impl Iterator<Item = Sha256> {
        self.inputs.iter().map(digest)
    }
}

fn has_too_many_calls(tools: &BTreeMap<ToolName, ToolCalls>) -> bool {
    tools.values().any(|calls| calls.inputs.len() > CALLS_MAX)
}

/// Returns the SHA-256 of the input as compact JSON, members in code point order.
pub(crate) fn digest(input: &Map<String, Value>) -> Sha256 {
    let mut value = Value::Object(input.clone());
    // The map may keep insertion order if another crate asks serde_json for that.
    value.sort_all_objects();
    Sha256::of(value.to_string().as_bytes())
}
