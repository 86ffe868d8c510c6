//! The signed record of a build: who signed it, a copy on another host, changes, and a policy that
//! demands a builder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput};

use super::scene::{EnvironmentBench, digest, package, request};

toolexec_tests::as_both!(
    a_record_names_its_builder_and_is_imported,
    an_import_keeps_another_record_and_says_so,
    a_changed_or_foreign_record_is_refused,
    a_policy_demands_one_of_its_builders,
    a_key_that_cannot_sign_is_refused_with_its_help,
);

/// Makes an Ed25519 key, and returns its path and its public half.
#[track_caller]
fn make_key(bench: &Bench, name: &str) -> (PathBuf, String) {
    let directory = bench.home().join(name);
    CliOutput::of(bench.command("mkdir").args(["-m", "700"]).arg(&directory)).assert_code(0);
    let key = directory.join("key");
    let mut command = bench.command("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "builder", "-f"]).arg(&key);
    CliOutput::of(&mut command).assert_code(0);
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    (key, public.trim().to_owned())
}

fn env(bench: &Bench, words: &[&str]) -> Command {
    let mut command = bench.command("toolexec");
    command.arg("env").args(words);
    command
}

/// Builds `charts` with this key, and returns its reference.
#[track_caller]
fn build_signed(bench: &Bench, key: &Path) -> String {
    let package = package(bench);
    let mut command = env(bench, &["build", "charts", "--format", "json", "--sign-key"]);
    let output = CliOutput::of(command.arg(key).arg("--from").arg(package));
    output.assert_code(0);
    output.json()["environment"].as_str().unwrap().to_owned()
}

#[track_caller]
fn shown_record(bench: &Bench, store: &Path) -> serde_json::Value {
    let mut command = env(bench, &["show", "charts", "--format", "json", "--store"]);
    let output = CliOutput::of(command.arg(store));
    output.assert_code(0);
    output.json()["build_record"].clone()
}

fn record_in(store: &Path, reference: &str) -> PathBuf {
    store.join(format!("sha256-{}/build.dsse.json", digest(reference)))
}

fn a_record_names_its_builder_and_is_imported(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let store = bench.state().join("environments");
    let python = ["build", "charts", "--python", "/usr/bin/python3", "--from"];
    let output = CliOutput::of(env(bench, &python).arg(package(bench)));
    output.assert_code(3);
    output.assert_stderr(&["--python: ", "is of kind directory, which has no Python packages"]);
    // No run has made a key yet.
    let output = CliOutput::of(env(bench, &["build", "charts", "--from"]).arg(package(bench)));
    output.assert_code(0);
    output.assert_stderr(&["not signed", "no result key yet", "--sign-key"]);
    assert_eq!(shown_record(bench, &store), serde_json::Value::Null);

    let (key, public) = make_key(bench, "builder");
    let reference = build_signed(bench, &key);
    let record = shown_record(bench, &store);
    assert_eq!(record["verified"], true);
    assert!(public.starts_with(record["key"].as_str().unwrap()), "{record}");
    CliOutput::of(&mut env(bench, &["verify", "charts"])).assert_code(0);

    let (exported, other) = (bench.home().join("exported"), bench.home().join("other"));
    CliOutput::of(env(bench, &["export", "charts"]).arg(&exported)).assert_code(0);
    let mut import = env(bench, &["import"]);
    CliOutput::of(import.arg(&exported).arg("--store").arg(&other)).assert_code(0);
    assert_eq!(shown_record(bench, &other), record);
    let (ours, copied) = (record_in(&store, &reference), record_in(&other, &reference));
    assert_eq!(fs::read(ours).unwrap(), fs::read(copied).unwrap());

    // Another build without `--sign-key` keeps the record.
    scene.build_package();
    assert_eq!(shown_record(bench, &store), record);
}

fn an_import_keeps_another_record_and_says_so(bench: &Bench) {
    let _scene = EnvironmentBench::of(bench);
    let (first, _) = make_key(bench, "first");
    let (second, public) = make_key(bench, "second");
    let (store, exported) = (bench.state().join("environments"), bench.home().join("exported"));
    build_signed(bench, &first);
    CliOutput::of(env(bench, &["export", "charts"]).arg(&exported)).assert_code(0);
    build_signed(bench, &second);
    let kept = shown_record(bench, &store);
    assert!(public.starts_with(kept["key"].as_str().unwrap()), "{kept}");
    let import = || CliOutput::of(env(bench, &["import"]).arg(&exported));
    let output = import();
    output.assert_code(0);
    output.assert_stderr(&[kept["fingerprint"].as_str().unwrap(), "toolexec env rm charts"]);
    assert_eq!(shown_record(bench, &store), kept);
    CliOutput::of(&mut env(bench, &["rm", "charts"])).assert_code(0);
    assert_eq!(import().stderr, "");
    assert_ne!(shown_record(bench, &store), kept);
}

fn a_changed_or_foreign_record_is_refused(bench: &Bench) {
    let _scene = EnvironmentBench::of(bench);
    let (key, _) = make_key(bench, "builder");
    let reference = build_signed(bench, &key);
    let store = bench.state().join("environments");
    let record = record_in(&store, &reference);
    let exported = bench.home().join("exported");
    CliOutput::of(env(bench, &["export", "charts"]).arg(&exported)).assert_code(0);

    let good = fs::read_to_string(&record).unwrap();
    let changed = good.replacen("\"keyid\":\"SHA256:", "\"keyid\":\"SHA256:A", 1);
    for text in [changed, "{}\n".to_owned(), " ".repeat(65 * 1024)] {
        fs::write(&record, &text).unwrap();
        let output = CliOutput::of(&mut env(bench, &["verify", "charts"]));
        output.assert_code(1);
        output.assert_stderr(&["the build record does not verify", &reference]);
        assert_eq!(shown_record(bench, &store)["verified"], false);

        fs::write(record_in(&exported, &reference), &text).unwrap();
        let other = bench.home().join("other");
        let mut import = env(bench, &["import"]);
        let output = CliOutput::of(import.arg(&exported).arg("--store").arg(&other));
        output.assert_code(2);
        assert!(!record_in(&other, &reference).exists());
    }
    fs::write(&record, good).unwrap();
    CliOutput::of(&mut env(bench, &["verify", "charts"])).assert_code(0);
}

fn a_policy_demands_one_of_its_builders(bench: &Bench) {
    let _scene = EnvironmentBench::of(bench);
    let (key, public) = make_key(bench, "builder");
    let (other, _) = make_key(bench, "other");
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let demand = format!("  digests: []\n  builders: [\"{public}\"]\n");
    let policy = bench.scratch().file("policy.yaml", policy.replace("  digests: []\n", &demand));
    let run = |reference: &str| {
        let request = bench.save(&request(reference));
        let mut command = bench.command("toolexec");
        command.args(["run", "--policy"]).arg(&policy).arg(&request.path);
        CliOutput::of(&mut command)
    };
    let reference = build_signed(bench, &other);
    let output = run(&reference);
    output.assert_code(2);
    output.assert_stderr(&["environment.not-permitted", "not by a key of environments.builders"]);
    assert_eq!(build_signed(bench, &key), reference);
    run(&reference).assert_code(0);
}

fn a_key_that_cannot_sign_is_refused_with_its_help(bench: &Bench) {
    let (key, _) = make_key(bench, "builder");
    let helps = [
        (key.with_extension("pub"), "name the private key, without `.pub`"),
        (bench.home().join("missing"), "check the path"),
    ];
    for (key, help) in helps {
        let mut command = env(bench, &["build", "charts", "--sign-key"]);
        let output = CliOutput::of(command.arg(key).arg("--from").arg(package(bench)));
        output.assert_code(3);
        output.assert_stderr(&["--sign-key ", help]);
    }
}
