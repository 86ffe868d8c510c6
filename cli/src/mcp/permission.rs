//! The tool `check_permission`: whether a person has given this server's agent a tool, as the daemon tells
//! it. It asks nobody, uses nothing up, and a telling is never the decision: the daemon looks again.

use policies::permissions::{ToolAuthorizationState, ToolName};
use serde_json::{Value, json};
use spool::{ToldError, told_permissions};

use super::arguments::PermissionArguments;
use super::desk::Desk;
use crate::clock;
use crate::failure::Failure;

pub(super) fn check(desk: &Desk, asked: &PermissionArguments) -> Result<Value, Failure> {
    let tool = match (&asked.language, &asked.tool) {
        (Some(language), None) => ToolName::of_run(language.0),
        (None, Some(tool)) => {
            tool.parse().map_err(|error| Failure::Said(format!("tool: {error}")))?
        }
        _ => return Err(Failure::Said("give a language or a tool, one of them".into())),
    };
    let policy = desk.policy()?;
    let cover = policy.as_deref().map(policies::Policy::permissions_cover);
    let Some(source) = desk.source() else {
        return Ok(json!({
            "tool": tool,
            "state": null,
            "permission_needed_by": cover,
            "why": "this server works for no named agent (--agent, --subject): a person is asked \
                    about each request by itself when it is promoted",
        }));
    };
    let mut answer = json!({
        "tool": tool,
        "source": source,
        "state": null,
        "permission_needed_by": cover,
    });
    match told_permissions(desk.spool()) {
        Ok(told) => {
            let (state, limited) = match told.find(&source, &tool) {
                Some(found) => (Some(found.state_at(clock::now())), found.limited),
                // Nothing stands, so a person can be asked; but of a list that is cut nobody knows.
                None => (told.whole.then_some(ToolAuthorizationState::Requestable), false),
            };
            answer["state"] = json!(state);
            answer["limited"] = limited.into();
            answer["told_utc"] = told.at_utc.into();
        }
        Err(ToldError::Nothing) => {
            answer["why"] =
                "the daemon tells of none: its policy asks for no permission, or it has \
                             not run"
                    .into();
        }
        Err(error) => return Err(Failure::Said(error.to_string())),
    }
    Ok(answer)
}
