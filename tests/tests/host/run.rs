//! `toolexec run`, from a command to a signed record: examples, output, exit codes, one run each.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, Record, RequestText, list};

toolexec_tests::as_both!(
    the_seattle_example_is_right,
    the_bibtex_example_is_right,
    the_answer_is_one_object,
    a_failed_tool_exits_1,
    a_refusal_exits_2,
    a_setup_error_exits_3,
    a_request_runs_once,
    the_key_is_private,
    results_may_go_elsewhere,
);

/// Runs an example as the README does, and returns its record.
fn example(bench: &Bench, name: &str) -> (CliOutput, Record) {
    let program = bench.scratch().examples().join("run");
    let output = CliOutput::of(bench.command(program).arg(name));
    output.assert_code(0);
    let line = |word: &str| {
        let line = output.stdout.lines().find(|line| line.split_whitespace().next() == Some(word));
        line.unwrap_or_else(|| panic!("no {word} in {output:#?}"))
            .split_whitespace()
            .last()
            .unwrap()
    };
    assert_eq!(line("outcome"), "ok");
    assert!(output.stdout.contains("The record verified"), "{output:#?}");
    let record = Record::at(line("record").as_ref());
    (output, record)
}

fn the_seattle_example_is_right(bench: &Bench) {
    let (_, record) = example(bench, "seattle-weather");
    let check = bench.scratch().path().join("examples/check-seattle");
    let compared =
        CliOutput::of(bench.command(check).arg(record.path.join("artifacts/stats.json")));
    compared.assert_code(0);
    let figures: u32 = compared.stdout.split_whitespace().next().unwrap().parse().unwrap();
    assert!(figures > 500, "{compared:#?}");
    let chart = fs::read_to_string(record.path.join("artifacts/temperature.svg")).unwrap();
    assert!(chart.contains("<svg"));
    bench.assert_nothing_left();
}

fn the_bibtex_example_is_right(bench: &Bench) {
    let (_, record) = example(bench, "bibtex-to-csl");
    let references = fs::read_to_string(record.path.join("artifacts/references.json")).unwrap();
    let references: Value = serde_json::from_str(&references).unwrap();
    let bibliography = bench.scratch().path().join("examples/bibtex-to-csl/references.bib");
    let bibliography = fs::read_to_string(bibliography).unwrap();
    let entry = |line: &&str| {
        let line = line.to_lowercase();
        line.starts_with('@')
            && !["@string", "@comment", "@preamble"].iter().any(|other| line.starts_with(other))
    };
    let entries = bibliography.lines().filter(entry).count();
    let references = references.as_array().unwrap();
    assert_eq!(references.len(), entries);
    assert!(references.iter().all(|it| it["id"].is_string() && it["type"].is_string()));
}

fn the_answer_is_one_object(bench: &Bench) {
    let script = "print('x'); open('/out/kept','w').write('k')";
    let request = bench.save(&RequestText::python(script).output("kept"));
    let output = bench.run(&request);
    output.assert_code(0);
    let answer = output.json();
    let mut keys: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["exit_code", "outcome", "record", "result_id", "verified"]);
    let record = Record::of(&output);
    assert_eq!(record.path, bench.results().join(record.id()));
    assert!(record.id().ends_with(&request.id));
    assert_eq!(fs::read(record.path.join("artifacts/kept")).unwrap(), b"k");
    let kept = record.path.join("request").join(format!("{}.md", request.id));
    assert_eq!(fs::read(kept).unwrap(), fs::read(&request.path).unwrap());

    // Missing protections are reported in the record and in one line on stderr.
    let degraded = record.front_matter_value("degraded");
    let stderr = output.stderr_without_waits();
    if bench.is_root() {
        assert_eq!((degraded, stderr.as_str()), ("[]", ""));
    } else if degraded == "[]" {
        assert_eq!(stderr, "");
    } else {
        assert_eq!(degraded, "[\"cgroup\"]");
        assert_eq!(stderr.lines().count(), 1, "{output:#?}");
        output.assert_stderr(&["without cgroup", "exception of the policy"]);
        assert!(record.text.contains("mechanism: sampled") && !record.text.contains("cgroup v"));
    }
    let human = bench.save(&RequestText::python("pass"));
    let human = bench.toolexec([&"run".into(), &human.path]);
    human.assert_code(0);
    assert!(human.stdout.contains("outcome    ok") && human.stdout.contains("verified   "));
}

fn a_failed_tool_exits_1(bench: &Bench) {
    let (output, record) = bench.run_recorded(&RequestText::python("raise SystemExit(7)"));
    output.assert_code(1);
    record.assert_outcome("exit_nonzero");
    assert_eq!(record.front_matter_value("exit_code"), "7");
    let (output, record) = bench.run_recorded(&RequestText::python("import os; os.abort()"));
    output.assert_code(1);
    record.assert_outcome("signal");
    assert_eq!(record.front_matter_value("exit_code"), "134");
    bench.assert_nothing_left();
}

