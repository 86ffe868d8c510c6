//! The tool `lint_tool_request`: the rules of `toolexec lint`, with the limits of the policy.

use policies::Policy;
use serde_json::{Value, json};
use validator::{ApprovalRequirement, Code, DocumentKind, Violation};

use super::arguments::LintArguments;
use super::server_state::ServerState;
use crate::commands::request::lint::LintRules;
use crate::failure::Failure;
use crate::output::human;

pub(super) fn lint(state: &ServerState, arguments: &LintArguments) -> Result<Value, Failure> {
    let policy = state.policy()?;
    let violations = violations(policy.as_deref(), &arguments.text)?;
    Ok(json!({
        "valid": !human::has_error(&violations),
        "violations": violations,
        "policy": policy.as_deref().map(Policy::name),
    }))
}

/// Returns all violations except the missing approval, which a draft always has.
fn violations(policy: Option<&Policy>, text: &str) -> Result<Vec<Violation>, Failure> {
    let rules = rules_of(policy);
    let (kind, mut rows) = rules.check(text.as_bytes(), &format!("{}.md", id_of(text)));
    if kind != DocumentKind::Request {
        let why = "text: not a tool request; help: give the whole text of one";
        return Err(Failure::Message(why.into()));
    }
    rows.retain(|row| row.code != Code::ApprovalMissing);
    Ok(rows)
}

pub(super) fn rules_of(policy: Option<&Policy>) -> LintRules<'_> {
    let expect = ApprovalRequirement::DraftOnly;
    policy.map_or_else(|| LintRules::of_schema(expect), |policy| LintRules::of(expect, policy))
}

/// Returns the id that the text states. A draft has no file name yet.
fn id_of(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.strip_prefix("request_id:"));
    let id = line.map(|id| id.trim().trim_matches(['"', '\''])).filter(|id| id.starts_with("TR-"));
    id.unwrap_or("TR-unnamed")
}
