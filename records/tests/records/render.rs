//! Each form of a record passes the lint and has the contents that the tool-result schema requires.

use model::{Outcome, RejectReason, ResultId, Sha256};
use records::{RecordSubject, SignError, Statement, Trust, sign, verify};
use sandbox::outcome::{OutcomeFacts, ToolEnd};
use sandbox::report::{CollectedArtifact, RejectedObject};
use validator::{Code, Violation};

use crate::fixture::{
    CREATED, REQUEST_ID, RecordCase, RecordScratch, SECTIONS, at, headings, markdown,
};

pub(crate) fn rendered(statement: &Statement<'_>) -> String {
    let scratch = RecordScratch::new();
    let record = sign(statement, &scratch.key("keys")).unwrap();
    let md = markdown(&record);
    assert_eq!(headings(&md), SECTIONS);
    md
}

#[track_caller]
fn assert_lines(md: &str, lines: &[&str]) {
    for line in lines {
        assert!(md.lines().any(|have| have == *line), "no line `{line}` in:\n{md}");
    }
}

#[test]
fn a_run_that_succeeded() {
    let case = RecordCase::plain();
    let md = rendered(&case.statement());
    let artifact = format!("- /out/stats.json  sha256: {}", Sha256::of(b"{}"));
    assert_lines(
        &md,
        &[
            "result_type: tool_result",
            "schema_version: 1",
            "result_id: \"TS-20261121-121030Z-TR-20261121-120000Z-stats\"",
            "executor: \"tool-exec\"",
            "exit_code: 0",
            "runtime_sec: 3.400000",
            "network_used: \"none\"",
            "network_destinations: []",
            "outcome: \"ok\"",
            "argv: [\"python\", \"/in/stats.py\", \"--out\", \"/out/stats.json\"]",
            "constraints_stated: [\"Be quick about it\"]",
            "missing: [\"chart.svg\"]",
            "  cpu_user_us: unknown",
            "    effective: \"0000000000000000\"",
            "    mechanism: \"sampled\"".replace('"', "").as_str(),
            "    python /in/stats.py --out /out/stats.json",
            &artifact,
            "  Description: Statistics per month.",
            "  Description: undeclared; the request does not expect this file",
            "    done",
            "    warning: slow",
            "- /out/chart.svg: missing, the request expects it",
            "Unexpected behavior: 1 expected outputs missing: /out/chart.svg; layers degraded by \
             exception of the policy: cgroup",
            "Network confirmation: none used",
        ],
    );
    let digest = format!("stdout_sha256: \"{}\"", Sha256::of(b"done\n"));
    let request = format!("request_sha256: \"{}\"", case.request.sha256());
    let intent = format!("intent_sha256: \"{}\"", case.request.intent_sha256());
    assert_lines(&md, &[&digest, &request, &intent]);
}

#[test]
fn it_is_the_same_bytes_each_time() {
    let (case, scratch) = (RecordCase::plain(), RecordScratch::new());
    let key = scratch.key("keys");
    let first = sign(&case.statement(), &key).unwrap();
    let second = sign(&case.statement(), &key).unwrap();
    assert_eq!(first.files(), second.files());
    assert_eq!(first.sha256(), Sha256::of(&first.files()[0].1));
    let names: Vec<&str> = first.files().iter().map(|(name, _)| name.as_str()).collect();
    let id = first.result_id().as_str();
    let expected = [
        format!("{id}.md"),
        format!("{id}.md.sig"),
        format!("request/{REQUEST_ID}.md"),
        format!("request/{REQUEST_ID}.md.sig"),
    ];
    assert_eq!(names, expected);
    assert_eq!(first.files()[2].1, case.request.bytes());
}

#[test]
fn a_refused_request() {
    let case = RecordCase::plain();
    let violations = [Violation::error(Code::ApprovalExpired, "`approved_utc`: too old").at(8, 15)];
    let md = rendered(&Statement { violations: &violations, ..case.not_run(Outcome::Refused) });
    let empty = format!("stdout_sha256: \"{}\"", Sha256::of(b""));
    assert_lines(
        &md,
        &[
            "exit_code: -1",
            "outcome: \"refused\"",
            "reason: \"the host: has no user namespaces\\n## Summary\"",
            "  - code: \"approval.expired\"",
            "confinement: null",
            "accounting: null",
            "  - error approval.expired, line 8: `approved_utc`: too old",
            "Unexpected behavior: None observed",
            &empty,
        ],
    );
}

#[test]
fn a_file_that_is_no_request() {
    let bytes = b"\x00not a request";
    let result_id = ResultId::for_refused(at(CREATED), &Sha256::of(bytes));
    let case = RecordCase::plain();
    let named = "    name: \"../\\u202e\\n#x.md\"";
    for (file_name, stored, row) in [
        ("notes.md", "notes.md", "    size_bytes: 14"),
        ("../\u{202e}\n#x.md", "request.md", named),
    ] {
        let statement = Statement {
            result_id: &result_id,
            subject: RecordSubject::Unusable { file_name, bytes, request_id: None },
            request_files: &[],
            ..case.not_run(Outcome::Refused)
        };
        let md = rendered(&statement);
        let file = format!("  - path: \"request/{stored}\"");
        assert_lines(
            &md,
            &["request_id: \"unusable\"", "argv: []", "intent_sha256: null", &file, row],
        );
        assert!(md.contains("Command: none that could be used."));
    }
}

