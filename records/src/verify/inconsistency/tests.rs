//! Each rule against facts that violate only that rule, and all rules against honest runs. A case
//! must never violate two rules at once: a missing rule would then go unnoticed.

use serde_json::json;

use super::*;

/// The facts of an honest run with outcome `ok` that the rules read.
fn ran() -> Value {
    json!({
        "result_id": "TS-20261121-121026Z-TR-20261121-120000Z-stats",
        "request_id": "TR-20261121-120000Z-stats",
        "created_utc": "2026-11-21T12:10:30Z",
        "started_utc": "2026-11-21T12:10:26Z",
        "ended_utc": "2026-11-21T12:10:30Z",
        "outcome": "ok",
        "exit_code": 0,
        "reason": null,
        "request_sha256": "ab".repeat(32),
        "files": [
            { "path": "request/a.md", "sha256": "ab".repeat(32) },
            { "path": "request/a.md.sig", "sha256": "cd".repeat(32) },
        ],
        "backend": "confined",
        "backend_detail": null,
        "approval": "signed by 1 of 1",
        "approvals": [{ "principal": "alice", "key": "SHA256:x" }],
        "replay_of": null,
        "rules": [{ "rule": "a", "verdict": "pass" }],
        "argv": ["x"],
        "argv_total": 1,
        "violations": [],
        "violations_total": 0,
        "artifacts": [{ "path": "a" }],
        "confinement": {},
        "accounting": { "oom_kills": 0 },
        "denials": { "violation": null },
        "rejected": [],
        "rejected_total": 0,
        "collection_complete": true,
    })
}

fn refused() -> Value {
    let mut facts = ran();
    let nothing = ["started_utc", "ended_utc", "confinement", "accounting", "denials"];
    for key in nothing.into_iter().chain(["collection_complete"]) {
        facts[key] = Value::Null;
    }
    facts["outcome"] = "refused".into();
    facts["exit_code"] = (-1).into();
    facts["reason"] = "because".into();
    facts["artifacts"] = json!([]);
    facts
}

fn times(created: &str, approved: &str) -> RequestTimes {
    let at = |clock: &str| format!("2026-11-21T{clock}Z").parse().unwrap();
    RequestTimes { created: at(created), approved: at(approved) }
}

fn findings(facts: &Value, request: Option<RequestTimes>) -> Vec<String> {
    let what = |fault| match fault {
        VerifyError::Inconsistency { what, .. } => what,
        other => panic!("{other:?}"),
    };
    faults("x.md", facts, request).map(what).collect()
}

#[test]
fn honest_records_contradict_nothing() {
    let on_time = Some(times("12:00:00", "12:05:00"));
    assert_eq!(findings(&ran(), on_time), Vec::<String>::new());
    assert_eq!(findings(&refused(), on_time), Vec::<String>::new());
    let ends = [
        ("exit_nonzero", 1),
        ("exit_nonzero", 255),
        ("signal", 137),
        ("wall_limit", 137),
        ("cpu_limit", 0),
        ("memory_limit", 0),
        ("pids_limit", -1),
        ("output_limit", 153),
        ("output_rejected", 0),
        ("seccomp_violation", 159),
        ("cancelled", 143),
        ("indeterminate", -1),
    ];
    for (outcome, code) in ends {
        let mut facts = ran();
        facts["outcome"] = outcome.into();
        facts["exit_code"] = code.into();
        assert_eq!(findings(&facts, on_time), Vec::<String>::new(), "{outcome}");
        if ["cancelled", "indeterminate"].contains(&outcome) {
            let mut facts = refused();
            facts["outcome"] = outcome.into();
            assert_eq!(findings(&facts, None), Vec::<String>::new(), "{outcome}");
        }
    }
    let mut replay = ran();
    replay["replay_of"] = json!({
        "result_id": "TS-20261121-121020Z-TR-20261121-120000Z-stats",
        "record_sha256": "ab".repeat(32),
    });
    assert_eq!(findings(&replay, on_time), Vec::<String>::new());
    // Two keys of one person are one approval.
    let mut two = ran();
    two["approvals"] = json!([{ "principal": "alice" }, { "principal": "alice" }]);
    two["files"] = json!([{ "path": "request/a.md", "sha256": "ab".repeat(32) },
        { "path": "request/a.sig" }, { "path": "request/b.sig" }]);
    assert_eq!(findings(&two, on_time), Vec::<String>::new());
    two["approval"] = "signed by 2 of 2".into();
    assert_eq!(findings(&two, on_time), ["approval is by 2 people and approvals are by 1"]);
    // An approver's clock may be a little ahead of the host's.
    assert_eq!(findings(&ran(), Some(times("12:10:00", "12:12:26"))), Vec::<String>::new());
    assert_eq!(findings(&ran_in_monty(), on_time), Vec::<String>::new());
    // Older versions state fewer facts.
    let older = json!({ "result_id": "TS-20261121-121026Z-TR-20261121-120000Z-stats",
        "request_id": "TR-20261121-120000Z-stats", "outcome": "ok", "exit_code": 0 });
    assert_eq!(findings(&older, None), Vec::<String>::new());
}

