//! Tests of AIS as rules of the decision. A covered request runs only with a bundle that binds it,
//! and every verdict of the guard is recorded.

use std::collections::HashSet;

use policies::ais::{self, EnvironmentDigests};
use policies::{AisEvidence, AisFile, Decision, Policy, Verdict};
use serde_json::json;
use validator::Request;

use super::decision::{self, codes, held, policy, reason, refused, request, verdict};
use super::scene::{AisScene, trust};

const PURPOSE: (&str, &str) = ("\"A sum.\"", "\"Summarize the weather.\"");

fn covering() -> Policy {
    let covers = "covers: none\n  # A missing rule";
    let profiles =
        "profiles: {research-readonly: {}}\n    jurisdiction: EU\n    obligations: [log]";
    policy("embedded", &[(covers, "covers: all\n  # A missing rule"), ("profiles: {}", profiles)])
}

/// Makes the good scene for the request and the time of the decision's tests.
fn bundle_of(request: &Request) -> AisScene {
    let mut scene = AisScene::good();
    scene.set("apa", "/steps/0/args", json!(ais::step_args(request)));
    scene.set("ibe", "/exp", json!("2026-02-09T17:10:00Z"));
    scene.set("crl", "/issued", json!("2026-02-09T16:55:00Z"));
    scene.set("crl", "/expires", json!("2026-02-09T17:55:00Z"));
    scene.parts.remove("sca");
    scene
}

fn file(scene: &AisScene) -> AisFile {
    AisFile::Read {
        name: "TR-1.ais.json".to_owned(),
        bytes: scene.signed().to_string().into_bytes(),
    }
}

fn decide(request: Request, file: &AisFile, used: &[&str]) -> Decision {
    let scene = AisScene::good();
    let (trust, digests) = (trust(&scene.trust), EnvironmentDigests::default());
    let nonces_used: HashSet<String> = used.iter().map(|it| (*it).to_owned()).collect();
    let ais = AisEvidence {
        file,
        trust: Some(&trust),
        supply: &digests,
        nonces_used: Some(&nonces_used),
    };
    decision::DecisionScene::default().decide_with(ais, request, &covering())
}

#[test]
fn a_request_with_its_bundle_runs_and_uses_the_nonce_up() {
    let request = request(&[PURPOSE]);
    let file = file(&bundle_of(&request));
    let approved = decision::approved(decide(request, &file, &[]));
    assert_eq!(approved.ais_nonce(), Some("3f9c1d2e"));
    let rules = &approved.rationale().rules;
    assert_eq!(verdict(rules, "ais"), Verdict::Pass);
    assert_eq!(verdict(rules, "ais.binding"), Verdict::Pass);
    let after: model::UtcTime = "2026-02-09T17:12:01Z".parse().expect("a time");
    let late = approved.still_holds(after).expect_err("the envelope is over");
    assert_eq!(late.code.as_str(), "ais.ibe-expired");
}

#[test]
fn unbound_request_is_refused_by_its_code() {
    let good = || request(&[PURPOSE]);
    let other = || request(&[PURPOSE, ("print(1 + 1)", "print(2 + 2)")]);
    let of_good = bundle_of(&good());
    let cases: [(&str, AisFile, &[&str]); 5] = [
        ("ais.bundle-unread", AisFile::Unread("TR-1.ais.json: a FIFO".to_owned()), &[]),
        ("ais.ibe-replay", file(&of_good), &["3f9c1d2e"]),
        ("ais.ibe-binding-mismatch", file(&bundle_of(&other())), &[]),
        (
            "ais.ibe-expired",
            {
                let mut scene = bundle_of(&good());
                scene.set("ibe", "/exp", json!("2026-02-09T16:00:00Z"));
                file(&scene)
            },
            &[],
        ),
        ("ais.input-bad-json", AisFile::Read { name: "x".to_owned(), bytes: b"{".to_vec() }, &[]),
    ];
    for (code, file, used) in cases {
        let (violations, rules) = refused(decide(good(), &file, used));
        assert_eq!(codes(&violations), [code]);
        assert_eq!(verdict(&rules, "ais"), Verdict::Refuse);
        if code == "ais.ibe-replay" {
            assert_eq!(verdict(&rules, "ais.nonce"), Verdict::Refuse);
            assert!(reason(&rules, "ais.nonce").contains("3f9c1d2e"), "{rules:#?}");
        }
    }
}

/// The bundle is made after the approval and may still arrive.
#[test]
fn missing_bundle_holds_the_request() {
    let (violations, rules) = held(decide(request(&[PURPOSE]), &AisFile::Missing, &[]));
    assert_eq!(codes(&violations), ["ais.bundle-missing"]);
    assert_eq!(verdict(&rules, "ais"), Verdict::Refuse);
}

#[test]
fn without_a_trust_store_nothing_is_bound() {
    let request = request(&[PURPOSE]);
    let file = file(&bundle_of(&request));
    let (digests, nonces_used) = (EnvironmentDigests::default(), HashSet::new());
    let ais =
        AisEvidence { file: &file, trust: None, supply: &digests, nonces_used: Some(&nonces_used) };
    let decision = decision::DecisionScene::default().decide_with(ais, request, &covering());
    assert_eq!(codes(&refused(decision).0), ["ais.authz-policy-deny"]);
}
