//! Tests of the guard. A good call is accepted, and each single change is refused by its code.

use policies::ais::{
    AisBundle, AisCode, GuardInput, GuardVerdict, Presence, SecretKeys, guard, judge,
};
use serde_json::{Value, json};

use super::scene::{AisScene, key, time, trust};

type SceneChange = fn(&mut AisScene);

#[test]
fn a_good_call_is_accepted() {
    let accepted = AisScene::good().outcome().unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(accepted["nonce"], "3f9c1d2e");
    assert_eq!(accepted["signers"]["apa"], "agent");
    assert_eq!(accepted["crl"]["issued"], "2026-06-01T11:55:00Z");
}

/// The code, a description of the change, the change.
const REFUSED: &[(AisCode, &str, SceneChange)] = &[
    (AisCode::InputSchemaInvalid, "unknown field", |s| {
        s.set("uia", "/more", json!(1));
    }),
    (AisCode::InputSchemaInvalid, "args by schema", |s| {
        s.set("tca", "/operations/0/argsSchema", json!({ "required": ["more"] }));
    }),
    (AisCode::InputSchemaInvalid, "schema of the network", |s| {
        s.set("tca", "/operations/0/argsSchema", json!({ "$ref": "https://example.org/s.json" }));
    }),
    (AisCode::InputSchemaInvalid, "schema of a file", |s| {
        s.set("tca", "/operations/0/argsSchema", json!({ "$ref": "file:///etc/passwd" }));
    }),
    (AisCode::UiaSigInvalid, "another role", |s| {
        s.signers.insert("uia", "operator");
    }),
    (AisCode::ApaSigInvalid, "another role", |s| {
        s.signers.insert("apa", "user");
    }),
    (AisCode::AprSigInvalid, "the planner", |s| {
        s.signers.insert("apr", "agent");
    }),
    (AisCode::AprSigInvalid, "the planner's other key", |s| {
        s.trust["keys"][2]["principal"] = json!("agent");
    }),
    (AisCode::TcaSigInvalid, "another role", |s| {
        s.signers.insert("tca", "host");
    }),
    (AisCode::IbeSigInvalid, "another role", |s| {
        s.signers.insert("ibe", "user");
    }),
    (AisCode::ScaSigInvalid, "another role", |s| {
        s.signers.insert("sca", "operator");
    }),
    (AisCode::CrlSigInvalid, "another role", |s| {
        s.signers.insert("crl", "host");
    }),
    (AisCode::UiaSigInvalid, "unknown key", |s| {
        s.signers.insert("uia", "stranger");
    }),
    (AisCode::UiaSigInvalid, "another subject", |s| {
        s.set("uia", "/subject/id", json!("did:example:operator"));
    }),
    (AisCode::TcaSigInvalid, "another operator", |s| {
        s.set("tca", "/operator", json!("did:example:user"));
    }),
    (AisCode::UiaSigInvalid, "key not valid yet", |s| {
        s.trust["keys"][0]["valid_from"] = json!("2026-06-01T12:02:01Z");
    }),
    (AisCode::UiaSigInvalid, "key not valid any more", |s| {
        s.trust["keys"][0]["valid_until"] = json!("2026-06-01T11:57:59Z");
    }),
    (AisCode::IbeExpired, "past", |s| {
        s.set("ibe", "/exp", json!("2026-06-01T11:57:59Z"));
    }),
    (AisCode::IbeLifetimeExceeded, "too long", |s| {
        s.set("ibe", "/exp", json!("2026-06-01T13:00:01Z"));
    }),
    (AisCode::UiaExpired, "past", |s| {
        s.set("uia", "/constraints/timeWindow/notAfter", json!("2026-06-01T11:57:59Z"));
    }),
    (AisCode::IbeReplay, "used before", |s| s.seen.push("3f9c1d2e".to_owned())),
    (AisCode::CrlStale, "missing", |s| {
        s.parts.remove("crl");
    }),
    (AisCode::CrlStale, "ended", |s| {
        s.set("crl", "/expires", json!("2026-06-01T11:57:59Z"));
    }),
    (AisCode::CrlStale, "to come", |s| {
        s.set("crl", "/issued", json!("2026-06-01T12:02:01Z"));
    }),
    (AisCode::CrlStale, "holds too long", |s| {
        s.set("crl", "/expires", json!("2026-06-03T12:00:00Z"));
    }),
    (AisCode::UiaRevoked, "on the list", |s| {
        let id = s.parts["uia"]["id"].clone();
        s.set("crl", "/revoked/0", json!({ "type": "UIA", "id": id }));
    }),
    (AisCode::ApaRevoked, "on the list", |s| {
        let id = s.parts["apa"]["id"].clone();
        s.set("crl", "/revoked/0", json!({ "type": "APA", "id": id, "reason": "superseded" }));
    }),
    (AisCode::LinkMismatch, "ibe.uiaRef", |s| {
        s.set("ibe", "/uiaRef", json!("urn:uia:other"));
    }),
    (AisCode::LinkMismatch, "ibe.aprRef", |s| {
        s.set("ibe", "/aprRef", json!("urn:apr:other"));
    }),
    (AisCode::LinkMismatch, "ibe.tcaRef", |s| {
        s.set("ibe", "/tcaRef", json!("urn:tca:o@1"));
    }),
    (AisCode::LinkMismatch, "apa.uia", |s| {
        s.set("apa", "/uia", json!("urn:uia:other"));
    }),
    (AisCode::LinkMismatch, "apr.uia", |s| {
        s.set("apr", "/uia", json!("urn:uia:other"));
    }),
    (AisCode::LinkMismatch, "apr.apa", |s| {
        s.set("apr", "/apa", json!("urn:apa:other"));
    }),
    (AisCode::IbeStepNotFound, "no such step", |s| {
        s.set("ibe", "/apaStepRef", json!("s2"));
    }),
    (AisCode::IbeStepNotFound, "of another plan", |s| {
        s.set("ibe", "/apaStepRef", json!("urn:apa:other#s1"));
    }),
    (AisCode::IbeBindingMismatch, "another purpose", |s| {
        s.request.args["prompt"] = json!("Summarize another table of the weather");
    }),
    (AisCode::IbeBindingMismatch, "another intent", |s| {
        s.request.args["intent_sha256"] = json!("44".repeat(32));
    }),
    (AisCode::IbeBindingMismatch, "another word", |s| {
        s.request.args["argv"][1] = json!("other.py")
    }),
    (AisCode::IbeBindingMismatch, "another input", |s| {
        s.request.args["inputs"]["table.csv"] = json!("55".repeat(32));
    }),
    (AisCode::IbeBindingMismatch, "one argument more", |s| {
        s.set("apa", "/steps/0/args/more", json!(1));
    }),
    (AisCode::IbeBindingMismatch, "one argument less", |s| {
        s.request.args.insert("more".to_owned(), json!(1));
    }),
    (AisCode::IbeBindingMismatch, "another tool", |s| s.request.tool = "toolexec.run.r".to_owned()),
    (AisCode::PlanNotExplicit, "template", |s| {
        s.set("apa", "/steps/0/args/inputs/table.csv", json!("{{digest}}"));
    }),
    (AisCode::PlanNotExplicit, "placeholder", |s| {
        s.set("apa", "/steps/0/args/intent_sha256", json!("<digest>"));
    }),
    (AisCode::PlanNotExplicit, "missing", |s| {
        s.set("apa", "/steps/0/args/intent_sha256", Value::Null);
    }),
    (AisCode::PlanGuardUnmet, "alternative without a guard", |s| {
        s.set("apa", "/steps/0/alternative", json!("how"));
    }),
    (AisCode::PlanGuardUnmet, "guard that does not hold", |s| {
        s.set("apa", "/steps/0/guard", json!({ "pointer": "/uia/riskBudget/level", "equals": 4 }));
    }),
    (AisCode::PlanGuardUnmet, "guard that nothing decides", |s| {
        s.set("apa", "/steps/0/guard", json!({ "pointer": "/uia/riskBudget/no", "equals": 3 }));
    }),
    (AisCode::PlanGuardUnmet, "guard of the plan's own", |s| {
        s.set("apa", "/steps/0/guard", json!({ "pointer": "/apa/model/version", "equals": "1" }));
    }),
    (AisCode::PlanTotalsLow, "writes", |s| {
        s.set("apa", "/steps/0/expected/writes", json!(2));
    }),
    (AisCode::PlanTotalsLow, "calls", |s| {
        s.take("apa", "/totals/predictedExternalCalls");
    }),
    (AisCode::AlignMismatch, "coverage", |s| {
        s.set("apr", "/evidence/coverage", json!(0.999_999_99));
    }),
    (AisCode::AlignMismatch, "risk", |s| {
        s.set("apr", "/evidence/risk", json!(0.4));
    }),
    (AisCode::AlignMismatch, "score of a step", |s| {
        s.set("apa", "/steps/0/alignment/score", json!(0.9));
    }),
    (AisCode::AlignBelowThreshold, "policy asks for more", |s| s.rules.coverage_min = 1.1),
    (AisCode::AlignBelowThreshold, "the profile asks for more", |s| {
        s.rules.profiles.values_mut().for_each(|profile| profile.coverage_min = Some(1.1));
    }),
    (AisCode::AlignBelowThreshold, "policy asks for no number", |s| {
        s.rules.coverage_min = f64::NAN
    }),
    (AisCode::RiskBudgetExceeded, "a lower level", |s| {
        s.set("uia", "/riskBudget/level", json!(2));
    }),
    (AisCode::RiskBudgetExceeded, "the profile allows less", |s| {
        s.rules.profiles.values_mut().for_each(|profile| profile.risk_max = Some(0.4));
    }),
    (AisCode::RiskWritesExceeded, "the user allows less", |s| {
        s.set("uia", "/riskBudget/maxWrites", json!(0));
    }),
    (AisCode::RiskWritesExceeded, "the profile allows less", |s| {
        s.rules.profiles.values_mut().for_each(|profile| profile.writes_max = Some(0));
    }),
    (AisCode::RiskWritesExceeded, "the request writes more", |s| s.request.writes = 2),
    (AisCode::RiskRecordsExceeded, "the user allows less", |s| {
        s.set("uia", "/riskBudget/maxRecords", json!(9));
    }),
    (AisCode::RiskCallsExceeded, "the user allows none", |s| {
        s.take("uia", "/riskBudget/maxExternalCalls");
    }),
    (AisCode::RiskCallsExceeded, "the request names more hosts", |s| {
        let host = s.request.hosts[0].clone();
        s.request.hosts.push(host);
    }),
    (AisCode::DataClassNotPermitted, "of the step", |s| {
        s.set("uia", "/constraints/dataClasses", json!(["internal"]));
    }),
    (AisCode::DataClassNotPermitted, "of the request", |s| {
        s.request.data_classes.push("confidential".to_owned());
    }),
    (AisCode::TcaOpNotAllowed, "no such operation", |s| {
        s.set("tca", "/operations/0/name", json!("toolexec.run.r"));
    }),
    (AisCode::TcaEffectsExceeded, "writes", |s| {
        s.set("tca", "/operations/0/effects/writes", json!(0));
    }),
    (AisCode::TcaEffectsExceeded, "below the range", |s| {
        s.set("tca", "/operations/0/effects/writes", json!({ "min": 2, "max": 3 }));
    }),
    (AisCode::TcaEffectsExceeded, "data classes", |s| {
        s.set("tca", "/operations/0/effects/dataClasses", json!([]));
    }),
    (AisCode::DestinationNotAllowed, "the operation names none", |s| {
        s.take("tca", "/operations/0/effects/destinations");
    }),
    (AisCode::DestinationNotAllowed, "a part of the name", |s| {
        s.set("tca", "/operations/0/effects/destinations", json!(["example", "a.data.example"]));
    }),
    (AisCode::DestinationNotAllowed, "another port", |s| {
        s.set("tca", "/operations/0/effects/destinations", json!(["data.example:80"]));
    }),
    (AisCode::DestinationNotAllowed, "the user names another", |s| {
        s.set("uia", "/constraints/destinations", json!(["other.example"]));
    }),
    (AisCode::ScaMismatch, "another policy", |s| s.set_digest("policies")),
    (AisCode::ScaMismatch, "another program", |s| s.set_digest("guards")),
    (AisCode::ScaMismatch, "another runtime", |s| s.set_digest("runtimes")),
    (AisCode::ScaMismatch, "nothing said of it", |s| {
        s.set("sca", "/x-runtimes", json!([]));
    }),
    (AisCode::ScaMismatch, "another model", |s| {
        s.set("sca", "/components/0/hash", json!("model-2"));
    }),
    (AisCode::ScaMismatch, "policy asks for one", |s| {
        s.parts.remove("sca");
        s.rules.sca = Presence::Required;
    }),
    (AisCode::AuthzPolicyDeny, "unknown profile", |s| {
        s.set("uia", "/policyProfile", json!("anything"));
    }),
    (AisCode::AuthzPolicyDeny, "tool of the profile", |s| {
        s.rules.profiles.values_mut().for_each(|profile| profile.tools = Some(Vec::new()));
    }),
    (AisCode::AuthzPolicyDeny, "unknown method", |s| {
        s.set("apr", "/method", json!("classifier-v1"));
    }),
    (AisCode::AuthzPolicyDeny, "method that nobody computes", |s| {
        s.rules.methods.push("external-policy-v1".to_owned());
        s.set("apr", "/method", json!("external-policy-v1"));
    }),
    (AisCode::AuthzPolicyDeny, "unknown obligation", |s| {
        s.set("apr", "/evidence/obligations", json!(["log", "co-sign"]));
    }),
    (AisCode::AuthzPolicyDeny, "another jurisdiction", |s| {
        s.rules.jurisdiction = Some("US".to_owned());
    }),
    (AisCode::AuthzPolicyDeny, "policy does not say where it is", |s| s.rules.jurisdiction = None),
];