/// The files of a backend with this name.
fn detail(name: &str) -> Value {
    let files = json!([{ "role": "program", "sha256": "ef".repeat(32) }]);
    json!({ "name": name, "kind": "interpreter", "files": files })
}

fn ran_in_monty() -> Value {
    let mut facts = ran();
    facts["backend"] = "monty".into();
    facts["backend_detail"] = detail("monty");
    facts
}

/// Records with a JSON pointer, the contradicting value there, and a part of the expected finding.
fn contradictions() -> Vec<(Value, &'static str, Value, &'static str)> {
    vec![
        (ran(), "/ended_utc", Value::Null, "outcome is ok and ended_utc is null"),
        (ran(), "/confinement", Value::Null, "outcome is ok and confinement is null"),
        (refused(), "/started_utc", "2026-11-21T12:10:26Z".into(), "states a run"),
        (refused(), "/accounting", json!({}), "outcome is refused and accounting states"),
        (refused(), "/exit_code", 0.into(), "nothing ran and exit_code is 0"),
        (refused(), "/artifacts", json!([{}]), "nothing ran and 1 artifacts were kept"),
        (refused(), "/reason", Value::Null, "no reason is stated"),
        (ran(), "/exit_code", 1.into(), "outcome is ok and exit_code is 1"),
        (ran(), "/exit_code", 137.into(), "outcome is ok and exit_code is 137"),
        (ran(), "/outcome", "exit_nonzero".into(), "exit_nonzero and exit_code is 0"),
        (ran(), "/outcome", "signal".into(), "outcome is signal and exit_code is 0"),
        (ran(), "/outcome", "indeterminate".into(), "indeterminate and exit_code is 0"),
        (ran(), "/accounting/oom_kills", 1.into(), "outcome is ok and oom_kills is 1"),
        (ran(), "/denials/violation", "ptrace".into(), "the violation is ptrace"),
        (ran(), "/rejected_total", 2.into(), "outcome is ok and rejected_total is 2"),
        (ran(), "/collection_complete", false.into(), "collection_complete is false"),
        (ran(), "/rules/0/verdict", "refuse".into(), "rule a refused, but a run is stated"),
        (
            ran(),
            "/ended_utc",
            "2026-11-21T12:10:25Z".into(),
            "ended_utc 2026-11-21T12:10:25Z is before started_utc 2026-11-21T12:10:26Z",
        ),
        (ran(), "/created_utc", "2026-11-21T12:10:29Z".into(), "created_utc"),
        (
            refused(),
            "/created_utc",
            "2026-11-21T12:10:25Z".into(),
            "is before 2026-11-21T12:10:26Z of result_id",
        ),
        (ran(), "/request_id", "TR-20261121-120000Z-other".into(), "and request_id is TR-"),
        (
            refused(),
            "/result_id",
            "TS-20261121-121026Z-REFUSED-0123456789abcdef".into(),
            "and request_sha256 is abab",
        ),
        (ran(), "/files/0/sha256", "cd".repeat(32).into(), "request/a.md has cdcd"),
        (ran(), "/files/1/path", "request/a".into(), "1 approvals are stated and 0 sig"),
        (ran(), "/approval", "signed by 2 of 2".into(), "2 people and approvals are by 1"),
        (
            ran(),
            "/replay_of",
            json!({ "result_id": "TS-20261121-121026Z-TR-20261121-120000Z-other" }),
            "replay_of is TS-20261121-121026Z-TR-20261121-120000Z-other and request_id is",
        ),
        (ran(), "/replay_of", json!({}), "replay_of is  and request_id is"),
        (
            ran(),
            "/replay_of",
            json!({ "result_id": "TS-20261121-121026Z-TR-20261121-120000Z-stats" }),
            "replay_of is TS-20261121-121026Z-TR-20261121-120000Z-stats and request_id is",
        ),
        (ran(), "/argv_total", 0.into(), "argv has 1 rows and argv_total is 0"),
        (ran(), "/violations", json!([{}]), "violations has 1 rows"),
        (ran(), "/backend", "monty".into(), "in backend monty, and its files are not stated"),
        (ran(), "/backend_detail", detail("monty"), "confined and backend_detail is of monty"),
        (ran(), "/backend_detail", detail("confined"), "is not of a further backend"),
        (ran_in_monty(), "/backend_detail/kind", "sandbox".into(), "is not of a further backend"),
        (ran_in_monty(), "/backend_detail/files", json!([]), "no file has the role program"),
        (ran_in_monty(), "/backend_detail/files/0/role", "kernel".into(), "the role program"),
    ]
}

