//! The call of a tool or a command, as a hook gets it.

use serde::Deserialize;
use serde_json::Value;

use crate::commands::agent::model::{HookForm, HookRules};

/// Tools whose `command` is not one for a shell: they edit files, or keep notes.
const EDITORS: [&str; 4] = ["Edit", "memory", "str_replace_based_edit_tool", "str_replace_editor"];
/// The beginnings of the names that agents give the tools of the MCP server `toolexec`.
const OWN_TOOLS: [&str; 3] = ["mcp__toolexec__", "mcp_toolexec_", "toolexec-"];

/// The call of a tool.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum HookCall {
    /// A command for the agent's own shell.
    ShellCommand(String),
    /// Another tool.
    OtherTool,
}

/// The name of the event has two spellings, of which an agent uses one.
#[derive(Deserialize)]
struct ToolHookInput {
    hook_event_name: Option<String>,
    #[serde(rename = "hookEventName")]
    camel_event_name: Option<String>,
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
}

#[derive(Deserialize)]
struct CommandHookInput {
    hook_event_name: String,
    command: String,
}

/// Reads a call in the form of an agent.
///
/// # Errors
/// The reason why the call must be blocked.
pub(super) fn read(bytes: &[u8], rules: &HookRules) -> Result<HookCall, String> {
    match rules.form {
        HookForm::Permission => {
            let input: CommandHookInput = parse(bytes)?;
            check_event(&input.hook_event_name, rules)?;
            Ok(HookCall::ShellCommand(input.command))
        }
        HookForm::EventOutput | HookForm::BothOutputs | HookForm::Decision => {
            let input: ToolHookInput = parse(bytes)?;
            let named = input.hook_event_name.as_ref().or(input.camel_event_name.as_ref());
            check_event(named.map_or("", String::as_str), rules)?;
            read_tool(&input, rules)
        }
    }
}

fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes)
        .map_err(|error| format!("not the JSON of a call: {error}; help: configure it as a hook"))
}

fn check_event(event: &str, rules: &HookRules) -> Result<(), String> {
    if event == rules.event {
        return Ok(());
    }
    let problem = match event {
        "" => "the call names no event".to_owned(),
        other => format!("{} is another event", model::quote(other)),
    };
    Err(format!("{problem}; help: configure the hook for {}", rules.event))
}

/// Reads the call of a tool, which is judged by its command, not by its name: an agent may have
/// more shells than are known. A known shell without a command is blocked.
fn read_tool(input: &ToolHookInput, rules: &HookRules) -> Result<HookCall, String> {
    let tool = input.tool_name.as_str();
    if EDITORS.contains(&tool) || OWN_TOOLS.iter().any(|own| tool.starts_with(own)) {
        return Ok(HookCall::OtherTool);
    }
    let is_shell = rules.shell_tools.contains(&tool);
    match (&input.tool_input, command_of(&input.tool_input)) {
        (Value::Object(_), Some(Value::String(command))) => {
            Ok(HookCall::ShellCommand(command.clone()))
        }
        (Value::Object(_) | Value::Null, None) if !is_shell => Ok(HookCall::OtherTool),
        _ => {
            let tool = model::quote(tool);
            let help = "check the version of the agent";
            Err(format!("the call of {tool} has no command in text; help: {help}"))
        }
    }
}

