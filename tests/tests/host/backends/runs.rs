//! Requests of the backend monty run to a verified record, and its limits have their outcomes.

use std::fs;

use toolexec_tests::{Bench, CliOutput, Record, as_both};

use super::scene::{CodeBench, ENTRY, code, script};

as_both!(
    code_runs_to_a_verified_record,
    a_script_reads_and_writes_files,
    limits_have_their_outcomes,
    a_backend_that_the_policy_lacks_is_unavailable,
    review_shows_the_backend,
);

/// Upstream's example: the sum of a list.
fn code_runs_to_a_verified_record(bench: &Bench) {
    let Some(scene) = CodeBench::of(bench, "code_runs_to_a_verified_record") else { return };
    let request = code("total = sum(rows)\nprint('total', total)\ntotal", "{\"rows\": [1, 2, 3]}");
    let output = scene.run(&request);
    output.assert_code(0);
    let record = Record::of(&output);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "total 6\n");
    let value = fs::read_to_string(record.path.join("artifacts/result.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&value).unwrap();
    assert_eq!(value, serde_json::json!({ "type": "int", "value": 6 }));
    assert_eq!(record.front_matter_value("backend"), "monty");
    assert!(record.text.contains("\nbackend_detail:\n"), "{}", record.text);
    assert!(record.text.contains("- Backend file: program, sha256 "), "{}", record.text);
    assert_eq!(record.front_matter_value("declared"), "true");
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);

    let policy = scene.policy(ENTRY);
    let mut command = bench.command("toolexec");
    command.args(["replay", "--format", "json", "--policy"]).arg(policy).arg(&record.path);
    let replay = CliOutput::of(&mut command);
    replay.assert_code(0);
    assert_eq!(replay.json()["reproducible"], true, "{replay:#?}");
    bench.assert_nothing_left();
}

fn a_script_reads_and_writes_files(bench: &Bench) {
    let Some(scene) = CodeBench::of(bench, "a_script_reads_and_writes_files") else { return };
    let text = "text = open(argv[1]).read()\nopen('/out/copy.txt', 'w').write(text)\n";
    let output = scene.run(&script(text).output("copy.txt"));
    output.assert_code(0);
    let record = Record::of(&output);
    record.assert_outcome("ok");
    assert_eq!(fs::read_to_string(record.path.join("artifacts/copy.txt")).unwrap(), text);
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
}

fn limits_have_their_outcomes(bench: &Bench) {
    // The module `microvm` has a test of the same name.
    let user = if bench.is_root() { "as_root" } else { "as_an_ordinary_user" };
    let test = format!("runs::{user}::limits_have_their_outcomes");
    let Some(scene) = CodeBench::of(bench, &test) else { return };
    let endless = code("while True:\n    pass", "{}").time_sec(1);
    let record = Record::of(&scene.run(&endless));
    // It computes all the time, so that both limits are reached at about the same time.
    assert!(["wall_limit", "cpu_limit"].contains(&record.outcome()), "{}", record.text);

    let large = code("rows = []\nwhile True:\n    rows.append('x' * 1000)", "{}");
    let record = Record::of(&scene.run(&large));
    record.assert_outcome("exit_nonzero");
    let reached = "toolexec-monty: memory limit of 48 MiB reached";
    assert!(record.stderr().contains(reached), "{}", record.stderr());

    let record = Record::of(&scene.run(&code("int('x')", "{}")));
    record.assert_outcome("exit_nonzero");
    assert!(record.stderr().contains("ValueError"), "{}", record.stderr());
    bench.toolexec(["verify".as_ref(), bench.results().as_os_str()]).assert_code(0);
}

fn a_backend_that_the_policy_lacks_is_unavailable(bench: &Bench) {
    let test = "a_backend_that_the_policy_lacks_is_unavailable";
    let Some(scene) = CodeBench::of(bench, test) else { return };
    let request = script("1").edit("\"monty\"", "ERA");
    let output = scene.run(&request);
    output.assert_code(2);
    let reason = "`ERA` is not available: the policy has no backend of this name";
    output.assert_stderr(&["backend.unavailable", reason]);
    Record::of(&output).assert_violation("backend.unavailable");
}

fn review_shows_the_backend(bench: &Bench) {
    let Some(scene) = CodeBench::of(bench, "review_shows_the_backend") else { return };
    let request = bench.save(&code("1 + 2", "{}"));
    let mut command = bench.command("toolexec");
    command.arg("review").arg(&request.path).arg("--policy").arg(scene.policy(ENTRY));
    let output = CliOutput::of(&mut command);
    output.assert_code(0);
    for text in ["Backend\n", "interpreter", "toolexec-monty, sha256 ", "/in/code.py"] {
        assert!(output.stdout.contains(text), "{text:?} is not in {output:#?}");
    }
}