impl AisScene {
    fn set_digest(&mut self, kind: &str) {
        let other = model::Sha256::of(b"other");
        let environment = &mut self.environment;
        let digests = match kind {
            "policies" => &mut environment.policies,
            "guards" => &mut environment.guards,
            _ => &mut environment.runtimes,
        };
        digests.values_mut().for_each(|digest| *digest = other);
    }
}

#[test]
fn one_change_is_refused_by_the_code_that_names_it() {
    for (code, what, change) in REFUSED {
        let mut scene = AisScene::good();
        change(&mut scene);
        let refusal = scene.outcome().expect_err(&format!("{code}: {what}"));
        assert_eq!(refusal.code, *code, "{what}: {refusal}");
    }
}

#[test]
fn every_code_has_a_case() {
    for code in AisCode::ALL {
        let covered = REFUSED.iter().any(|(known, _, _)| known == code);
        // A bundle that is not JSON has no scene.
        assert!(covered || *code == AisCode::InputBadJson, "{code}");
    }
}

const ACCEPTED: &[(&str, SceneChange)] = &[
    ("step with the plan's name", |s| {
        let reference = format!("{}#s1", s.parts["apa"]["id"].as_str().unwrap_or_default());
        s.set("ibe", "/apaStepRef", json!(reference));
    }),
    ("just past, within the skew", |s| {
        s.set("ibe", "/exp", json!("2026-06-01T11:58:00Z"));
    }),
    ("the longest life", |s| {
        s.set("ibe", "/exp", json!("2026-06-01T13:00:00Z"));
    }),
    ("fraction of a second", |s| {
        s.set("ibe", "/exp", json!("2026-06-01T12:10:00.25Z"));
    }),
    ("no list, and policy asks for none", |s| {
        s.parts.remove("crl");
        s.rules.crl = Presence::Optional;
    }),
    ("no supply chain assertion", |s| {
        s.parts.remove("sca");
    }),
    ("no destinations of the user's", |s| {
        s.take("uia", "/constraints/destinations");
    }),
    ("guard that holds", |s| {
        s.set("apa", "/steps/0/guard", json!({ "pointer": "/uia/riskBudget/level", "equals": 3 }));
    }),
    ("words of a command are no template", |s| {
        s.set("apa", "/steps/0/args/argv/1", json!("${x}"));
        s.request.args["argv"][1] = json!("${x}");
    }),
    ("a revoked plan of another name", |s| {
        let id = s.parts["apa"]["id"].clone();
        s.set("crl", "/revoked/0", json!({ "type": "UIA", "id": id }));
    }),
];