#[test]
fn each_rule_finds_its_contradiction_and_no_other() {
    for (mut facts, place, value, expected) in contradictions() {
        *facts.pointer_mut(place).unwrap() = value;
        let output = findings(&facts, None);
        assert!(output.iter().any(|it| it.contains(expected)), "{place}: {expected}: {output:?}");
        assert_eq!(output.len(), 1, "{place}: {output:?}");
    }
}

#[test]
fn a_request_that_is_unusable_contradicts_nothing() {
    let named = json!("TS-20261121-121026Z-REFUSED-abababababababab");
    let mut facts = refused();
    facts["result_id"] = named;
    facts["request_id"] = "unusable".into();
    let unread = Sha256::of(b"").to_string();
    for sha256 in [facts["request_sha256"].clone(), unread.into()] {
        facts["files"][0]["sha256"] = sha256.clone();
        facts["request_sha256"] = sha256;
        assert_eq!(findings(&facts, None), Vec::<String>::new());
    }
}

#[test]
fn a_run_before_its_approval_is_reported() {
    let approved = findings(&ran(), Some(times("12:00:00", "12:12:27")));
    assert_eq!(
        approved,
        ["started_utc 2026-11-21T12:10:26Z is before the request's approved_utc \
          2026-11-21T12:12:27Z"]
    );
    let created = findings(&ran(), Some(times("12:20:00", "12:00:00")));
    assert!(created[0].contains("the request's created_utc"), "{created:?}");
    assert_eq!(findings(&refused(), Some(times("12:20:00", "12:20:00"))), Vec::<String>::new());
}

#[test]
fn the_times_of_a_request_are_read_in_every_form() {
    let text = |created: &str| {
        format!("---\ncreated_utc: {created}\napproved_utc: \"2026-11-21T12:05:00Z\"\n---\nx")
    };
    let plain = "2026-11-21T12:00:00Z";
    for form in [plain.to_owned(), format!("\"{plain}\""), format!("'{plain}'")] {
        let times = RequestTimes::read(text(&form).as_bytes()).unwrap();
        assert_eq!(times.created.to_string(), plain, "{form}");
    }
    assert!(RequestTimes::read(b"no request").is_none());
    assert!(RequestTimes::read(text("[]").as_bytes()).is_none());
}
