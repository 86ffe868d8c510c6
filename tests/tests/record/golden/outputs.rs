//! The golden JSON and SARIF outputs, compared with the present ones: every golden name and value must still be
//! there. New names may be added. A name that was changed on purpose must be listed here.

use std::fs;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput};

use super::files::{Golden, MADE_IN, versions};

/// Names in the outputs that were changed on purpose: the golden name and the present one.
const RENAMED: [(&str, &str); 11] = [
    ("cell", "sandbox"),
    ("dropped_utc", "submitted_utc"),
    ("lacking", "pending"),
    ("memory_bytes_promised", "memory_bytes_reserved"),
    ("not_seen", "unreadable"),
    ("not_told", "status_error"),
    ("said", "summary"),
    ("seat", "process"),
    ("to_come", "filled_on_approval"),
    ("told", "status"),
    ("why", "reason"),
];

/// Returns the present name of a golden one.
pub(super) fn present_name(name: &str) -> &str {
    RENAMED.iter().find(|(then, _)| *then == name).map_or(name, |(_, now)| now)
}

/// Names of texts for people. Their words may change between versions, so only their presence is checked.
const PROSE: [&str; 3] = ["hint", "message", "text"];

/// Names whose values depend on the time, the process or the host.
const VARIABLE_NAMES: [&str; 12] = [
    "at_utc",
    "boot_id",
    "counts",
    "submitted_utc",
    "free_bytes",
    "pid",
    "pid_namespace",
    "since_utc",
    "started_utc",
    "summary",
    "until_utc",
    "version",
];

/// Returns the objects of a golden output: one on each line, or one for the whole file.
pub(super) fn golden_lines(golden: &Golden<'_>, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(golden.at(&format!("output/{file}"))).unwrap();
    objects(&text)
}

/// Parses consecutive JSON objects.
pub(super) fn objects(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map(Result::unwrap).collect()
}

/// Asserts that the present output has everything in the golden one.
#[track_caller]
pub(super) fn assert_kept(then: &Value, now: &Value, at: &str) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (name, value) in then {
                let name = present_name(name);
                let at = format!("{at}.{name}");
                let found = now.get(name);
                let found = found.unwrap_or_else(|| panic!("{at}: is gone; it was {value}"));
                let is_prose = PROSE.contains(&name) && value.is_string();
                if VARIABLE_NAMES.contains(&name) || is_prose {
                    let kinds = [value, found].map(std::mem::discriminant);
                    assert_eq!(kinds[0], kinds[1], "{at}: was {value}, and is {found}");
                } else {
                    assert_kept(value, found, &at);
                }
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            let numbers = (then.len(), now.len());
            assert_eq!(numbers.0, numbers.1, "{at}: {then:#?}\n{now:#?}");
            for (index, (then, now)) in then.iter().zip(now).enumerate() {
                assert_kept(then, now, &format!("{at}[{index}]"));
            }
        }
        (Value::String(then), Value::String(now)) => {
            // Such a message ends with the name of a user of this host.
            let without_name = |text: &str| match text.split_once("is held by ") {
                Some((start, _)) => start.to_owned(),
                None => text.to_owned(),
            };
            let equal = without_name(then) == without_name(now);
            assert!(equal, "{at}: was {then:?}, and is {now:?}");
        }
        _ => assert_eq!(then, now, "{at}: was {then}, and is {now}"),
    }
}

/// Returns the present output of a command, with the golden path in place of the copy's path.
fn present_output(golden: &Golden<'_>, words: &str) -> Vec<Value> {
    let mut command = golden.bench.command("toolexec");
    let words = words.split(' ').map(|word| match word.split_once("GOLDEN/") {
        Some((before, path)) => format!("{before}{}", golden.at(path).display()),
        None => word.to_owned(),
    });
    let output = CliOutput::of(command.args(words));
    assert!(matches!(output.code, Some(0 | 2)), "{output:#?}");
    objects(&output.stdout.replace(&golden.place().display().to_string(), MADE_IN))
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn golden_outputs_are_kept() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let ok = name_of(&golden.only("state/results", "-ok"));
        let service_ok = name_of(&golden.only("service/spool/results", "-service-ok"));
        let keys = "--result-keys GOLDEN/keys/signers --log-key GOLDEN/keys/log.vkey";
        for (file, words) in [
            ("verify", format!("verify GOLDEN/state/results {keys} --log GOLDEN/state/log")),
            (
                "verify-approvers",
                format!(
                    "verify GOLDEN/service/spool/results/{service_ok} --state GOLDEN/service/state \
                     --approvers GOLDEN/service/allowed_signers"
                ),
            ),
            ("list", "list --state GOLDEN/state".to_owned()),
            ("show", format!("show {ok} --state GOLDEN/state")),
            ("trail", "permission list --trail --state GOLDEN/state".to_owned()),
            ("policy", "policy check GOLDEN/policy.yaml".to_owned()),
            ("log-head", "log head --state GOLDEN/state".to_owned()),
            ("log-fsck", "log fsck --state GOLDEN/state --results GOLDEN/state/results".to_owned()),
            ("lint", "lint GOLDEN/input/bad.md".to_owned()),
        ] {
            let file = format!("{file}.json");
            let now = present_output(&golden, &format!("{words} --format json"));
            assert_kept(&Value::Array(golden_lines(&golden, &file)), &Value::Array(now), &file);
        }
        let now = present_output(&golden, "lint GOLDEN/input/bad.md --format sarif");
        let then = golden_lines(&golden, "lint.sarif");
        assert_kept(&Value::Array(then), &Value::Array(now), "lint.sarif");
    }
}

/// Open permission requests expire, so only the answered ones are compared.
#[test]
fn golden_permissions_are_kept() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let answered = |rows: Vec<Value>| {
            Value::Array(rows.into_iter().filter(|row| row.get("state").is_some()).collect())
        };
        let now = present_output(&golden, "permission list --state GOLDEN/state --format json");
        let then = answered(golden_lines(&golden, "permissions.json"));
        assert_eq!(then.as_array().unwrap().len(), 2);
        assert_kept(&then, &answered(now), "permissions.json");
    }
}

/// The texts about rules and sandbox depend on the time and the host, so only their presence is
/// checked.
#[test]
fn golden_explanations_are_kept() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let mut command = bench.command("toolexec");
        command.arg("explain").arg(golden.only("input", "-ok.md"));
        command.arg("--policy").arg(golden.at("policy.yaml")).args(["--format", "json"]);
        let now = CliOutput::of(&mut command).json();
        let then = golden_lines(&golden, "explain-ok.json").remove(0);
        for part in ["approval", "command", "inputs", "outputs", "limits", "risk", "policy"] {
            assert!(!then[part].is_null(), "{part}: {then:#}");
        }
        for (name, value) in then.as_object().unwrap() {
            let name = present_name(name);
            if matches!(name, "sandbox" | "rules" | "file" | "policy") {
                assert!(!now[name].is_null(), "{name}: is gone; it was {value}");
                continue;
            }
            assert_kept(value, &now[name], name);
        }
    }
}
