//! `exec --env auto`: the environment of the only lock file. No test here needs a network: the
//! store has the environment already, or nothing is built.

use std::fs;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, Record, at_a_terminal, list};

use super::folder_scene::{exec, repository};
use super::scene::{EnvironmentBench, write};

toolexec_tests::as_both!(
    a_stored_environment_of_the_lock_file_is_used,
    exactly_one_lock_file_is_needed,
    nothing_is_fetched_without_an_answer,
);

const REQUIREMENTS: &str = "a==1 \\\n    --hash=sha256:\
    e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n";

/// The build of an environment is not part of its digest, so a test can state another source.
fn a_stored_environment_of_the_lock_file_is_used(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let lock = repository(bench).join("requirements.txt");
    write(&lock, REQUIREMENTS, 0o644);
    let sum = CliOutput::of(bench.command("sha256sum").arg(&lock)).stdout;
    let content = scene.tree(&reference);
    let build = content.ancestors().nth(2).unwrap().join("build.json");
    let mut facts: Value = serde_json::from_str(&fs::read_to_string(&build).unwrap()).unwrap();
    facts["source"] =
        json!({"kind": "requirements", "file": "requirements.txt", "sha256": sum[..64]});
    fs::write(&build, format!("{facts}\n")).unwrap();

    let output = exec(bench, &["--env", "auto", "--input", "repo", "--", "greet", "you"]);
    output.assert_code(0);
    assert_eq!(output.stdout, "greetings you\n");
    let results = list(&bench.results());
    let record = Record::at(&bench.results().join(&results[0]));
    assert_eq!(record.front_matter_value("environment"), reference);
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