#[test]
fn allowed_variants_are_accepted() {
    for (what, change) in ACCEPTED {
        let mut scene = AisScene::good();
        change(&mut scene);
        scene.outcome().unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    }
}

#[test]
fn of_alternatives_the_one_that_its_guard_chooses() {
    let mut scene = AisScene::good();
    let mut other = scene.parts["apa"]["steps"][0].clone();
    let guard = |level: u64| json!({ "pointer": "/uia/riskBudget/level", "equals": level });
    other["id"] = json!("s2");
    other["alternative"] = json!("how");
    other["guard"] = guard(4);
    let mut first = scene.parts["apa"]["steps"][0].clone();
    first["alternative"] = json!("how");
    first["guard"] = guard(3);
    scene.set("apa", "/steps", json!([first, other]));
    scene.set("apa", "/totals/predictedWrites", json!(2));
    scene.set("apa", "/totals/predictedExternalCalls", json!(2));
    scene.set("uia", "/riskBudget/maxExternalCalls", json!(2));
    scene.outcome().unwrap_or_else(|refusal| panic!("{refusal}"));
    for (second, reference) in [(guard(4), "s2"), (guard(3), "s1"), (Value::Null, "s1")] {
        match second {
            Value::Null => scene.take("apa", "/steps/1/guard"),
            second => scene.set("apa", "/steps/1/guard", second),
        }
        scene.set("ibe", "/apaStepRef", json!(reference));
        let refusal = scene.outcome().expect_err(reference);
        assert_eq!(refusal.code, AisCode::PlanGuardUnmet, "{refusal}");
    }
}

