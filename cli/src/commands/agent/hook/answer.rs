//! The answer to a call. It is pure, and a decision that lets the agent's shell run a command by
//! itself does not exist here.

use serde_json::{Value, json};
use validator::{Severity, StandingApproval, Violation, command_words, shell_words};

use super::fitting::{FittingUse, fitting_use};
use crate::commands::agent::model::{HookForm, HookRules};

/// Limit of the standing approvals, and of the violations, that an answer names.
const NAMED_MAX: usize = 5;
/// Limit of a command whose words an answer repeats.
const WORDS_BYTES_MAX: usize = 2_000;

const NOT_RUN: &str = "This command did not run: TOOL-EXEC runs commands of this agent in a \
                       sandbox, after a person has approved them.";
const ASKED: &str = "This command would run outside TOOL-EXEC, which runs commands of this agent in \
                     a sandbox, after a person has approved them.";
const DRAFT: &str = "draft_tool_request of the MCP server toolexec";

model::closed_set! {
    /// The decision on a command.
    pub(super) enum HookDecision {
        /// The command does not run.
        Deny = "deny",
        /// The agent asks its user.
        Ask = "ask",
    }
}

/// The decision with its reason, one line of text.
#[derive(Debug)]
pub(super) struct HookAnswer {
    pub(super) decision: HookDecision,
    pub(super) reason: String,
}

impl HookAnswer {
    /// Returns the form that the agent reads.
    pub(super) fn json(&self, rules: &HookRules) -> Value {
        let (decision, reason) = (self.decision.as_str(), self.reason.as_str());
        let output = json!({
            "hookEventName": rules.event,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        });
        match rules.form {
            HookForm::EventOutput => json!({ "hookSpecificOutput": output }),
            HookForm::BothOutputs => json!({
                "hookSpecificOutput": output,
                "permissionDecision": decision,
                "permissionDecisionReason": reason,
            }),
            HookForm::Decision => json!({ "decision": decision, "reason": reason }),
            HookForm::Permission => json!({
                "permission": decision, "user_message": reason, "agent_message": reason,
            }),
        }
    }
}

/// Answers a command of the agent's shell. `otherwise` is the decision if no standing approval
/// fits. `standing` may be unknown, for the reason given.
pub(super) fn answer(
    command: &str,
    standing: Result<&[StandingApproval], &str>,
    otherwise: HookDecision,
) -> HookAnswer {
    let words = shell_words(command).unwrap_or_default();
    let uses = standing.unwrap_or_default().iter().filter_map(|it| fitting_use(it, &words));
    let uses: Vec<FittingUse> = uses.take(NAMED_MAX).collect();
    let (decision, text) = match uses.as_slice() {
        [] => (otherwise, without_use(command, standing.err())),
        uses => (HookDecision::Deny, with_uses(uses)),
    };
    let opening = match decision {
        HookDecision::Deny => NOT_RUN,
        HookDecision::Ask => ASKED,
    };
    let reason = model::escape_line(&format!("{opening} {text}"));
    HookAnswer { decision, reason }
}

fn with_uses(uses: &[FittingUse]) -> String {
    let uses = uses.iter().map(|it| {
        let FittingUse { id, reference, parameters, inputs } = it;
        format!(
            "The standing approval {id} fits it. Call {DRAFT} with standing {reference}, \
             parameters {} and inputs {}. No further approval is needed.",
            json!(parameters),
            json!(inputs)
        )
    });
    uses.collect::<Vec<_>>().join(" ")
}

fn without_use(command: &str, unknown: Option<&str>) -> String {
    let fitting = match unknown {
        Some(why) => format!("The standing approvals are unknown: {why}."),
        None => "No standing approval fits it; list_standing_approvals lists them.".to_owned(),
    };
    match command_words(command) {
        Ok(words) => {
            let shown = match command.len() <= WORDS_BYTES_MAX {
                true => format!("words {}", json!(words)),
                false => "the words of this command".to_owned(),
            };
            format!(
                "{fitting} Accepted: {DRAFT} with {shown}, the files that it reads as inputs, and \
                 the files that it writes as outputs. A person then reads and approves the draft."
            )
        }
        Err(violations) => format!(
            "{fitting} A request would be refused too: {}. Accepted: one command without a shell, \
             with files below /in and /out. Put the rest into a script, and call {DRAFT} with it.",
            rules(&violations)
        ),
    }
}

/// Returns the broken rules with their hints.
fn rules(violations: &[Violation]) -> String {
    let errors: Vec<&Violation> =
        violations.iter().filter(|row| row.severity == Severity::Error).collect();
    let shown = errors.iter().take(NAMED_MAX).map(|row| {
        let hint = row.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}: {}{hint}", row.code.as_str(), row.message)
    });
    let mut shown: Vec<String> = shown.collect();
    if errors.len() > NAMED_MAX {
        shown.push(format!("and {} more", errors.len() - NAMED_MAX));
    }
    shown.join("; ")
}

#[cfg(test)]
mod tests;
