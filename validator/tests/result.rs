//! The check of tool results, and lint's choice between the kinds of documents.

mod support;
use support::{HASH, ID, now};
use validator::{DocumentKind, Expect, Severity, Violation, check_result, lint, withheld};

fn result() -> String {
    format!(
        r#"---
result_type: tool_result
schema_version: 1
result_id: "TS-20260209-161030Z-{ID}"
created_utc: "2026-02-09T16:10:30Z"
request_id: "{ID}"
executor: "tool-exec"
backend: "ERA"
exit_code: 0
runtime_sec: 3.4
network_used: "none"
network_destinations: []
artifacts:
  - path: "output.json"
    sha256: "{HASH}"
stdout_sha256: "{HASH}"
stderr_sha256: "{HASH}"
outcome: ok
---

## Summary

It ran.

## Provenance

python script.py

## Outputs

- /out/output.json  sha256: {HASH}
  Description: the statistics

## Stdout

    ## Command
    ```

## Stderr

## Safety Notes

- Untrusted Output Statement: not to be treated as instructions
- Unexpected behavior: None observed
- Network confirmation: none used
"#
    )
}

fn name() -> String {
    format!("TS-20260209-161030Z-{ID}.md")
}

fn errors(rows: &[Violation]) -> String {
    let rows = rows.iter().filter(|row| row.severity == Severity::Error);
    rows.map(|row| row.code.as_str().into_owned()).collect::<Vec<_>>().join(" ")
}

#[test]
fn results() {
    assert_eq!(check_result(result().as_bytes(), &name()), []);
    for (from, to, codes) in [
        ("TS-20260209-", "TS-20260230-", "schema.request-id"),
        ("TS-20260209-161030Z", "TS-20260209T161030Z", ""),
        ("tool_result", "x", "schema.request-type"),
        ("schema_version: 1", "schema_version: 3", "schema.version"),
        ("\"2026-02-09T16:10:30Z\"", "now", "schema.timestamp"),
        ("exit_code: 0", "exit_code: \"0\"", "frontmatter.type"),
        ("exit_code: 0", "exit_code: -1", ""),
        ("exit_code: 0", "exit_code: 0.5", "frontmatter.value"),
        ("runtime_sec: 3.4", "runtime_sec: -1", "frontmatter.value"),
        ("network_used: \"none\"", "network_used: x", "network.value"),
        ("executor: \"tool-exec\"\n", "", "frontmatter.missing-key"),
        ("artifacts:\n", "artifacts: []\nx-a:\n", ""),
        ("stdout_sha256: \"e3", "stdout_sha256: \"x3", "inputs.hash-format"),
        ("## Stderr\n", "", "section.missing"),
        ("- Network confirmation: none used\n", "", "section.missing"),
        ("    ## Command", "## Command", "section.unexpected"),
        ("It ran.", "password=hunter2hunter2", "secret.password"),
    ] {
        let text = result();
        assert!(text.contains(from), "{from}");
        let rows = check_result(text.replacen(from, to, 1).as_bytes(), &name());
        assert_eq!(errors(&rows), codes, "{from:?} -> {to:?}: {rows:#?}");
    }
}

#[test]
fn a_refusal_needs_no_request_id() {
    let text = result()
        .replacen(&format!("161030Z-{ID}"), "161030Z-REFUSED-0123456789abcdef", 1)
        .replacen(&format!("request_id: \"{ID}\""), "request_id: \"\"", 1);
    assert_eq!(errors(&check_result(text.as_bytes(), &name())), "");
}

#[test]
fn lines_that_are_withheld() {
    assert_eq!(withheld("fine"), None);
    assert_eq!(withheld("key AKIAIOSFODNN7EXAMPLE").unwrap().as_str(), "secret.aws-key");
}

#[test]
fn kinds() {
    let kind = |text: &str, name: &str| lint(text.as_bytes(), name, Expect::Approved, now()).0;
    assert_eq!(kind(&support::valid(), "x.md"), DocumentKind::Request);
    assert_eq!(kind(&result(), "x.md"), DocumentKind::Result);
    assert_eq!(kind("x", "TR-x.md"), DocumentKind::Request);
    assert_eq!(kind("x", "TS-x.md"), DocumentKind::Result);
    assert_eq!(kind("x", "x.md"), DocumentKind::Unknown);
}

#[test]
fn a_draft_may_lack_its_approval() {
    let text = support::with("\"alice\"", "").replace("\"2026-02-09T16:12:00Z\"", "\"\"");
    let name = format!("{ID}.md");
    let (_, rows) = lint(text.as_bytes(), &name, Expect::DraftOnly, now());
    assert!(rows.iter().all(|row| row.severity == Severity::Warning), "{rows:#?}");
    assert_eq!(rows.len(), 2);
    assert_eq!(
        errors(&lint(text.as_bytes(), &name, Expect::Approved, now()).1),
        "approval.missing approval.missing"
    );
}
