//! The check of tool results, and lint's detection of the kind of document.

use crate::support;
use support::{HASH, ID, now};
use validator::{
    ApprovalRequirement, DocumentKind, Severity, Violation, check_result, lint, withholding_code,
};

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

const DOUBLED: &str = "outputs.duplicate inputs.hash-format";

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
        ("artifacts:\n", "artifacts: []\nx-a:\n", "result.digest"),
        ("stdout_sha256: \"e3", "stdout_sha256: \"x3", "inputs.hash-format"),
        ("## Stderr\n", "", "section.missing"),
        ("- Network confirmation: none used\n", "", "section.missing"),
        ("    ## Command", "## Command", "section.unexpected"),
        ("It ran.", "password=hunter2hunter2", "secret.password"),
        ("created_utc: \"2026-02-09T16", "created_utc: \"2026-02-10T16", ""),
        ("created_utc: \"2026-02-09T16", "created_utc: \"2026-02-10T17", "schema.request-id"),
        ("created_utc: \"2026-02-09T16", "created_utc: \"2026-02-08T15", "schema.request-id"),
        ("network_used: \"none\"", "network_used: allowlist", ""),
        ("destinations: []", "destinations: [a.org]", "network.allowlist-unused"),
        ("stdout_sha256: \"e3", "stdout_sha256: \"e", "inputs.hash-format"),
        ("- path: \"output.json\"", "- path: \"/out/output.json\"", ""),
        ("- path: \"output.json\"", "- path: 12", "frontmatter.type"),
        ("- path: \"output.json\"\n    sha", "- sha", "frontmatter.missing-key"),
        ("- path: \"output.json\"", "- path: \"/etc/x\"", "outputs.outside-out"),
        ("- path: \"output.json\"", "- path: \"../x\"", "outputs.outside-out"),
        ("- path: \"output.json\"", "- path: \"a//x\"", "outputs.path"),
        ("- path: \"output.json\"", "- path: \"a/\\nx\"", "outputs.path"),
        ("stdout_sha256", "  - {path: output.json, sha256: \"x\"}\nstdout_sha256", DOUBLED),
        ("behavior: None observed", "behavior:", "section.missing"),
        ("behavior: None observed", "behavior:\n  - None observed", ""),
        ("confirmation: none used", "confirmation: ", "section.missing"),
    ] {
        let text = result();
        assert!(text.contains(from), "{from}");
        let rows = check_result(text.replacen(from, to, 1).as_bytes(), &name());
        assert_eq!(errors(&rows), codes, "{from:?} -> {to:?}: {rows:#?}");
    }
}

#[test]
fn both_forms_of_ids_name_their_time() {
    let text = result().replacen("TS-20260209-161030Z", "TS-20260207T161030Z", 1);
    let name = name().replacen("TS-20260209-161030Z", "TS-20260207T161030Z", 1);
    assert_eq!(errors(&check_result(text.as_bytes(), &name)), "schema.request-id");
}

#[test]
fn destinations() {
    let with = |host: &str| {
        let text = result().replacen("used: \"none\"", "used: allowlist", 1);
        let hosts = format!("destinations: [\"{host}\"]");
        errors(&check_result(text.replacen("destinations: []", &hosts, 1).as_bytes(), &name()))
    };
    for host in
        ["example.org", "example.org:443", "192.0.2.7:80", "2001:db8::1", "[2001:db8::1]:443"]
    {
        assert_eq!(with(host), "", "{host}");
    }
    for host in
        ["", "https://example.org", "example.org/x", "a b", "a:0", "a:x", "a:", "-a.org", "*.org"]
    {
        assert_eq!(with(host), "network.host", "{host}");
    }
}