#[test]
fn nonce_is_queried_only_if_all_signatures_are_good() {
    let mut scene = AisScene::good();
    scene.signers.insert("uia", "operator");
    let bundle = AisBundle::read(scene.signed().to_string().as_bytes()).expect("a bundle");
    let judgement = judge(&GuardInput {
        bundle: &bundle,
        trust: &trust(&scene.trust),
        rules: &scene.rules,
        request: Some(&scene.request),
        supply: &scene.environment,
        now: scene.now,
        nonce_used: &|_| panic!("asked"),
    });
    let applied: Vec<&str> = judgement
        .checks()
        .iter()
        .filter(|check| check.verdict != GuardVerdict::NotApplicable)
        .map(|check| check.rule)
        .collect();
    assert!(applied.iter().all(|rule| rule.ends_with("-signature")), "{applied:?}");
    assert_eq!(applied.len(), 7);
}

#[test]
fn without_a_request_nothing_is_accepted() {
    let scene = AisScene::good();
    let bundle = AisBundle::read(scene.signed().to_string().as_bytes()).expect("a bundle");
    let trust = trust(&scene.trust);
    let case = GuardInput {
        bundle: &bundle,
        trust: &trust,
        rules: &scene.rules,
        request: None,
        supply: &scene.environment,
        now: scene.now,
        nonce_used: &|_| false,
    };
    assert_eq!(judge(&case).to_json()["verdict"], "unbound");
    let refusal = guard(&case).expect_err("no request");
    assert_eq!(refusal.code, AisCode::IbeBindingMismatch);
}

