//! The tool `check_permission`: whether a person granted a tool to the server's agent, as the
//! daemon reports it. It files no request and uses up no grant. It is not the decision: the daemon
//! checks again.

use policies::permissions::{ToolAuthorizationState, ToolName};
use serde_json::{Value, json};
use spool::{PublishedFileError, published_permissions};

use super::arguments::PermissionArguments;
use super::server_state::ServerState;
use crate::clock;
use crate::failure::Failure;

pub(super) fn check(desk: &ServerState, asked: &PermissionArguments) -> Result<Value, Failure> {
    let tool = match (&asked.language, &asked.tool) {
        (Some(language), None) => ToolName::of_run(language.0),
        (None, Some(tool)) => {
            tool.parse().map_err(|error| Failure::Message(format!("tool: {error}")))?
        }
        _ => return Err(Failure::Message("need exactly one of language and tool".into())),
    };
    let policy = desk.policy()?;
    let cover = policy.as_deref().map(policies::Policy::permissions_cover);
    let Some(source) = desk.source() else {
        return Ok(json!({
            "tool": tool,
            "state": null,
            "permission_needed_by": cover,
            "reason": "this server has no named agent (--agent, --subject): permission is decided \
                    for each request when it is submitted",
        }));
    };
    let mut answer = json!({
        "tool": tool,
        "source": source,
        "state": null,
        "permission_needed_by": cover,
    });
    match published_permissions(desk.spool()) {
        Ok(told) => {
            let (state, limited) = match told.find(&source, &tool) {
                Some(found) => (Some(found.state_at(clock::now())), found.limited),
                // No grant exists, so permission can be requested. If the list is truncated, the
                // state is unknown.
                None => (told.whole.then_some(ToolAuthorizationState::Requestable), false),
            };
            answer["state"] = json!(state);
            answer["limited"] = limited.into();
            answer["told_utc"] = told.at_utc.into();
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
