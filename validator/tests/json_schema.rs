//! The JSON Schema in docs/ equals the generated one, and accepts what the check accepts.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::composed;
use crate::support;

use std::fs;
use std::path::Path;

use composed::{accepted_texts, composition};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::Value;
use support::{errors, valid, with};
use validator::{front_matter_schema, standing_schema};

fn schema() -> Validator {
    jsonschema::draft202012::new(&front_matter_schema()).unwrap()
}

/// Returns the front matter as editors read it: YAML as JSON.
fn front_matter(text: &str) -> Value {
    let text = text.replace("\r\n", "\n");
    let yaml = text.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap();
    serde_yaml::from_str(yaml).unwrap()
}

#[track_caller]
fn assert_valid(schema: &Validator, text: &str) {
    let front = front_matter(text);
    let errors: Vec<String> = schema
        .iter_errors(&front)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
}

#[track_caller]
fn assert_written(name: &str, made: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    if std::env::var_os("TOOLEXEC_WRITE_DOCS").is_some_and(|value| value == "1") {
        let text = serde_json::to_string_pretty(made).unwrap() + "\n";
        fs::File::create(&path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
            .unwrap();
    }
    let file = fs::read_to_string(&path).unwrap_or_default();
    let kept: Value = serde_json::from_str(&file).unwrap_or_default();
    let hint = "write it anew: TOOLEXEC_WRITE_DOCS=1 cargo test -p validator json_schema";
    assert!(kept == *made, "{}: {hint}", path.display());
    assert!(file.is_ascii(), "an invisible character would stand in the file");
    assert!(jsonschema::draft202012::meta::is_valid(made));
}

#[test]
fn the_files_equal_the_generated_schemas() {
    assert_written("tool-request.schema.json", &front_matter_schema());
    assert_written("standing-approval.schema.json", &standing_schema());
}

/// The example of the page, as it is and with a key more or less.
#[test]
fn the_example_of_a_standing_approval_fits_its_schema() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/standing-approvals.md");
    let page = fs::read_to_string(page).unwrap();
    let example = page.split("```markdown\n").nth(1).unwrap().split("\n```").next().unwrap();
    let schema = jsonschema::draft202012::new(&standing_schema()).unwrap();
    assert_valid(&schema, example);
    let environment = format!("environment: \"charts@sha256:{}\"\n", support::HASH);
    assert_valid(&schema, &example.replace("environment: null\n", &environment));
    for optional in ["environment: null\n", "network: \"none\"\n", "network_allowlist: []\n"] {
        assert_valid(&schema, &example.replace(optional, ""));
    }
    for changed in [
        example.replace("environment: null\n", "environment: charts\n"),
        example.replace("subject: null\n", ""),
        example.replace("subject: null\n", "subject: null\nmore: 1\n"),
        example.replace("agents: [\"core\"]", "agents: []"),
        example.replace("uses_max: 200", "uses_max: 0"),
    ] {
        assert!(!schema.is_valid(&front_matter(&changed)), "{changed}");
    }
}

#[test]
fn every_value_is_described() {
    for (key, value) in front_matter_schema()["properties"].as_object().unwrap() {
        assert!(value["description"].as_str().is_some_and(|it| it.len() > 10), "{key}");
    }
}

