//! A run uses the environment that its request names, and its record proves it.

use std::fs;

use toolexec_tests::{Bench, CliOutput, Record};

use super::scene::{EnvironmentBench, WORDS, digest, request};

toolexec_tests::as_both!(a_run_uses_the_environment_of_its_request, a_policy_may_permit_none);

fn a_run_uses_the_environment_of_its_request(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let request = bench.save(&request(&reference));
    let digest = digest(&reference);

    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let policy = bench.scratch().file("embedded.yaml", policy);
    let mut review = bench.command("toolexec");
    let review = CliOutput::of(review.arg("review").arg(&request.path).arg("--policy").arg(policy));
    review.assert_code(0);
    for text in [digest, "source       directory package", "bytes, 2 files", "/cache/env"] {
        assert!(review.stdout.contains(text), "{text:?} is not in {review:#?}");
    }

    let output = bench.run(&request);
    output.assert_code(0);
    let record = Record::of(&output);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), format!("{WORDS}\n"));
    assert_eq!(fs::read_to_string(record.path.join("artifacts/words.txt")).unwrap(), WORDS);
    assert_eq!(record.front_matter_value("environment"), reference);
    let line = format!("- Environment: charts, sha256 {digest}");
    assert!(record.text.contains(&line), "{}", record.text);
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
}

fn a_policy_may_permit_none(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    assert!(policy.contains("allowed: stored"), "{policy}");
    let run = |name: &str, policy: String| {
        let policy = bench.scratch().file(name, policy);
        let request = bench.save(&request(&reference));
        let mut command = bench.command("toolexec");
        command.args(["run", "--format", "json", "--policy"]).arg(policy).arg(&request.path);
        CliOutput::of(&mut command)
    };
    for allowed in ["none", "listed"] {
        let changed = policy.replace("allowed: stored", &format!("allowed: {allowed}"));
        let output = run(&format!("{allowed}.yaml"), changed);
        output.assert_code(2);
        output.assert_stderr(&["environment.not-permitted"]);
        Record::of(&output).assert_outcome("refused");
    }
    let listed = format!("digests: [\"sha256:{}\"]", digest(&reference));
    let changed = policy.replace("allowed: stored", "allowed: listed");
    assert!(changed.contains("digests: []"), "{policy}");
    let output = run("this.yaml", changed.replace("digests: []", &listed));
    output.assert_code(0);
    Record::of(&output).assert_outcome("ok");
}
