//! Tests of the AANA gate as a rule of the decision. It can only make a decision stricter, and its
//! whole result is recorded in either mode.

use crate::scene;

use policies::aana::{AuthorizationState, Route};
use policies::{Decision, GateMode, Policy, Verdict};
use scene::{
    DecisionScene, approved, codes, dropped, held, policy, reason, refused, request, verdict,
};

const RULE: &str = "aana.gate";

fn embedded(changes: &[(&str, &str)]) -> Policy {
    policy("embedded", changes)
}

#[test]
fn a_plain_approved_run_is_accepted_as_confirmed() {
    let approved = approved(DecisionScene::default().decide(request(&[]), &embedded(&[])));
    let rationale = approved.rationale();
    assert_eq!(verdict(&rationale.rules, RULE), Verdict::Pass);
    assert!(reason(&rationale.rules, RULE).starts_with("accept: "), "{:?}", rationale.rules);
    let gate = rationale.gate.as_ref().expect("the gate was asked");
    assert_eq!(gate.mode, GateMode::Enforce);
    assert_eq!(gate.result.authorization_state, Some(AuthorizationState::Confirmed));
    assert_eq!(gate.result.recommended_action, Route::Accept);
}

#[test]
fn deferred_request_is_held_and_in_shadow_only_recorded() {
    let unknown = ("tool_category: write", "tool_category: unknown");
    let scene = DecisionScene { submission: dropped(), ..DecisionScene::default() };
    let owners = ("owners: []", "owners: [alice]");
    let policy = embedded(&[unknown, owners]);
    let (violations, rules) = held(scene.decide(request(&[]), &policy));
    assert_eq!(codes(&violations), ["gate.unknown_tool_category"]);
    assert_eq!(verdict(&rules, RULE), Verdict::Refuse);
    assert!(reason(&rules, RULE).starts_with("defer: unknown_tool_category"), "{rules:?}");

    let shadow = embedded(&[unknown, owners, ("mode: enforce", "mode: shadow")]);
    let approved = approved(scene.decide(request(&[]), &shadow));
    let rationale = approved.rationale();
    assert!(reason(&rationale.rules, RULE).starts_with("not enforced"), "{:?}", rationale.rules);
    let gate = rationale.gate.as_ref().expect("the gate was asked");
    assert_eq!((gate.mode, gate.result.recommended_action), (GateMode::Shadow, Route::Defer));
}

#[test]
fn the_gate_never_holds_what_another_rule_refuses() {
    let policy = embedded(&[("tool_category: write", "tool_category: unknown")]);
    let too_long = ("time_limit_sec: 120", "time_limit_sec: 9999999");
    let (violations, _) = refused(DecisionScene::default().decide(request(&[too_long]), &policy));
    assert_eq!(codes(&violations), ["limits.over-policy", "gate.unknown_tool_category"]);
}

#[test]
fn state_is_the_verified_one_and_a_missing_approval_is_reported_once() {
    let stranger = DecisionScene { submission: dropped(), ..DecisionScene::default() };
    let decision = stranger.decide(request(&[]), &embedded(&[]));
    let Decision::Refuse { violations, rationale, .. } = decision else {
        panic!("{decision:?}");
    };
    assert_eq!(codes(&violations), ["approval.principal"]);
    assert_eq!(verdict(&rationale.rules, RULE), Verdict::Refuse);
    let gate = rationale.gate.expect("the gate was asked");
    assert_eq!(gate.result.authorization_state, Some(AuthorizationState::UserClaimed));
    assert!(!gate.result.passes());
}

#[test]
fn without_a_runtime_there_is_no_call_to_judge() {
    let other = ("python -c 'print(1 + 1)'", "perl -e 'print 2'");
    let (_, rules) = refused(DecisionScene::default().decide(request(&[other]), &embedded(&[])));
    assert_eq!(verdict(&rules, RULE), Verdict::NotApplicable);
}
