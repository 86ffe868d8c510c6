//! Tests of the preview. It applies the decision's own rules and reports the same verdicts. It
//! separates verdicts that may still change from final ones, and never permits a run.

use crate::scene;

use policies::{Evidence, Ledger, Outlook, Policy, Prospect, Verdict, foresee};
use scene::{Scene, codes, dropped, policy, refused, request, shipped};
use validator::Request;

fn outlook(scene: &Scene, request: Request, policy: &Policy) -> Outlook {
    let evidence = Evidence {
        submission: scene.submission.clone(),
        signatures: &scene.signatures,
        unread_signatures: &scene.unread_signatures,
        signers: scene.signers.as_ref(),
        origin: scene.origin.as_deref(),
        ledger: scene.ledger.clone(),
        permission: policies::Permission::NotAsked,
        ais: policies::AisEvidence {
            file: &policies::AisFile::Missing,
            trust: None,
            supply: &policies::ais::Supply::default(),
            nonces_used: Some(&std::collections::HashSet::new()),
        },
        binaries: &scene.binaries,
        now: scene.now,
    };
    foresee(request, policy, &evidence)
}

fn prospect(outlook: &Outlook, rule: &str) -> Prospect {
    outlook.rules().iter().find(|(row, _)| row.rule == rule).expect("the rule").1
}

/// Makes a scene that requires signatures and has none.
fn unsigned() -> Scene {
    let signers = policies::Signers::parse("").expect("an empty file");
    Scene { submission: dropped(), signers: Some(signers), ..Scene::default() }
}

#[test]
fn every_rule_says_what_the_decision_says() {
    for (changes, shown) in [
        (&[][..], shipped("standard")),
        (&[("cpu_limit: \"2\"", "cpu_limit: \"64\"")], shipped("standard")),
        (&[("purpose", "x-audience: there\npurpose")], shipped("standard")),
        (&[("language: \"python\"", "language: \"python\"\nbackend: ERA")], shipped("embedded")),
    ] {
        let scene = unsigned();
        let (violations, rules) = refused(scene.decide(request(changes), &shown));
        let outlook = outlook(&scene, request(changes), &shown);
        let foreseen: Vec<_> = outlook.rules().iter().map(|(row, _)| row.clone()).collect();
        assert_eq!(foreseen, rules);
        let mut all = codes(outlook.violations());
        all.extend(codes(outlook.lacking()));
        let mut decided = codes(&violations);
        all.sort();
        decided.sort();
        assert_eq!(all, decided);
    }
}

#[test]
fn what_may_still_come_is_told_from_what_will_not() {
    let outlook_of = |changes: &[_]| outlook(&unsigned(), request(changes), &shipped("standard"));
    let unsigned = outlook_of(&[]);
    assert_eq!(prospect(&unsigned, "approval.count"), Prospect::Open);
    assert_eq!(codes(unsigned.lacking()), ["approval.count"]);
    assert!(unsigned.violations().is_empty());
    assert_eq!([unsigned.signers(), unsigned.signatures_min()], [0, 1]);
    let grant = unsigned.grant().expect("everything but the approval is content");
    assert_eq!(grant.argv(), ["python", "-c", "print(1 + 1)"]);
    let elsewhere = outlook_of(&[("purpose", "x-audience: there\npurpose")]);
    let rule = prospect(&elsewhere, "approval.audience");
    assert_eq!(rule, Prospect::Settled(Verdict::Refuse));
    let too_much = outlook_of(&[("cpu_limit: \"2\"", "cpu_limit: \"64\"")]);
    assert_eq!(codes(too_much.violations()), ["limits.over-policy"]);
    assert!(too_much.grant().is_none(), "bounds that policy does not grant are no bounds");
}

#[test]
fn who_asks_must_be_named_before_anybody_signs() {
    let strict = policy("standard", &[("requester_required: false", "requester_required: true")]);
    let outlook = outlook(&unsigned(), request(&[]), &strict);
    assert_eq!(prospect(&outlook, "approval.self"), Prospect::Settled(Verdict::Refuse));
    assert_eq!(codes(outlook.violations()), ["approval.self"]);
}

#[test]
fn nothing_is_approved_while_nobody_asked_the_ledger() {
    let scene = Scene { ledger: Ledger::NotAsked, ..Scene::default() };
    let (violations, _) = refused(scene.decide(request(&[]), &shipped("embedded")));
    assert_eq!(codes(&violations), ["spool.replayed"]);
    let outlook = outlook(&scene, request(&[]), &shipped("embedded"));
    assert_eq!(prospect(&outlook, "approval.single-use"), Prospect::Open);
}
