//! The present programs read the files of earlier versions. Each directory of `tests/golden/` has a
//! result of each outcome, log and keys, a policy, a configuration, a spool with held requests, a
//! permission trail, ledgers, and the outputs of that version. These tests must never change or
//! regenerate a golden file.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod files;
mod help;
mod outputs;
mod service;
mod texts;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, Record, list, workspace};

use files::{Golden, versions};

/// Returns every outcome that the present version can record.
fn outcomes() -> BTreeSet<String> {
    let schema = fs::read_to_string(workspace().join("docs/tool-result.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let words = schema["properties"]["outcome"]["enum"].as_array().unwrap();
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_golden_file_was_changed() {
    for version in versions() {
        let mut sums = Command::new("sha256sum");
        sums.args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(&version);
        let output = CliOutput::of(&mut sums);
        let help = "golden files are never changed; a later version has a directory of its own";
        assert_eq!(output.code, Some(0), "{}: {output:#?}\nhelp: {help}", version.display());
        let listed = fs::read_to_string(version.join("SHA256SUMS")).unwrap();
        let listed: BTreeSet<&str> =
            listed.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
        let there = files::files(&version);
        let there: BTreeSet<&str> =
            there.iter().map(String::as_str).filter(|it| *it != "SHA256SUMS").collect();
        let strange: Vec<_> = there.symmetric_difference(&listed).collect();
        let place = version.display();
        assert!(strange.is_empty(), "{place}: added or missing: {strange:?}\nhelp: {help}");
    }
}

#[test]
fn there_is_a_golden_record_of_each_outcome() {
    let mut found = BTreeSet::new();
    for version in versions() {
        let results = version.join("state/results");
        for name in list(&results) {
            found.insert(Record::at(&results.join(name)).outcome().to_owned());
        }
    }
    let missing: Vec<_> = outcomes().difference(&found).cloned().collect();
    assert!(
        missing.is_empty(),
        "no golden record has the outcome {missing:?}\nhelp: have tests/golden/make produce one, and \
         make the directory of the present version with it"
    );
    let gone: Vec<_> = found.difference(&outcomes()).cloned().collect();
    assert!(
        gone.is_empty(),
        "golden records have the outcome {gone:?}, which the present version lacks"
    );
}

#[test]
fn every_golden_record_verifies() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        for path in golden.results() {
            let record = Record::at(&path);
            let output = golden.verify(&path, &["--format", "json"]);
            assert_eq!(output.code, Some(0), "{}: {output:#?}", record.outcome());
            let verdict = output.json();
            assert_eq!(verdict["verified"], true, "{verdict:#}");
            assert_eq!(verdict["outcome"], record.outcome());
            assert_eq!(verdict["exit_code"].to_string(), record.front_matter_value("exit_code"));
        }
    }
}

/// The verifier takes the keys from the state, as for an operator.
#[test]
fn golden_trees_verify_with_the_keys_beside_them() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        for (results, state) in
            [("state/results", "state"), ("service/spool/results", "service/state")]
        {
            let (results, state) = (golden.at(results), golden.at(state));
            let words = ["verify", results.to_str().unwrap(), "--state", state.to_str().unwrap()];
            bench.toolexec(words).assert_code(0);
        }
    }
}

/// The test changes one byte in the middle of each file of each record.
#[test]
fn one_changed_byte_of_any_golden_record_is_seen() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let mut seen = 0;
        for path in golden.results() {
            for file in files::files(&path) {
                let file = path.join(file);
                let good = files::change(&file);
                let output = golden.verify(&path, &[]);
                assert_eq!(output.code, Some(1), "{}: {output:#?}", file.display());
                fs::write(&file, good).unwrap();
                seen += 1;
            }
            golden.verify(&path, &[]).assert_code(0);
        }
        assert!(seen > 90, "only {seen} files: the search is broken");
    }
}

/// With a changed key, the record does not verify or the key cannot be read.
#[test]
fn one_changed_byte_of_a_key_is_seen() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let path = golden.results().remove(0);
        for key in ["keys/signers", "keys/log.vkey"] {
            let key = golden.at(key);
            let good = files::change(&key);
            let code = golden.verify(&path, &[]).code;
            assert!(matches!(code, Some(1 | 3)), "{}: {code:?}", key.display());
            fs::write(&key, good).unwrap();
        }
        golden.verify(&path, &[]).assert_code(0);
    }
}

/// The run is repeated with the golden request, policy and inputs.
#[test]
fn a_golden_run_can_be_replayed() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let ok = golden.results().into_iter().find(|it| Record::at(it).outcome() == "ok").unwrap();
        let inputs = golden.only("input", ".inputs");
        let mut replay = bench.command("toolexec");
        replay.arg("replay").arg(&ok).args(["--format", "json"]);
        replay.arg("--inputs").arg(inputs).arg("--result-keys").arg(golden.at("keys/signers"));
        replay.arg("--policy").arg(golden.at("policy.yaml"));
        let output = CliOutput::of(&mut replay);
        output.assert_code(0);
        assert_eq!(output.json()["reproducible"], true, "{output:#?}");
    }
}

#[test]
fn golden_policies_are_good() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let shipped = ["embedded", "standard", "strict"].map(|name| format!("input/{name}.yaml"));
        let own = ["policy.yaml", "service/policy.yaml"].map(str::to_owned);
        for policy in shipped.iter().chain(&own) {
            let policy = golden.at(policy);
            let output = bench.toolexec(["policy", "check", policy.to_str().unwrap()]);
            assert_eq!(output.code, Some(0), "{output:#?}");
        }
    }
}
