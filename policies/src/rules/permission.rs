//! The permission check as one rule of the decision. Policy says which requests it covers; the
//! evidence contains the answers of people. A missing answer must never count as an approval.

use validator::{Code, Request};

use crate::evidence::PermissionEvidence;
use crate::findings::Findings;
use crate::permissions::{PermissionSource, ToolAuthorizationState, ToolName};
use crate::policy::Policy;
use crate::reasons::{PermissionFinding, RuleName};

const RULE: RuleName = RuleName::Permission;
/// The name of the agent in requests that name none.
const UNNAMED: &str = "unknown";

pub(crate) fn judge(
    request: &Request,
    policy: &Policy,
    evidence: &PermissionEvidence,
    findings: &mut Findings,
) {
    let covered = policy.rules.permissions.covered;
    if !covered.covers(request) {
        findings.not_applicable(RULE, format!("permissions.covers is {}", covered.as_str()));
        return;
    }
    let source = match PermissionSource::of_request(request) {
        Ok(source) => source,
        Err(error) => {
            let hint = "write the agent's name in plain ASCII";
            findings.refuse(RULE, Code::PermissionDenied, format!("x-agent: {error}"), hint);
            return;
        }
    };
    if request.agent().is_some_and(|agent| validator::are_alike(agent.name(), UNNAMED)) {
        let reason = format!("x-agent: `{UNNAMED}` is reserved for agents without a name");
        let hint = "write the agent's own name, or remove x-agent";
        findings.refuse(RULE, Code::PermissionDenied, reason, hint);
        return;
    }
    let tool = ToolName::of_run(request.language());
    let whose = format!("{source}, {tool}");
    match evidence {
        PermissionEvidence::NotQueried => {
            let reason =
                format!("{whose}: not yet checked; the run checks the host's permission store");
            let hint = "submit the request; the run checks it";
            findings.refuse_pending(RULE, Code::PermissionRequestable, reason, hint);
        }
        PermissionEvidence::Queried(finding) => {
            let reason = format!("{whose}: {}, {finding}", finding.state());
            match finding.state() {
                ToolAuthorizationState::Approved => findings.pass(RULE, reason),
                ToolAuthorizationState::Denied => {
                    let hint = "have a person start the run, or have the denial revoked";
                    findings.refuse(RULE, Code::PermissionDenied, reason, hint);
                }
                ToolAuthorizationState::Requestable => {
                    let hint =
                        "answer the request in drafts/permissions/ with `toolexec permission set`";
                    findings.hold(RULE, Code::PermissionRequestable, reason, hint);
                }
            }
            findings.permission = Some(PermissionFinding { source, tool, finding: *finding });
        }
    }
}
