//! `exec --env auto`: the environment of the only lock file. No test here needs a network: the
//! store has the environment already, or nothing is built.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, Record, at_a_terminal, list};

use super::folder_scene::{exec, repository};
use super::scene::{EnvironmentBench, package, write};

toolexec_tests::as_both!(
    a_stored_environment_of_the_lock_file_is_used,
    an_imported_environment_is_not_taken_for_that_of_the_lock_file,
    nothing_is_asked_before_a_run_that_would_be_refused,
    exactly_one_lock_file_is_needed,
    nothing_is_fetched_without_an_answer,
);

const REQUIREMENTS: &str = "a==1 \\\n    --hash=sha256:\
    e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n";

/// States that a stored environment was built from a lock file, which is written. The build of an
/// environment is not part of its digest.
fn state_source(bench: &Bench, scene: &EnvironmentBench<'_>, reference: &str, lock: &Path) {
    write(lock, REQUIREMENTS, 0o644);
    let sum = CliOutput::of(bench.command("sha256sum").arg(lock)).stdout;
    let content = scene.tree(reference);
    let build = content.ancestors().nth(2).unwrap().join("build.json");
    let mut facts: Value = serde_json::from_str(&fs::read_to_string(&build).unwrap()).unwrap();
    facts["source"] =
        json!({"kind": "requirements", "file": "requirements.txt", "sha256": sum[..64]});
    fs::write(&build, format!("{facts}\n")).unwrap();
}

fn a_stored_environment_of_the_lock_file_is_used(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    state_source(bench, &scene, &reference, &repository(bench).join("requirements.txt"));

    let output = exec(bench, &["--env", "auto", "--input", "repo", "--", "greet", "you"]);
    output.assert_code(0);
    assert_eq!(output.stdout, "greetings you\n");
    let results = list(&bench.results());
    let record = Record::at(&bench.results().join(&results[0]));
    assert_eq!(record.front_matter_value("environment"), reference);
}

/// Only its digest is checked at an import: another host states where it comes from.
fn an_imported_environment_is_not_taken_for_that_of_the_lock_file(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build("home", &package(bench));
    state_source(bench, &scene, &reference, &bench.home().join("requirements.txt"));
    let env = |words: &[&str]| {
        let output = CliOutput::of(bench.command("toolexec").arg("env").args(words));
        output.assert_code(0);
        output
    };
    env(&["export", "home", "exported"]);
    env(&["rm", "home"]);
    env(&["import", "exported"]);
    let shown = env(&["show", "home"]);
    assert!(shown.stdout.contains("\nimported     yes; "), "{shown:#?}");

    let words = ["exec", "--env", "auto", "--", "greet", "you"];
    let test = "an_imported_environment_is_not_taken_for_that_of_the_lock_file";
    let answers = [("Build it? [y/N] ", "")];
    let Some(output) = at_a_terminal(bench, test, &answers, &words) else { return };
    output.assert_code(1);
    let row = "build     environment home (replaces the present one of this name)";
    assert!(output.stdout.contains(row), "{output:#?}");
}

fn nothing_is_asked_before_a_run_that_would_be_refused(bench: &Bench) {
    let lock = repository(bench).join("requirements.txt");
    write(&lock, REQUIREMENTS, 0o644);
    let words = ["--env", "auto", "--input", "repo", "--input", "none.csv", "--", "python"];
    let output = exec(bench, &words);
    output.assert_code(3);
    output.assert_stderr(&["--input none.csv: "]);
    assert!(!output.stdout.contains("Build it?"), "{output:#?}");

    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    assert!(policy.contains("unasked: false") && policy.contains("allowed: stored"));
    let policy = policy.replace("unasked: false", "unasked: true");
    let policy = policy.replace("allowed: stored", "allowed: none");
    let policy = bench.scratch().file("none.yaml", policy);
    let mut command = bench.command("toolexec");
    command.args(["exec", "--yes", "--policy"]).arg(policy);
    let output = CliOutput::of(command.args(["--env", "auto", "--", "python"]));
    output.assert_code(2);
    output.assert_stderr(&["--env auto: policy `", "permits no environment"]);
}

fn exactly_one_lock_file_is_needed(bench: &Bench) {
    let repo = repository(bench);
    let words = ["--env", "auto", "--input", "repo", "--", "python", "-c", "1"];
    let output = exec(bench, &words);
    output.assert_code(2);
    output.assert_stderr(&["has no uv.lock, requirements.txt or package-lock.json"]);
    write(&repo.join("requirements.txt"), REQUIREMENTS, 0o644);
    write(&repo.join("uv.lock"), "", 0o644);
    let output = exec(bench, &words);
    output.assert_code(2);
    output.assert_stderr(&["--env auto: ", "has uv.lock and requirements.txt"]);
    assert_eq!(list(&bench.state().join("exec")), Vec::<String>::new());
}

fn nothing_is_fetched_without_an_answer(bench: &Bench) {
    write(&bench.home().join("requirements.txt"), REQUIREMENTS, 0o644);
    let words = ["exec", "--env", "auto", "--", "python", "-c", "1"];
    let test = "nothing_is_fetched_without_an_answer";
    let answers = [("Build it? [y/N] ", "")];
    let Some(output) = at_a_terminal(bench, test, &answers, &words) else { return };
    output.assert_code(1);
    for row in ["requirements.txt", "fetch     1 package, ", "build     environment home"] {
        assert!(output.stdout.contains(row), "{row:?} is not in {output:#?}");
    }
    assert!(!bench.state().join("environments").exists());
    assert_eq!(list(&bench.state().join("exec")), Vec::<String>::new());
}