#[test]
fn secrets_count_only_where_policy_says_that_it_demonstrates() {
    use base64ct::{Base64UrlUnpadded, Encoding};
    use policies::ais::{AisArtifact, SigningKey, embed};

    let secret = concat!("dev-", "secret");
    let mut scene = AisScene::good();
    scene.trust["keys"][0]["algorithm"] = json!("HS256");
    let k = Base64UrlUnpadded::encode_string(secret.as_bytes());
    scene.trust["keys"][0]["key"] = json!({ "kty": "oct", "k": k });
    let mut bundle = scene.signed();
    let uia = scene.parts["uia"].as_object().cloned().unwrap_or_default();
    let shared = SigningKey::from_secret(secret.as_bytes()).expect("a secret");
    bundle["uia"] = embed(AisArtifact::Uia, uia, &shared, None);
    let refusal = scene.outcome_of(bundle.to_string().as_bytes()).expect_err("refused");
    assert_eq!(refusal.code, AisCode::UiaSigInvalid);
    scene.rules.hs256 = SecretKeys::Demo;
    scene.outcome_of(bundle.to_string().as_bytes()).unwrap_or_else(|refusal| panic!("{refusal}"));
}

#[test]
fn an_envelope_long_past_is_refused_as_the_demo_does() {
    let mut scene = AisScene::good();
    scene.set("ibe", "/exp", json!("2000-01-01T00:00:00Z"));
    assert_eq!(scene.outcome().expect_err("past").code, AisCode::IbeExpired);
    scene = AisScene::good();
    scene.now = time("2026-06-02T12:00:00Z");
    assert_eq!(scene.outcome().expect_err("past").code, AisCode::IbeExpired);
    // An invalid signature, as in the demonstration's vector.
    let mut bundle = AisScene::good().signed();
    bundle["ibe"]["sig"] = json!("not-a-real-signature");
    assert_eq!(
        AisScene::good().outcome_of(bundle.to_string().as_bytes()).expect_err("forged").code,
        AisCode::IbeSigInvalid
    );
}

