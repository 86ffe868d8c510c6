//! The tool `check_permission`: the daemon's report on the permission of the server's agent. It
//! files no request and uses up no grant. It is not the decision: the daemon checks again.

use policies::permissions::{ToolAuthorizationState, ToolName};
use serde_json::{Value, json};
use spool::{PublishedFileError, published_permissions};

use super::arguments::PermissionArguments;
use super::server_state::ServerState;
use crate::clock;
use crate::failure::Failure;

pub(super) fn check(
    state: &ServerState,
    arguments: &PermissionArguments,
) -> Result<Value, Failure> {
    let tool = match (&arguments.language, &arguments.tool) {
        (Some(language), None) => ToolName::of_run(language.0),
        (None, Some(tool)) => {
            let help = "give the name of a tool, in ASCII";
            tool.parse()
                .map_err(|error| Failure::Message(format!("tool: {error}; help: {help}")))?
        }
        _ => {
            let why = "need exactly one of language and tool; help: give one of them";
            return Err(Failure::Message(why.into()));
        }
    };
    let policy = state.policy()?;
    let cover = policy.as_deref().map(policies::Policy::permissions_cover);
    let Some(source) = state.source() else {
        return Ok(json!({
            "tool": tool,
            "state": null,
            "permission_needed_by": cover,
            "reason": "this server has no named agent (--agent): permission is decided \
                    for each request when it is submitted",
        }));
    };
    let mut answer = json!({
        "tool": tool,
        "source": source,
        "state": null,
        "permission_needed_by": cover,
    });
    match published_permissions(state.spool()) {
        Ok(permissions) => {
            let (authorization, limited) = match permissions.find(&source, &tool) {
                Some(found) => (Some(found.state_at(clock::now())), found.limited),
                // Without a grant, permission can be requested. A truncated list leaves it unknown.
                None => (permissions.whole.then_some(ToolAuthorizationState::Requestable), false),
            };
            answer["state"] = json!(authorization);
            answer["limited"] = limited.into();
            answer["at_utc"] = permissions.at_utc.into();
        }
        Err(PublishedFileError::Missing) => {
            answer["reason"] =
                "the daemon has published none: its policy requires no permission, or it has \
                             not run"
                    .into();
        }
        Err(error) => return Err(Failure::Message(error.to_string())),
    }
    Ok(answer)
}
