//! The schema of the predicate: docs/ has the generated one, and it fits every record exactly.

use std::fs;
use std::path::Path;

use model::{LimitName, Mechanism, Outcome, RejectReason, ResultId, Sha256};
use records::{
    NetworkReport, NetworkUse, ProxyConfinement, RecordSubject, RecordedHostUse, RecordedRefusal,
    ResultKey, Statement, UnknownUseReason, attest, predicate_schema,
};
use sandbox::report::{DeniedCall, EffectiveLimit, RejectedObject};
use serde_json::Value;
use validator::{Code, Severity, Violation};

use crate::fixture::{CREATED, RecordCase, RecordScratch, at};

#[test]
fn the_schema_in_docs_is_the_one_that_is_made() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tool-result.schema.json");
    let made = predicate_schema();
    if std::env::var_os("TOOLEXEC_WRITE_DOCS").is_some_and(|value| value == "1") {
        let text = serde_json::to_string_pretty(&made).unwrap() + "\n";
        fs::remove_file(&path).ok();
        crate::fixture::put(&path, text.as_bytes());
    }
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap_or_default()).unwrap_or_default();
    let hint =
        "write it anew: TOOLEXEC_WRITE_DOCS=1 cargo test -p records --test records predicate";
    assert!(kept == made, "{}: {hint}", path.display());
    assert!(jsonschema::draft202012::meta::is_valid(&made));
    for (key, value) in made["properties"].as_object().unwrap() {
        assert!(value["description"].as_str().is_some_and(|it| it.len() > 8), "{key}");
    }
}

fn predicate(statement: &Statement<'_>, key: &ResultKey) -> Value {
    let attested = attest(statement, key).unwrap();
    let statement: Value = serde_json::from_slice(attested.envelope().payload()).unwrap();
    statement["predicate"].clone()
}

#[track_caller]
fn assert_valid(value: &Value) {
    let schema = jsonschema::draft202012::new(&predicate_schema()).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn every_kind_of_record_is_valid_by_the_schema() {
    let scratch = RecordScratch::new();
    let key = scratch.key("keys");
    let mut case = RecordCase::plain();
    assert_valid(&predicate(&case.statement(), &key));
    for outcome in
        [Outcome::Refused, Outcome::SetupError, Outcome::Indeterminate, Outcome::Cancelled]
    {
        let facts = predicate(&case.not_run(outcome), &key);
        assert_eq!(facts["outcome"], outcome.as_str());
        assert_valid(&facts);
    }
    case.finished.denied = vec![DeniedCall { name: "mount".into(), count: 3 }];
    case.finished.violation = Some("ptrace".into());
    case.finished.collected.rejected =
        vec![RejectedObject { path: "x".into(), reason: RejectReason::Symlink }];
    let unlimited = EffectiveLimit {
        name: LimitName::Pids,
        mechanism: Mechanism::CgroupV2,
        requested: 1,
        effective: u64::MAX,
    };
    case.confinement.limits.push(unlimited);
    let report = NetworkReport {
        proxy_confined_by: ProxyConfinement::Landlock,
        hosts: vec![RecordedHostUse {
            host: "example.org".into(),
            addresses: vec!["192.0.2.1".parse().unwrap()],
            connections: 1,
            bytes_out: 2,
            bytes_in: 3,
        }],
        refusals: vec![RecordedRefusal { destination: "x".into(), reason: "y".into(), times: 1 }],
        refusals_left_out: 0,
    };
    let network = NetworkUse::Known(report);
    let facts = predicate(&Statement { network: &network, ..case.statement() }, &key);
    assert_valid(&facts);
    let limit = facts["limits"].as_array().unwrap().last().unwrap();
    assert_eq!(limit["in_force"], Value::from("18446744073709551615"));
    let network = NetworkUse::Unknown { granted: vec![], why: UnknownUseReason::ProxyLost };
    assert_valid(&predicate(&Statement { network: &network, ..case.statement() }, &key));
}

#[test]
fn a_refusal_names_the_rule_that_refused() {
    let scratch = RecordScratch::new();
    let case = RecordCase::plain();
    let violations = [Violation {
        code: Code::ResultPayload,
        severity: Severity::Error,
        message: "no front matter".into(),
        line: 1,
        column: 1,
        width: 0,
        hint: None,
    }];
    let result_id = ResultId::for_refused(at(CREATED), &Sha256::of(b"junk"));
    let statement = Statement {
        result_id: &result_id,
        subject: RecordSubject::Unusable {
            file_name: "junk\u{1b}.md",
            bytes: b"junk",
            request_id: None,
        },
        violations: &violations,
        request_files: &[],
        ..case.not_run(Outcome::Refused)
    };
    let facts = predicate(&statement, &scratch.key("keys"));
    assert_valid(&facts);
    assert_eq!(facts["violations"][0]["message"], "no front matter");
    assert_eq!(facts["request_file"], "junk\u{1b}.md");
    assert_eq!(facts["accounting"], Value::Null);
}

#[test]
fn a_key_that_no_record_has_is_not_valid() {
    let scratch = RecordScratch::new();
    let mut facts = predicate(&RecordCase::plain().statement(), &scratch.key("keys"));
    facts["more"] = true.into();
    assert!(!jsonschema::draft202012::is_valid(&predicate_schema(), &facts));
    facts.as_object_mut().unwrap().remove("more");
    assert!(jsonschema::draft202012::is_valid(&predicate_schema(), &facts));
    facts.as_object_mut().unwrap().remove("argv");
    assert!(!jsonschema::draft202012::is_valid(&predicate_schema(), &facts));
}