#[test]
fn an_envelope_signed_without_its_sig_is_accepted_too() {
    use policies::ais::{canonical, sign};
    let scene = AisScene::good();
    let mut bundle = scene.signed();
    let payload = canonical(&scene.parts["ibe"]);
    bundle["ibe"]["sig"] = json!(sign(&payload, &key("envelope"), Some("envelope")));
    scene.outcome_of(bundle.to_string().as_bytes()).unwrap_or_else(|refusal| panic!("{refusal}"));
}

#[test]
fn long_foreign_text_is_quoted_shortened() {
    let mut scene = AisScene::good();
    scene.set("apa", "/steps/0/args/argv", json!(["\u{7f}".repeat(60_000)]));
    let refusal = scene.outcome().unwrap_err();
    assert_eq!(refusal.code, AisCode::IbeBindingMismatch);
    assert!(refusal.details["omitted_bytes"].as_u64().is_some_and(|bytes| bytes > 60_000));
    assert!(refusal.to_json().to_string().len() < 10_000);
}

#[test]
fn a_schema_that_refers_is_refused_before_it_is_followed() {
    let mut scene = AisScene::good();
    let mut defs = serde_json::Map::new();
    for level in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/a{}", level + 1) });
        defs.insert(format!("a{level}"), json!({ "allOf": [next, next] }));
    }
    defs.insert("a60".to_owned(), json!({}));
    let schema = json!({ "$ref": "#/$defs/a0", "$defs": defs });
    scene.set("tca", "/operations/0/argsSchema", schema);
    assert_eq!(scene.outcome().unwrap_err().code, AisCode::InputSchemaInvalid);
}

#[test]
fn purposes_and_step_names_have_an_end() {
    for (part, pointer) in [("uia", "/purpose"), ("ibe", "/apaStepRef")] {
        let mut scene = AisScene::good();
        scene.set(part, pointer, json!("a".repeat(4097)));
        assert_eq!(scene.outcome().unwrap_err().code, AisCode::InputSchemaInvalid, "{part}");
    }
}
