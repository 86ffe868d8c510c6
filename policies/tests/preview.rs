//! Tests of the preview. It applies the decision's own rules and reports the same verdicts. It
//! separates verdicts that may still change from final ones, and never permits a run.

use crate::scene;

use policies::{
    DecisionEvidence, DecisionPreview, ExpectedVerdict, LedgerEvidence, Policy, Verdict,
    preview_decision,
};
use scene::{DecisionScene, codes, dropped, policy, refused, request, shipped};
use validator::Request;

fn preview_of(scene: &DecisionScene, request: Request, policy: &Policy) -> DecisionPreview {
    let evidence = DecisionEvidence {
        submission: scene.submission.clone(),
        signatures: &scene.signatures,
        unread_signatures: &scene.unread_signatures,
        signers: scene.signers.as_ref(),
        host: scene.host(),
        ledger: scene.ledger.clone(),
        standing: policies::StandingEvidence::NotQueried,
        permission: policies::PermissionEvidence::NotQueried,
        ais: policies::AisEvidence {
            file: &policies::AisFile::Missing,
            trust: None,
            supply: &policies::ais::EnvironmentDigests::default(),
            nonces_used: Some(&std::collections::HashSet::new()),
        },
        binaries: &scene.binaries,
        environment: &scene.environment,
        now: scene.now,
    };
    preview_decision(request, policy, &evidence)
}

fn expected_verdict(preview: &DecisionPreview, rule: &str) -> ExpectedVerdict {
    preview.rules().iter().find(|(row, _)| row.rule == rule).expect("the rule").1
}

/// Makes a scene that requires signatures and has none.
fn unsigned() -> DecisionScene {
    let signers = policies::AllowedSigners::parse("").expect("an empty file");
    DecisionScene { submission: dropped(), signers: Some(signers), ..DecisionScene::default() }
}

#[test]
fn preview_reports_the_verdicts_of_the_decision() {
    for (changes, shown) in [
        (&[][..], shipped("standard")),
        (&[("cpu_limit: \"2\"", "cpu_limit: \"64\"")], shipped("standard")),
        (&[("purpose", "x-audience: there\npurpose")], shipped("standard")),
        (&[("language: \"python\"", "language: \"python\"\nbackend: ERA")], shipped("embedded")),
    ] {
        let scene = unsigned();
        let (violations, rules) = refused(scene.decide(request(changes), &shown));
        let preview = preview_of(&scene, request(changes), &shown);
        let foreseen: Vec<_> = preview.rules().iter().map(|(row, _)| row.clone()).collect();
        assert_eq!(foreseen, rules);
        let mut all = codes(preview.violations());
        all.extend(codes(preview.pending()));
        let mut decided = codes(&violations);
        all.sort();
        decided.sort();
        assert_eq!(all, decided);
    }
}

#[test]
fn pending_violations_are_separate_from_final_ones() {
    let preview_with =
        |changes: &[_]| preview_of(&unsigned(), request(changes), &shipped("standard"));
    let unsigned = preview_with(&[]);
    assert_eq!(expected_verdict(&unsigned, "approval.count"), ExpectedVerdict::Pending);
    assert_eq!(codes(unsigned.pending()), ["approval.count"]);
    assert!(unsigned.violations().is_empty());
    assert_eq!([unsigned.signers(), unsigned.signatures_min()], [0, 1]);
    let grant = unsigned.grant().expect("everything but the approval is content");
    assert_eq!(grant.argv(), ["python", "-c", "print(1 + 1)"]);
    let elsewhere = preview_with(&[("purpose", "x-audience: there\npurpose")]);
    let rule = expected_verdict(&elsewhere, "approval.audience");
    assert_eq!(rule, ExpectedVerdict::Final(Verdict::Refuse));
    let too_much = preview_with(&[("cpu_limit: \"2\"", "cpu_limit: \"64\"")]);
    assert_eq!(codes(too_much.violations()), ["limits.over-policy"]);
    assert!(too_much.grant().is_none(), "bounds that policy does not grant are no bounds");
}

#[test]
fn requester_must_be_named_before_signing() {
    let strict = policy("standard", &[("requester_required: false", "requester_required: true")]);
    let preview = preview_of(&unsigned(), request(&[]), &strict);
    assert_eq!(
        expected_verdict(&preview, "approval.self"),
        ExpectedVerdict::Final(Verdict::Refuse)
    );
    assert_eq!(codes(preview.violations()), ["approval.self"]);
}

#[test]
fn nothing_is_approved_without_a_ledger_query() {
    let scene = DecisionScene { ledger: LedgerEvidence::NotQueried, ..DecisionScene::default() };
    let (violations, _) = refused(scene.decide(request(&[]), &shipped("embedded")));
    assert_eq!(codes(&violations), ["spool.replayed"]);
    let preview = preview_of(&scene, request(&[]), &shipped("embedded"));
    assert_eq!(expected_verdict(&preview, "approval.single-use"), ExpectedVerdict::Pending);
}

#[test]
fn preview_shows_the_environment_of_the_run() {
    let named = format!("charts@sha256:{}", "3f".repeat(32));
    let opened = policies::OpenedEnvironment {
        reference: named.parse().unwrap(),
        is_root: false,
        programs: [("pytest".to_owned(), "bin/pytest".to_owned())].into(),
        variables: std::collections::BTreeMap::new(),
        needs: std::collections::BTreeMap::new(),
        tree: "/state/environments/tree".into(),
        identity: (1, 2),
        builder: policies::BuilderEvidence::Unsigned,
    };
    let environment = policies::EnvironmentEvidence::Opened(Box::new(opened));
    let scene = DecisionScene { environment, ..unsigned() };
    let key = format!("x-environment: \"{named}\"\npurpose");
    let changes = [("purpose", key.as_str()), ("python -c 'print(1 + 1)'", "pytest -q")];
    let permitting = policy("standard", &[("allowed: listed", "allowed: stored")]);
    let preview = preview_of(&scene, request(&changes), &permitting);
    let grant = preview.grant().expect("everything but the approval is content");
    assert_eq!(grant.environment().map(ToString::to_string), Some(named));
    let binary = grant.binary().display().to_string();
    assert_eq!(binary, "/cache/env/bin/pytest");
}