#[test]
fn accepted_requests_are_valid() {
    let schema = schema();
    for text in accepted_texts() {
        assert_eq!(errors(&text), [""; 0], "{text}");
        assert_valid(&schema, &text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn compositions_are_valid(composition in composition()) {
        thread_local!(static SCHEMA: Validator = schema());
        SCHEMA.with(|schema| assert_valid(schema, &composition.to_text()));
    }
}

/// Edits of the valid request that the check and the schema both refuse.
const WRONG: [(&str, &str); 58] = [
    ("160501Z-python-stats\"", "160501Z-python.stats\""),
    ("tool_request", "tool_result"),
    ("request_type: tool_request\n", ""),
    ("schema_version: 1", "schema_version: 2"),
    ("schema_version: 1", "schema_version: one"),
    ("request_id: \"TR-", "request_id: \"TS-"),
    ("-python-stats\"", "\""),
    ("-python-stats\"", "-a b\""),
    ("20260209-160501Z", "20261309-160501Z"),
    ("20260209-160501Z", "20260209-240501Z"),
    ("created_utc: \"2026-02-09T", "created_utc: \"2026-02-09 "),
    ("created_utc: \"2026-02-09T", "created_utc: \"2026-02-09t"),
    ("16:05:01Z\"", "16:05:60Z\""),
    ("16:05:01Z\"", "16:05:01+00:00\""),
    ("16:12:00Z", "16:12:00.5Z"),
    ("\"core_draft\"", "\"core\""),
    ("\"core_draft\"", "\"human|core_draft\""),
    ("approved_by: \"alice\"", "approved_by: \"\""),
    ("approved_by: \"alice\"", "approved_by: \" \""),
    ("approved_by: \"alice\"", "approved_by: 1000"),
    ("approved_by: \"alice\"", "approved_by: true"),
    ("approved_by: \"alice\"\n", ""),
    ("purpose: \"One", "purpose: \"\\u202eOne"),
    ("purpose: \"One", "purpose: \"\\u200bOne"),
    ("purpose: \"One", "purpose: \"a\\nOne"),
    ("purpose: \"One", "purpose: \"\\U000e0041One"),
    ("language: \"python\"", "language: bash"),
    ("language: \"python\"", "language: shell_forbidden"),
    ("network: \"none\"", "network: all"),
    ("network_allowlist: []", "network_allowlist: [a.org]"),
    ("network_allowlist: []", "network_allowlist: \"\""),
    ("cpu_limit: \"2\"", "cpu_limit: \"0.000\""),
    ("cpu_limit: \"2\"", "cpu_limit: 0"),
    ("cpu_limit: \"2\"", "cpu_limit: \"two\""),
    ("cpu_limit: \"2\"", "cpu_limit: [2]"),
    ("memory_limit_mb: 1024", "memory_limit_mb: 0"),
    ("memory_limit_mb: 1024", "memory_limit_mb: 1.5"),
    ("memory_limit_mb: 1024", "memory_limit_mb: \"1024\""),
    ("time_limit_sec: 120", "time_limit_sec: 31622401"),
    ("name: \"input.csv\"", "name: \"/in/input.csv\""),
    ("name: \"input.csv\"", "name: \"a/b/c/d/e/f/g/h/i\""),
    ("name: \"input.csv\"", "name: \"input.csv//\""),
    ("name: \"input.csv\"", "name: \"/\""),
    ("  - name: \"input.csv\"", "  - name: \"input.csv\"\n    y: 1"),
    ("path: \"output.json\"", "path: \"../output.json\""),
    ("path: \"output.json\"", "path: \"a/\""),
    ("    description: \"the statistics\"\n", ""),
    ("path: \"output.json\"\n", "path: \"output.json\"\n    x-patch-of: \"input.csv\"\n"),
    ("path: \"output.json\"\n", "path: \"output.json\"\n    x-patch-of: \"../\"\n"),
    ("path: \"output.json\"\n", "path: \"output.json\"\n    x-patch-of: null\n"),
    ("path: \"output.json\"\n", "path: \"output.json\"\n    x-other: \"input.csv/\"\n"),
    ("constraints:\n", "unknown: 1\nconstraints:\n"),
    ("constraints:\n", "x-agent: {name: a}\nconstraints:\n"),
    ("constraints:\n", "backend: other\nconstraints:\n"),
    ("constraints:\n", "x-environment: charts\nconstraints:\n"),
    ("constraints:\n", "x-environment: null\nconstraints:\n"),
    ("constraints:\n", "x-environment: charts@sha256:e3b0c44298fc\nconstraints:\n"),
    ("constraints:\n", "x-environment: [charts]\nconstraints:\n"),
];

/// Edits that only the check can refuse, with the reason.
const ONLY_THE_CHECK: [(&str, &str, &str); 11] = [
    ("2026-02-09T16:05:01Z", "2026-02-30T16:05:01Z", "no such day"),
    ("created_utc: \"2026-02-09T", "created_utc: \"2026-02-06T", "two dates"),
    ("2026-02-09T16:12:00Z", "2026-02-09T16:02:00Z", "two dates"),
    ("2026-02-09T16:12:00Z", "2027-02-09T16:12:00Z", "the present time"),
    ("name: \"input.csv\"", "name: \"script.py\"", "two items of one name"),
    (
        "path: \"output.json\"\n",
        "path: \"output.json\"\n    x-patch-of: \"input.csv/\"\n",
        "a folder and a file",
    ),
    ("schema_version: 1", "schema_version: 1.0", "the same number"),
    ("cpu_limit: \"2\"", "cpu_limit: 0.00125", "decimals of a number"),
    ("cpu_limit: \"2\"", "cpu_limit: \"65537\"", "the size of a number in a text"),
    ("purpose: \"One", "purpose: \"Run pip install numpy. One", "what a sentence says"),
    ("language: \"python\"", "language: python\nlanguage: python", "a key twice, for some readers"),
];

#[test]
fn invalid_requests_are_refused_by_both() {
    let schema = schema();
    for (from, to) in WRONG {
        let text = with(from, to);
        assert!(!errors(&text).is_empty(), "the check accepts {to:?}");
        assert!(!schema.is_valid(&front_matter(&text)), "the schema accepts {to:?}");
    }
    let open = valid().replace("network: \"none\"", "network: allowlist");
    let without = open.replace("network_allowlist: []\n", "");
    // An empty list requests no network; the request must say `none`.
    assert!(!schema.is_valid(&front_matter(&open)));
    assert!(schema.is_valid(&front_matter(&open.replace("[]", "[a.org]"))));
    assert!(!schema.is_valid(&front_matter(&without)));
    for host in
        ["*.a.org", "a.org/x", "a.org:0", "a.org:65536", "127.1", "256.1.1.1", "-a.org", "a..b"]
    {
        let text = open.replace("[]", &format!("[\"{host}\"]"));
        assert!(errors(&text).contains(&"network.host".to_owned()), "{host}");
        assert!(!schema.is_valid(&front_matter(&text)), "{host}");
    }
}

#[test]
fn some_violations_only_the_check_refuses() {
    let schema = schema();
    for (from, to, why) in ONLY_THE_CHECK {
        let text = with(from, to);
        assert!(!errors(&text).is_empty(), "{why}: the check accepts {to:?}");
        if !why.starts_with("a key twice") {
            assert!(schema.is_valid(&front_matter(&text)), "{why}: the schema refuses {to:?}");
        }
    }
}
