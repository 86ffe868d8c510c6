//! One request that every authorization source checks: `explain` shows the facts and the verdict of
//! each rule before the submission, and the signed record shows the same.

use toolexec_tests::{Bench, CliOutput, Record, SavedRequest, ssh_keygen_works};

use super::host::{
    APPROVE, AuthorityHost, BOUND, CORE_DRAFTS, TOOL, block, of_agent, rules_of, sign,
};
use super::intent::IntentFixture;

/// Rules of the schema, the approval, the gate, the permission manager and AIS.
const OF_EVERY_SOURCE: [&str; 12] = [
    "command",
    "limits.memory",
    "layers",
    "approval.signature",
    "approval.count",
    "aana.gate",
    "permission",
    "ais.uia-signature",
    "ais.nonce",
    "ais.binding",
    "ais.supply",
    "ais",
];

/// Rules that depend on the caller and the time: the daemon owns ledger and store.
const OF_THE_MOMENT: [&str; 3] = ["approval.single-use", "approval.date-order", "ais.ledger"];

struct ExplainedRequest {
    output: CliOutput,
    rows: Vec<[String; 3]>,
}

fn explain(
    host: &AuthorityHost<'_>,
    intent: &IntentFixture<'_>,
    request: &SavedRequest,
) -> ExplainedRequest {
    let trust = intent.trust();
    let output =
        host.explain(request, &["--ais-trust", trust.to_str().unwrap(), "--format", "json"]);
    let json = output.json();
    let word = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = json["rules"].as_array().unwrap().iter();
    let rows = rows.map(|row| [word(row, "rule"), word(row, "verdict"), word(row, "reason")]);
    ExplainedRequest { rows: rows.collect(), output }
}

fn names(rows: &[[String; 3]]) -> Vec<&str> {
    rows.iter().map(|row| row[0].as_str()).collect()
}

#[track_caller]
fn verdict<'a>(explained: &'a ExplainedRequest, rule: &str) -> &'a str {
    let row = explained.rows.iter().find(|row| row[0] == rule);
    &row.unwrap_or_else(|| panic!("no {rule}: {:#?}", explained.output))[1]
}

#[track_caller]
fn assert_same_rules(explained: &ExplainedRequest, record: &Record) {
    let decided = rules_of(record);
    assert_eq!(names(&explained.rows), names(&decided));
    for (expected, recorded) in explained.rows.iter().zip(&decided) {
        if OF_THE_MOMENT.contains(&recorded[0].as_str()) {
            continue;
        }
        assert_eq!(expected[1], recorded[1], "{expected:?} {recorded:?}");
        let of_a_time =
            recorded[0] == "ais.exp" || recorded[0] == "ais.lifetime" || recorded[0] == "ais.crl";
        assert!(of_a_time || same_words(&expected[2], &recorded[2]), "{expected:?} {recorded:?}");
    }
}

/// Compares texts without quotes and backslashes, because the record escapes some characters.
fn same_words(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.replace(['\\', '"'], "");
    plain(one) == plain(other)
}

#[test]
fn every_source_is_explained_and_the_record_says_the_same() {
    if !ssh_keygen_works("every_source_is_explained_and_the_record_says_the_same") {
        return;
    }
    let bench = Bench::new();
    let intent = IntentFixture::new(&bench);
    let more = format!("ais_trust: {}\n", intent.trust().display());
    let changes = [CORE_DRAFTS, BOUND[0], BOUND[1]];
    let host = AuthorityHost::start_with(&bench, &changes, &more);
    // An answer for the workflow exists since an earlier draft.
    let earlier = bench.save(&of_agent("stats.agent", "wf-1"));
    intent.bind(&earlier);
    host.submit_saved(&earlier);
    host.assert_held(&earlier.id, "permission.requestable");

    let request = bench.save(&of_agent("stats.agent", "wf-1"));
    let unsigned = explain(&host, &intent, &request);
    unsigned.output.assert_code(0);
    for rule in ["approval.count", "aana.gate", "permission", "ais"] {
        assert_eq!(verdict(&unsigned, rule), "pending", "{rule}: {:#?}", unsigned.output);
    }
    assert_eq!(unsigned.output.json()["verdict"], "pending");
    host.answer(&host.permission_request(), &["--grant", TOOL]);
    host.service.record_of(&earlier.id).assert_outcome("ok");
    intent.bind(&request);
    sign(APPROVE, &host.key, &request.path);
    let ready = explain(&host, &intent, &request);
    ready.output.assert_code(0);
    assert_eq!(ready.output.json()["verdict"], "ready", "{:#?}", ready.output);
    for rule in OF_EVERY_SOURCE {
        assert_eq!(verdict(&ready, rule), "pass", "{rule}: {:#?}", ready.output);
    }
    let page = host.explain(&request, &["--ais-trust", intent.trust().to_str().unwrap()]);
    page.assert_code(0);
    for row in &ready.rows {
        assert!(page.stdout.contains(&row[0]), "{}: {}", row[0], page.stdout);
    }
    host.service.submit_saved(&request).assert_code(0);
    let record = host.service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_same_rules(&ready, &record);
    for authority in ["gate", "permission", "ais"] {
        assert!(block(&record, authority).lines().count() > 4, "{authority}");
    }
    assert!(record.text.contains("principal: \"tester\""), "{}", record.text);
    host.service.verify().assert_code(0);

    // A refusal by one source must not suppress the others' verdicts.
    let other = bench.save(&of_agent("stats.agent", "wf-1").memory_mb(99_999));
    intent.bind_with(&other, "ibe", |ibe| ibe["apaStepRef"] = "s9".into());
    sign(APPROVE, &host.key, &other.path);
    let refused = explain(&host, &intent, &other);
    refused.output.assert_code(2);
    host.service.submit_saved(&other).assert_code(0);
    let record = host.service.record_of(&other.id);
    record.assert_outcome("refused");
    record.assert_violation("limits.over-policy");
    record.assert_violation("ais.ibe-step-not-found");
    assert_same_rules(&refused, &record);
}