/// Returns the command of a call. VS Code has a tool that makes a task with a command, and runs it.
fn command_of(tool_input: &Value) -> Option<&Value> {
    tool_input.get("command").or_else(|| tool_input.pointer("/task/command"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::agent::model::CodingAgent;

    fn read_json(input: &Value) -> Result<HookCall, String> {
        read(input.to_string().as_bytes(), CodingAgent::ClaudeCode.hook())
    }

    fn command(text: &str) -> Result<HookCall, String> {
        Ok(HookCall::ShellCommand(text.to_owned()))
    }

    #[test]
    fn a_command_is_read_from_any_tool() {
        for tool in ["Bash", "Monitor", "AnotherShell"] {
            let input = json!({
                "session_id": "1", "cwd": "/x", "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": { "command": "ls -l", "description": "lists" }, "tool_use_id": "2",
            });
            assert_eq!(read_json(&input), command("ls -l"));
        }
    }

    #[test]
    fn the_command_of_a_task_is_a_command() {
        let mut input = json!({
            "hook_event_name": "PreToolUse", "tool_name": "create_and_run_task",
            "tool_input": {
                "workspaceFolder": "/x",
                "task": { "label": "x", "type": "shell", "command": "ls", "args": ["-l"] },
            },
        });
        let read =
            |input: &Value| super::read(input.to_string().as_bytes(), CodingAgent::VsCode.hook());
        assert_eq!(read(&input), command("ls"));
        input["tool_input"]["task"]["command"] = json!(["ls"]);
        assert!(read(&input).unwrap_err().contains("no command"));
        input["tool_input"]["task"] = json!("clean the desk");
        assert_eq!(read(&input), Ok(HookCall::OtherTool));
    }

    #[test]
    fn a_tool_without_a_command_is_left_to_the_agent() {
        let mut input = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": "/x", "content": "y" },
        });
        assert_eq!(read_json(&input), Ok(HookCall::OtherTool));
        for tool in CodingAgent::ClaudeCode.hook().shell_tools {
            input["tool_name"] = (*tool).into();
            assert!(read_json(&input).unwrap_err().contains("no command"), "{tool}");
        }
        input["tool_input"]["command"] = json!(["ls"]);
        input["tool_name"] = "Write".into();
        assert!(read_json(&input).unwrap_err().contains("no command"));
        input["tool_input"] = json!("ls");
        assert!(read_json(&input).unwrap_err().contains("no command"));
        input["tool_input"] = Value::Null;
        assert_eq!(read_json(&input), Ok(HookCall::OtherTool));
    }

    #[test]
    fn an_editor_and_our_own_tools_run_no_command() {
        for tool in ["memory", "mcp__toolexec__draft_tool_request", "toolexec-draft_tool_request"] {
            let input = json!({
                "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": { "command": "view" },
            });
            assert_eq!(read_json(&input), Ok(HookCall::OtherTool), "{tool}");
        }
    }

    #[test]
    fn each_agent_has_its_own_form() {
        let tool = |event: &str, key: &str, tool: &str| {
            let mut input = json!({ "tool_name": tool, "tool_input": { "command": "ls" } });
            input[key] = event.into();
            input
        };
        let shell = "beforeShellExecution";
        for (agent, input) in [
            (CodingAgent::Codex, tool("PreToolUse", "hook_event_name", "Bash")),
            (CodingAgent::VsCode, tool("PreToolUse", "hook_event_name", "Bash")),
            (CodingAgent::VsCode, tool("PreToolUse", "hookEventName", "run_in_terminal")),
            (CodingAgent::Gemini, tool("BeforeTool", "hook_event_name", "run_shell_command")),
            (CodingAgent::Cursor, json!({ "hook_event_name": shell, "command": "ls" })),
        ] {
            let found = read(input.to_string().as_bytes(), agent.hook());
            assert_eq!(found, command("ls"), "{agent}");
            let other = input.to_string().replace(agent.hook().event, "AfterTool");
            let other = read(other.as_bytes(), agent.hook()).unwrap_err();
            assert!(other.contains("another event"), "{agent}: {other}");
        }
    }

    #[test]
    fn what_is_not_a_call_is_an_error() {
        let event = json!({
            "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "command": "ls" },
        });
        assert!(read_json(&event).unwrap_err().contains("PreToolUse"));
        for text in ["", "{}", "[]", "null", "{\"hook_event_name\": 1}", "{\"tool_name\""] {
            for agent in CodingAgent::ALL {
                let wrong = read(text.as_bytes(), agent.hook()).unwrap_err();
                assert!(wrong.contains("not the JSON"), "{agent}: {text}");
            }
        }
        let twice = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_name": "Write",
            "tool_input": {}}"#;
        let rules = CodingAgent::ClaudeCode.hook();
        assert!(read(twice.as_bytes(), rules).unwrap_err().contains("duplicate"));
    }
}
