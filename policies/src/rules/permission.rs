//! The permission check as one rule of the decision. Policy says which requests it covers; the
//! evidence contains the answers of people. A missing answer must never count as an approval.

use validator::{Code, Request, RequestedBy};

use crate::evidence::Permission;
use crate::findings::Findings;
use crate::grounds::{PermissionFinding, RuleName};
use crate::model::Covered;
use crate::permissions::{Source, ToolAuthorizationState, ToolName};
use crate::policy::Policy;

const RULE: RuleName = RuleName::Permission;
/// The name of the agent in requests that name none.
const UNNAMED: &str = "unknown";

impl Covered {
    /// Returns whether the check covers the request. A request that names an agent is covered as
    /// well, so that naming oneself is not a way around the check.
    pub(crate) fn covers(self, request: &Request) -> bool {
        match self {
            Self::Nobody => false,
            Self::CoreDraft => {
                request.requested_by() == RequestedBy::CoreDraft || request.agent().is_some()
            }
            Self::Everybody => true,
        }
    }
}

pub(crate) fn judge(
    request: &Request,
    policy: &Policy,
    evidence: &Permission,
    findings: &mut Findings,
) {
    let covered = policy.rules.permissions.covered;
    if !covered.covers(request) {
        findings.not_applicable(RULE, format!("permissions.covers is {}", covered.as_str()));
        return;
    }
    let source = match Source::of_request(request) {
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
        Permission::NotAsked => {
            let reason =
                format!("{whose}: not yet checked; the run checks the host's permission store");
            let hint = "submit the request; the run checks it";
            findings.lack(RULE, Code::PermissionRequestable, reason, hint);
        }
        Permission::Found(finding) => {
            let said = format!("{whose}: {}, {finding}", finding.state());
            match finding.state() {
                ToolAuthorizationState::Approved => findings.pass(RULE, said),
                ToolAuthorizationState::Denied => {
                    let hint = "have a person start the run, or have the denial revoked";
                    findings.refuse(RULE, Code::PermissionDenied, said, hint);
                }
                ToolAuthorizationState::Requestable => {
                    let hint =
                        "answer the request in drafts/permissions/ with `toolexec permission set`";
                    findings.hold(RULE, Code::PermissionRequestable, said, hint);
                }
            }
            findings.permission = Some(PermissionFinding { source, tool, finding: *finding });
        }
    }
}