#[test]
fn digests_in_the_text_are_those_of_the_front_matter() {
    let other = HASH.replacen("e3", "f3", 1);
    let row = format!("- /out/output.json  sha256: {HASH}");
    for (line, column) in [
        (format!("- /out/output.json  sha256: {HASH}"), 0),
        (format!("| `/out/output.json` | {HASH} | the table |"), 0),
        (format!("- **/out/output.json**: `{HASH}`"), 0),
        ("- /out/output.json, without a digest".to_owned(), 0),
        (format!("- /out/{other}.json: missing"), 0),
        (format!("The request has sha256: {other}"), 0),
        (format!("- /out/output.json  sha256: {other}"), 29),
        (format!("| `/out/output.json` | {other} |"), 24),
        (format!("- /out/another.json  sha256: {HASH}"), 30),
        (format!("- /out/output.json  sha256: {HASH}  sha256: {other}"), 103),
    ] {
        let rows = check_result(result().replacen(&row, &line, 1).as_bytes(), &name());
        let places = rows.iter().map(|row| (row.code.as_str(), row.column, row.width));
        let expected = (column > 0).then_some(("result.digest".into(), column, 64));
        assert_eq!(places.collect::<Vec<_>>(), Vec::from_iter(expected), "{line}");
    }
    let absent = result().replacen("artifacts:\n", "x-artifacts:\n", 1).replacen(HASH, &other, 1);
    assert_eq!(errors(&check_result(absent.as_bytes(), &name())), "");
}

#[test]
fn a_path_is_compared_as_it_is_shown() {
    for (path, shown) in [
        ("a b.json", "/out/a b.json"),
        ("a*b", "`/out/a*b`"),
        ("`a`", "`` /out/`a` ``"),
        ("tab\\u202e", "`/out/tab\\u{202e}`"),
        ("x:", "/out/x:"),
    ] {
        let with = |digest: &str| {
            let text = result().replacen("path: \"output.json\"", &format!("path: \"{path}\""), 1);
            let row = format!("/out/output.json  sha256: {HASH}");
            let text = text.replacen(&row, &format!("{shown}  sha256: {digest}"), 1);
            errors(&check_result(text.as_bytes(), &name()))
        };
        assert_eq!(with(HASH), "", "{path}");
        assert_eq!(with(&HASH.replacen("e3", "f3", 1)), "result.digest", "{path}");
    }
}

#[test]
fn streams_are_bounded() {
    let long = "x".repeat(64 * 1024);
    for (stream, line) in [
        ("    x\n".repeat(200), 0),
        ("x\n".repeat(200), 0),
        (format!("```\n{}```\n", "x\n".repeat(200)), 0),
        (format!("kept\ncut\n\n{}", "    x\n".repeat(200)), 0),
        (format!("kept\n\n    {long}\n"), 0),
        ("    \n".repeat(200), 0),
        ("    x\n".repeat(201), 201),
        ("    \n".repeat(201), 201),
        (format!("kept\ncut\n\n{}", "    x\n".repeat(201)), 204),
        ("x\n".repeat(207), 207),
        ("x\n\n".repeat(104), 207),
        (format!("    {long}x\n"), 1),
        (format!("{long}\n{}\n", "x".repeat(1025)), 2),
        (format!("    {}\n    y\n    {}\n", &long[1..], "z"), 3),
    ] {
        for heading in ["## Stdout\n\n", "## Stderr\n\n"] {
            let text = result().replacen(heading, &format!("{heading}{stream}\n"), 1);
            // The fixture's own stream must not count.
            let text = text.replacen("\n    ## Command\n    ```\n", "\n", 1);
            let first = text.lines().position(|it| it == heading.trim()).unwrap() + 3;
            let rows = check_result(text.as_bytes(), &name());
            let too_long = rows.iter().find(|row| row.code.as_str() == "result.too-long");
            let place = too_long.map_or(0, |row| row.line + 1 - first);
            assert_eq!(place, line, "{} bytes, {rows:?}", stream.len());
        }
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
    assert_eq!(withholding_code("fine"), None);
    assert_eq!(withholding_code("key AKIAIOSFODNN7EXAMPLE").unwrap().as_str(), "secret.aws-key");
}

#[test]
fn kinds() {
    let kind = |text: &str, name: &str| {
        lint(text.as_bytes(), name, ApprovalRequirement::Approved, now()).0
    };
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
    let (_, rows) = lint(text.as_bytes(), &name, ApprovalRequirement::DraftOnly, now());
    assert!(rows.iter().all(|row| row.severity == Severity::Warning), "{rows:#?}");
    assert_eq!(rows.len(), 2);
    assert_eq!(
        errors(&lint(text.as_bytes(), &name, ApprovalRequirement::Approved, now()).1),
        "approval.missing approval.missing"
    );
}
