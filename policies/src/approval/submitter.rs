//! The value of the submission itself if policy requires no signature. It must never count if
//! policy requires one.

use validator::Code;

use super::approvers::Approvers;
use crate::evidence::SubmissionOrigin;
use crate::findings::Findings;
use crate::model::ApprovalRules;
use crate::reasons::RuleName;

const RULE: RuleName = RuleName::ApprovalSubmitter;

/// Returns the description of the approval for the record.
pub(super) fn judge(
    people: &Approvers<'_, '_>,
    rules: &ApprovalRules,
    submission: &SubmissionOrigin,
    findings: &mut Findings,
) -> Option<String> {
    let (uid, name, invoked) = match submission {
        SubmissionOrigin::Invoked { uid, name } => (*uid, name.as_deref(), true),
        SubmissionOrigin::Submitted { owner, owner_name } => {
            (owner.get(), owner_name.as_deref(), false)
        }
    };
    let who = name.map_or_else(|| uid.to_string(), model::escape_line);
    let listed = rules.is_approver(submission);
    if !rules.self_approval && people.requester_may_be(name.unwrap_or(&who)) {
        let reason = format!("{who} is the requester and cannot approve this run");
        let hint = "have another person submit the request";
        findings.refuse_pending(RULE, Code::ApprovalSelf, reason, hint);
        return None;
    }
    if invoked && (rules.invoker || listed) {
        findings.pass(RULE, format!("{who} typed the command"));
        return Some("unsigned, by the invoker".to_owned());
    }
    if listed {
        findings.pass(RULE, format!("owner {who} is an approver"));
        return Some(format!("unsigned, by the file's owner {who}"));
    }
    let role = if invoked { "invoker" } else { "owner" };
    let reason = format!("{role} {who} is not an approver of policy approval.owners");
    let hint = "have an approver submit the request, or name this user in approval.owners";
    findings.refuse_pending(RULE, Code::ApprovalPrincipal, reason, hint);
    None
}