fn a_refusal_exits_2(bench: &Bench) {
    let (output, record) = bench.run_recorded(&RequestText::of("ruby", "jruby x"));
    output.assert_code(2);
    record.assert_outcome("refused");
    assert_eq!(record.front_matter_value("exit_code"), "-1");
    assert_eq!(record.stdout(), "");
    bench.assert_nothing_left();
}

fn a_setup_error_exits_3(bench: &Bench) {
    let request = bench.save(&RequestText::python("pass"));
    let alone = bench.scratch().dir("alone");
    let toolexec = alone.join("toolexec");
    fs::copy(bench.scratch().path().join("bin/toolexec"), &toolexec).unwrap();
    if !std::path::Path::new("/usr/libexec/toolexec/toolexec-launch").exists() {
        let output = CliOutput::of(bench.command(&toolexec).arg("run").arg(&request.path));
        output.assert_code(3);
        let looked = alone.join("toolexec-launch");
        output.assert_stderr(&[
            "toolexec-launch",
            looked.to_str().unwrap(),
            "/usr/libexec/toolexec",
        ]);
    }
    // A launcher that ends at once gives a record, and the request is not used up.
    symlink("/bin/false", alone.join("toolexec-launch")).unwrap();
    let run = ["run", request.path.to_str().unwrap(), "--format", "json"];
    let output = CliOutput::of(bench.command(&toolexec).args(run));
    output.assert_code(3);
    let record = Record::of(&output);
    record.assert_outcome("setup_error");
    output.assert_stderr(&["launcher"]);
    bench.assert_nothing_left();
    bench.run(&request).assert_code(0);
}

fn a_request_runs_once(bench: &Bench) {
    let text = RequestText::python("print('once')");
    let request = bench.save(&text);
    let first = Record::of(&bench.run(&request));
    first.assert_outcome("ok");

    let again = bench.run(&request);
    again.assert_code(2);
    again.assert_stderr(&["spool.replayed", first.path.to_str().unwrap()]);
    let refusal = Record::of(&again);
    refusal.assert_outcome("refused");
    refusal.assert_violation("spool.replayed");

    let changed = fs::read_to_string(&request.path).unwrap().replace("A test.", "Another.");
    fs::write(&request.path, changed).unwrap();
    let other = bench.run(&request);
    other.assert_code(2);
    other.assert_stderr(&["spool.id-reused", first.path.to_str().unwrap()]);
    Record::of(&other).assert_violation("spool.id-reused");
    // Three results, three records, and one run.
    assert_eq!(list(&bench.results()).len(), 3);
    bench.assert_nothing_left();
}

fn the_key_is_private(bench: &Bench) {
    bench.run(&bench.save(&RequestText::python("pass"))).assert_code(0);
    let key = fs::metadata(bench.state().join("keys/result")).unwrap();
    assert_eq!((key.mode() & 0o777, key.uid()), (0o600, bench.uid()));
    assert_eq!(fs::metadata(bench.state()).unwrap().mode() & 0o777, 0o700);
    let before = bench.toolexec(["keys", "show", "--format", "pem"]).stdout;
    bench.run(&bench.save(&RequestText::python("pass"))).assert_code(0);
    assert_eq!(bench.toolexec(["keys", "show", "--format", "pem"]).stdout, before);
    assert!(before.starts_with("-----BEGIN PUBLIC KEY-----"), "{before}");
}

fn results_may_go_elsewhere(bench: &Bench) {
    let request = bench.save(&RequestText::python("print(open('/in/script.py').read())"));
    let (results, state) = (bench.home().join("a/results"), bench.home().join("a/state"));
    let inputs = bench.scratch().path().join("moved");
    fs::rename(&request.inputs, &inputs).unwrap();
    let output = CliOutput::of(
        bench
            .command("toolexec")
            .arg("run")
            .arg(&request.path)
            .arg("--inputs")
            .arg(inputs)
            .arg("--results")
            .arg(&results)
            .arg("--state")
            .arg(&state)
            .args(["--format", "json"]),
    );
    output.assert_code(0);
    assert_eq!(Record::of(&output).path.parent().unwrap(), results);
    assert_eq!(list(&state.join("work")), Vec::<String>::new());
    assert!(!bench.state().exists(), "the named state is the only one");
    let again = CliOutput::of(
        bench.command("toolexec").arg("run").arg(&request.path).arg("--state").arg(&state),
    );
    again.assert_code(2);
    again.assert_stderr(&[results.to_str().unwrap()]);
}
