//! Tests of the permission check as a rule of the decision: the covered requests, and the effect of
//! each answer.

use crate::scene;

use policies::permissions::{PermissionDenial, ToolFinding};
use policies::{PermissionEvidence, Policy, Verdict};
use scene::{
    DecisionScene, approved, codes, dropped, held, policy, reason, refused, request, verdict,
};

const RULE: &str = "permission";
const AGENT: (&str, &str) = (
    "requested_by: \"human\"",
    "requested_by: \"human\"\nx-agent:\n  name: \"stats.agent\"\n  subject: \"wf-1\"\n  accesscontrol: \"tenant:acme\"",
);
const DRAFT: (&str, &str) = ("requested_by: \"human\"", "requested_by: \"core_draft\"");

fn covering(whom: &str) -> Policy {
    let covers = format!("covers: {whom}");
    policy("embedded", &[("covers: none", &covers), ("owners: []", "owners: [alice]")])
}

fn scene(permission: PermissionEvidence) -> DecisionScene {
    DecisionScene { submission: dropped(), permission, ..DecisionScene::default() }
}

#[test]
fn policy_sets_the_covered_requests_and_omitting_the_agent_never_helps() {
    let missing = || scene(PermissionEvidence::Queried(ToolFinding::Missing));
    let cases = [
        ("none", vec![DRAFT], false),
        ("core_draft", vec![], false),
        ("core_draft", vec![DRAFT], true),
        ("core_draft", vec![AGENT], true),
        ("all", vec![], true),
    ];
    for (whom, changes, covered) in cases {
        let decision = missing().decide(request(&changes), &covering(whom));
        if covered {
            let (violations, rules) = held(decision);
            assert_eq!(codes(&violations), ["permission.requestable"], "{whom}");
            let output = reason(&rules, RULE);
            let agent =
                if changes == [AGENT] { "agent stats.agent in wf-1" } else { "agent unknown" };
            assert!(output.starts_with(agent), "{output}");
            assert!(output.contains("toolexec.run.python: REQUESTABLE"), "{output}");
        } else {
            assert_eq!(
                verdict(&approved(decision).rationale().rules, RULE),
                Verdict::NotApplicable
            );
        }
    }
}

#[test]
fn a_denial_refuses_and_an_approval_passes() {
    for denial in [PermissionDenial::Named, PermissionDenial::LeftOut] {
        let scene = scene(PermissionEvidence::Queried(ToolFinding::Denied(denial)));
        let (violations, _) = refused(scene.decide(request(&[DRAFT]), &covering("core_draft")));
        assert_eq!(codes(&violations), ["permission.denied"]);
    }
    let scene = scene(PermissionEvidence::Queried(ToolFinding::Granted(
        "G7.0".parse().expect("a grant's name"),
    )));
    let approved = approved(scene.decide(request(&[DRAFT]), &covering("core_draft")));
    assert_eq!(verdict(&approved.rationale().rules, RULE), Verdict::Pass);
    assert!(approved.rationale().permission.is_some());
}

#[test]
fn unqueried_store_approves_nothing() {
    let decision =
        scene(PermissionEvidence::NotQueried).decide(request(&[DRAFT]), &covering("all"));
    let (violations, _) = refused(decision);
    assert_eq!(codes(&violations), ["permission.requestable"]);
}