#[test]
fn a_sandbox_that_could_not_be_made_and_one_that_was() {
    let case = RecordCase::plain();
    let md = rendered(&case.not_run(Outcome::SetupError));
    assert_lines(&md, &["outcome: \"setup_error\"", "limits: []", "confinement: null"]);
    let built = Statement {
        confinement_ready: Some(&case.confinement),
        ..case.not_run(Outcome::SetupError)
    };
    assert_lines(&rendered(&built), &["  mode: user", "    abi: 5", "  - name: wall_ms_max"]);
}

#[test]
fn an_unknown_run() {
    let case = RecordCase::plain();
    let md = rendered(&case.not_run(Outcome::Indeterminate));
    assert_lines(&md, &["exit_code: -1", "  wall_us: unknown", "    produced_bytes: unknown"]);
    let mut lost = RecordCase::plain();
    lost.finished.facts.tool = None;
    let statement = Statement { outcome: Outcome::Indeterminate, ..lost.statement() };
    assert_lines(&rendered(&statement), &["exit_code: -1", "outcome: \"indeterminate\""]);
}

#[test]
fn a_run_that_was_killed_and_left_temporary_files() {
    let mut case = RecordCase::plain();
    let tool = Some(ToolEnd::Signaled { signal: 9, core_dumped: false });
    case.finished.facts = OutcomeFacts { tool, ..case.finished.facts };
    case.finished.collected.rejected =
        vec![RejectedObject { path: "link".into(), reason: RejectReason::Symlink }];
    case.finished.collected.complete = false;
    let md = rendered(&Statement { outcome: Outcome::Signal(9), ..case.statement() });
    assert_lines(
        &md,
        &[
            "exit_code: 137",
            "- Outcome: signal (signal 9)",
            "  - path: \"link\"",
            "    reason: symlink",
            "- /out/link: rejected, symlink",
            "collection_complete: false",
        ],
    );
    assert!(md.contains("collection of /out incomplete"));
}

#[test]
fn statements_that_contradict_themselves_are_not_signed() {
    let (case, scratch) = (RecordCase::plain(), RecordScratch::new());
    let key = scratch.key("keys");
    let of = |statement: &Statement<'_>| sign(statement, &key).map(|_| ()).unwrap_err();
    for outcome in [Outcome::Refused, Outcome::SetupError] {
        let error = of(&Statement { outcome, ..case.statement() });
        assert!(matches!(error, SignError::Inconsistency { .. }), "{error}");
    }
    assert!(matches!(of(&case.not_run(Outcome::Ok)), SignError::Inconsistency { .. }));
    // The id of another request.
    let other = "TS-20261121-121030Z-TR-20261121-120000Z-other".parse().unwrap();
    let error = of(&Statement { result_id: &other, ..case.statement() });
    assert!(matches!(error, SignError::Invalid { .. }), "{error}");
}

/// Returns the stored names of these sidecar files, each with the original name in its row.
fn stored(names: &[&str]) -> Vec<(String, Option<String>)> {
    let files: Vec<(String, Vec<u8>)> =
        names.iter().map(|name| ((*name).to_owned(), name.as_bytes().to_vec())).collect();
    let (case, scratch) = (RecordCase::plain(), RecordScratch::new());
    let statement = Statement { request_files: &files, ..case.statement() };
    let key = scratch.key("keys");
    let record = sign(&statement, &key).unwrap();
    let dir = case.publish_run(scratch.path(), &record);
    let verified = verify(&dir, &Trust::from_key(&key.public()));
    assert!(verified.is_ok(), "{verified:?}");
    let md = markdown(&record);
    let (_, rows) = md.split_once("\nfiles:\n").unwrap();
    let rows = rows.split_once("\n---\n").unwrap().0.split("  - path: ").skip(2);
    let kept = record.files().iter().skip(3).map(|(path, _)| path.clone());
    kept.zip(rows)
        .map(|(path, row)| {
            assert!(row.starts_with(&format!("\"{path}\"\n")), "{row}");
            let name = row.lines().find_map(|line| line.strip_prefix("    name: "));
            (path, name.map(str::to_owned))
        })
        .collect()
}

#[test]
fn files_beside_the_request_have_plain_names() {
    let own = format!("{REQUEST_ID}.md");
    let long = format!("{}.sig", "x".repeat(200));
    let names = [
        "signature-1.sig",
        "a+b@c_1.sig",
        "../x",
        "",
        ".hidden.sig",
        "r\u{e4}.md.sig",
        "x\n## Summary",
        "signature-1.sig",
        &own,
        &long,
        "file-2",
    ];
    let expected = [
        ("signature-1.sig", None),
        ("a+b@c_1.sig", None),
        ("file-1", Some("../x")),
        ("file-3", Some("")),
        ("signature-2.sig", Some(".hidden.sig")),
        ("signature-3.sig", Some("r\u{e4}.md.sig")),
        ("file-4", Some("x\\n## Summary")),
        ("signature-4.sig", Some("signature-1.sig")),
        ("file-5", Some(own.as_str())),
        ("signature-5.sig", Some(long.as_str())),
        ("file-2", None),
    ];
    let expected = expected
        .map(|(path, name)| (format!("request/{path}"), name.map(|name| format!("\"{name}\""))));
    assert_eq!(stored(&names), expected);
}

#[test]
fn a_thousand_artifacts_fit() {
    let mut case = RecordCase::plain();
    let artifact = |number: u32| CollectedArtifact {
        path: format!("a-folder-with-a-name/another-one/and-a-third/file-{number:04}.json"),
        size_bytes: 1,
        mode: 0o644,
        sha256: [1; 32],
    };
    case.finished.collected.artifacts = (0..1000).map(artifact).collect();
    let md = rendered(&case.statement());
    assert_eq!(md.matches("- /out/a-folder-with").count(), 1000);
}
