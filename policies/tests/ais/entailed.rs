//! Tests of `semantic-entailment-v1` case by case, of calls of the demonstration's own tools, and
//! of the rules of a host.

use policies::ais::{
    AisBundle, AisCode, AisRules, Apa, EnvironmentDigests, GuardInput, GuardVerdict, Uia,
    UnverifiedArtifact, entail, judge,
};
use serde_json::{Value, json};

use super::scene::{AisScene, now, trust};

fn found(purpose: &str, steps: &[(&str, Value)], writes: u64) -> (f64, f64) {
    let mut scene = AisScene::good();
    scene.set("uia", "/purpose", json!(purpose));
    let steps: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(index, (tool, args))| {
            json!({
                "id": format!("s{index}"), "tool": tool, "args": args,
                "expected": { "dataClasses": [], "writes": 0 }, "alignment": { "score": 0, "why": "a test" },
            })
        })
        .collect();
    scene.set("apa", "/steps", json!(steps));
    scene.set("apa", "/totals/predictedWrites", json!(writes));
    let signed = scene.signed();
    let uia: UnverifiedArtifact<Uia> = UnverifiedArtifact::read(&signed["uia"]).expect("a UIA");
    let apa: UnverifiedArtifact<Apa> = UnverifiedArtifact::read(&signed["apa"]).expect("an APA");
    let found = entail(uia.content(), apa.content());
    (found.coverage, found.risk)
}

#[test]
fn coverage_is_the_part_of_steps_that_name_a_keyword() {
    let prompt = |text: &str| json!({ "prompt": text });
    let url = |text: &str| json!({ "url": text });
    let one = |purpose: &str, tool: &str, args: Value| found(purpose, &[(tool, args)], 0).0;
    let rows = [
        ("Read news", "ollama.generate", prompt("the NEWS of today"), 1.0),
        ("Read news", "toolexec.run.python", prompt("nothing new"), 0.0),
        ("Read news", "toolexec.run.r", prompt("Already seen"), 1.0),
        ("Read news", "toolexec.run", prompt("news"), 0.0),
        ("Read news", "http.get", url("https://example.org/News"), 1.0),
        ("Read news", "http.get", prompt("news"), 0.0),
        ("Read news", "ollama.generate", url("news"), 0.0),
        ("Read news", "ollama.generate", json!({ "prompt": ["news"] }), 0.0),
        ("Read news", "mail.send", prompt("news"), 0.0),
        ("a b c", "http.get", url("https://example.org/"), 1.0),
        ("a b c", "ollama.generate", prompt("a b c"), 0.0),
        ("the new one", "ollama.generate", prompt("the new one"), 0.0),
        ("cr\u{e8}me br\u{fb}l\u{e9}e", "ollama.generate", prompt("creme"), 0.0),
        ("boo\u{212a}s", "ollama.generate", prompt("books"), 1.0),
        ("tax2026form", "ollama.generate", prompt("a form"), 1.0),
    ];
    for (purpose, tool, args, expected) in rows {
        assert_eq!(one(purpose, tool, args), expected, "{purpose}: {tool}");
    }
    let steps: Vec<(&str, Value)> =
        ["news", "none", "none"].iter().map(|text| ("ollama.generate", prompt(text))).collect();
    assert_eq!(found("Read news", &steps, 0).0, 1.0 / 3.0);
    assert_eq!(found("Read news", &[], 0), (0.0, 1.0));
}

#[test]
fn risk_is_of_writes_and_of_words_that_go_outward() {
    let risk = |purpose: &str, writes: u64| found(purpose, &[("x.y", json!({}))], writes).1;
    assert_eq!(risk("Read news", 0), 0.0);
    assert_eq!(risk("Read news", 7), 0.5);
    for word in ["send", "POST", "rewrite", "Export", "e-email", "deleted", "send and delete"] {
        assert_eq!(risk(word, 0), 0.3, "{word}");
        assert_eq!(risk(word, 1), 0.8, "{word}");
    }
}

/// Returns the verdict of the rules `operation` and `destinations` about a call of `http.get`.
fn verdict_of_url(url: &str) -> Option<AisCode> {
    let mut scene = AisScene::good();
    scene.set("apa", "/steps/0/tool", json!("http.get"));
    scene.set("apa", "/steps/0/args", json!({ "url": url }));
    scene.set("tca", "/operations/0/name", json!("http.get"));
    scene.set("tca", "/operations/0/argsSchema", json!({ "required": ["url"] }));
    let bundle = AisBundle::read(scene.signed().to_string().as_bytes()).expect("a bundle");
    let judgement = judge(&GuardInput {
        bundle: &bundle,
        trust: &trust(&scene.trust),
        rules: &scene.rules,
        request: None,
        supply: &EnvironmentDigests::default(),
        now: now(),
        nonce_used: &|_| false,
    });
    let concerns_effects =
        |rule: &&policies::ais::GuardCheck| ["operation", "destinations"].contains(&rule.rule);
    judgement.checks().iter().filter(concerns_effects).find_map(|check| match &check.verdict {
        GuardVerdict::Refused(refusal) => Some(refusal.code),
        _ => None,
    })
}

#[test]
fn a_url_is_compared_by_its_whole_host() {
    for good in ["https://data.example/a?b#c", "HTTPS://DATA.example:443", "https://data.example"] {
        assert_eq!(verdict_of_url(good), None, "{good}");
    }
    let not_allowed = [
        "https://data.example.org/",
        "https://evil.example/data.example",
        "https://evil.example/?data.example",
        "https://evil.example#data.example",
        "https://mydata.example/",
        "http://data.example/",
        "https://data.example:8443/",
    ];
    for bad in not_allowed {
        assert_eq!(verdict_of_url(bad), Some(AisCode::DestinationNotAllowed), "{bad}");
    }
    let no_url = [
        "https://data.example@evil.example/",
        "https://evil.example\\@data.example/",
        "https://data%2eexample/",
        "https:// data.example/",
        "ftp://data.example/",
        "data.example",
        "https:///data.example",
        "",
    ];
    for bad in no_url {
        assert_eq!(verdict_of_url(bad), Some(AisCode::InputSchemaInvalid), "{bad}");
    }
}

#[test]
fn rules_of_a_host_are_read_strictly() {
    let read = |text: &str| AisRules::read(text.as_bytes());
    let rules = read("jurisdiction: EU\nprofiles: {a: {coverage_min: 1}}\n").expect("rules");
    assert_eq!(rules.envelope_seconds_max, 3600);
    assert!(read("{\"hs256\":\"demo\",\"risk_max\":[0,0,0,0,0,1]}").is_ok());
    let bad = [
        "more: 1",
        "coverage_min: 1.5",
        "coverage_min: .nan",
        "profiles: {a: {risk_max: -1}}",
        "profiles: {a: {more: 1}}",
        "risk_max: [0, 1]",
        "risk_max: [1, 0, 0, 0, 0, 0]",
        "hs256: yes",
        "crl: maybe",
        "envelope_seconds_max: -1",
        "{\"crl\":\"optional\",\"crl\":\"required\"}",
        "crl: optional\ncrl: required\n",
        "[]",
    ];
    for text in bad {
        assert!(read(text).is_err(), "{text}");
    }
}
