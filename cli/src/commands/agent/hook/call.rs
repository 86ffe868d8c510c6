//! The call of a tool, as a hook gets it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::commands::agent::model::SHELL_TOOLS;

/// The event before a tool runs. The hook must not be configured for another.
const EVENT: &str = "PreToolUse";

/// The call of a tool.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum HookCall {
    /// A command for the agent's own shell.
    ShellCommand(String),
    /// Another tool.
    OtherTool,
}

#[derive(Deserialize)]
struct HookInput {
    hook_event_name: String,
    tool_name: String,
    tool_input: Map<String, Value>,
}

/// Reads a call. A tool is judged by its command, not by its name: an agent may have more shells
/// than are known. A known shell without a command is blocked.
///
/// # Errors
/// The reason why the call must be blocked.
pub(super) fn read(bytes: &[u8]) -> Result<HookCall, String> {
    let input: HookInput = serde_json::from_slice(bytes).map_err(|error| {
        format!("not the JSON of a call: {error}; help: configure it as a hook")
    })?;
    if input.hook_event_name != EVENT {
        let event = model::quote(&input.hook_event_name);
        return Err(format!("{event} is another event; help: configure the hook for {EVENT}"));
    }
    match input.tool_input.get("command") {
        Some(Value::String(command)) => Ok(HookCall::ShellCommand(command.clone())),
        None if !SHELL_TOOLS.contains(&input.tool_name.as_str()) => Ok(HookCall::OtherTool),
        _ => {
            let tool = model::quote(&input.tool_name);
            let help = "check the version of the agent";
            Err(format!("the call of {tool} has no command in text; help: {help}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_json(input: &Value) -> Result<HookCall, String> {
        read(input.to_string().as_bytes())
    }

    #[test]
    fn a_command_is_read_from_any_tool() {
        for tool in ["Bash", "Monitor", "AnotherShell"] {
            let input = json!({
                "session_id": "1", "cwd": "/x", "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": { "command": "ls -l", "description": "lists" }, "tool_use_id": "2",
            });
            assert_eq!(read_json(&input), Ok(HookCall::ShellCommand("ls -l".to_owned())));
        }
    }

    #[test]
    fn a_tool_without_a_command_is_left_to_the_agent() {
        let mut input = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": "/x", "content": "y" },
        });
        assert_eq!(read_json(&input), Ok(HookCall::OtherTool));
        for tool in SHELL_TOOLS {
            input["tool_name"] = tool.into();
            assert!(read_json(&input).unwrap_err().contains("no command"), "{tool}");
        }
        input["tool_input"]["command"] = json!(["ls"]);
        input["tool_name"] = "Write".into();
        assert!(read_json(&input).unwrap_err().contains("no command"));
    }

    #[test]
    fn what_is_not_a_call_is_an_error() {
        let event = json!({
            "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "command": "ls" },
        });
        assert!(read_json(&event).unwrap_err().contains("PreToolUse"));
        for text in ["", "{}", "[]", "null", "{\"hook_event_name\": 1}", "{\"tool_name\""] {
            assert!(read(text.as_bytes()).unwrap_err().contains("not the JSON"), "{text}");
        }
        let twice = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_name": "Write",
            "tool_input": {}}"#;
        assert!(read(twice.as_bytes()).unwrap_err().contains("duplicate"));
    }
}
