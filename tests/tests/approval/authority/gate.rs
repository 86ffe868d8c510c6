//! The gate as a rule of the daemon's decision: requests that it holds, requests that shadow mode
//! lets pass and reports, and the gate's own result in the record.

use serde_json::{Value, json};
use toolexec_tests::{Bench, ssh_keygen_works};

use super::host::{AuthorityHost, SHADOW, UNKNOWN, answer_in, block, plain, rules_of};

#[test]
fn an_ordinary_run_records_the_decision_of_the_gate() {
    if !ssh_keygen_works("an_ordinary_run_records_the_decision_of_the_gate") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[]);
    let request = host.submit(&plain());
    let record = host.service.record_of(&request.id);
    record.assert_outcome("ok");
    let facts = block(&record, "gate");
    for line in ["mode: enforce", "gate_decision: pass", "recommended_action: accept"] {
        assert!(facts.contains(line), "{facts}");
    }
    let answer = answer_in(&record, "gate");
    assert_eq!(answer["authorization_state"], "confirmed");
    let sources = answer["evidence_integrity"]["used_source_ids"].to_string();
    assert!(sources.contains("\"approval.tester\""), "{sources}");
}

#[test]
fn what_the_gate_cannot_judge_is_held() {
    if !ssh_keygen_works("what_the_gate_cannot_judge_is_held") {
        return;
    }
    let bench = Bench::new();
    let mut host = AuthorityHost::start(&bench, &[UNKNOWN]);
    let request = host.submit(&plain());
    host.assert_held(&request.id, "gate.unknown_tool_category");
    host.crash();
    host.assert_held(&request.id, "gate.unknown_tool_category");
    assert!(host.permission_requests().is_empty(), "no permission is missing");
}

#[test]
fn a_shadow_runs_and_says_so() {
    if !ssh_keygen_works("a_shadow_runs_and_says_so") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[UNKNOWN, SHADOW]);
    let request = host.submit(&plain());
    let record = host.service.record_of(&request.id);
    record.assert_outcome("ok");
    let facts = block(&record, "gate");
    for line in ["mode: shadow", "gate_decision: fail", "recommended_action: defer"] {
        assert!(facts.contains(line), "{facts}");
    }
    let row = rules_of(&record).into_iter().find(|row| row[0] == "aana.gate").unwrap();
    assert_eq!(row[1], "pass");
    assert!(row[2].starts_with("not enforced (aana.mode is shadow)"), "{row:?}");
    host.service.verify().assert_code(0);
    // The result is the one that `toolexec gate` gives for such an event.
    let answer = answer_in(&record, "gate");
    let sources = answer["evidence_integrity"]["used_source_ids"].as_array().unwrap();
    let kinds = ["approval", "policy", "system_state", "system_state"];
    assert_eq!(sources.len(), kinds.len(), "{sources:?}");
    let reference = |(source, kind): (&Value, &str)| {
        json!({
            "source_id": source, "kind": kind, "trust_tier": "verified",
            "redaction_status": "redacted", "summary": "It was looked at.",
            "provenance": "toolexec", "freshness": { "status": "fresh" },
        })
    };
    let event = json!({
        "schema_version": "aana.agent_tool_precheck.v1",
        "request_id": request.id,
        "tool_name": "toolexec.run.python",
        "tool_category": "unknown",
        "authorization_state": "confirmed",
        "evidence_refs": sources.iter().zip(kinds).map(reference).collect::<Vec<_>>(),
        "risk_domain": "research",
        "proposed_arguments": { "argv": ["python", "script.py"] },
        "recommended_route": "ask",
    });
    let file = bench.scratch().file("event.json", event.to_string());
    let output = bench.toolexec(["gate".as_ref(), file.as_os_str()]);
    output.assert_code(1);
    let same: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer, same);
}
