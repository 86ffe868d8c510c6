//! The public trial (`tests/escape/trial`): TOOL-EXEC contains every scenario, the baits can be
//! reached, and a script's own words prove nothing.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, CliOutput, skip, workspace};

/// The keys that the comment of a scenario must have.
const HEAD: &str = "# attempt: says something\n# class: runtime\n# origin: ours\n# evidence: none\n\
                    from attempt import *\n";

/// Runs the trial as the user of the tests. As root it starts sandboxes as another user.
fn trial(bench: &Bench, words: &[&str]) -> CliOutput {
    let program = workspace().join("tests/escape/trial");
    let mut command = bench.command(program);
    CliOutput::of(command.arg("--bin").arg(bench.scratch().path().join("bin")).args(words))
}

/// Runs one scenario of this code in a sandbox of an ordinary user.
fn own_scenario(bench: &Bench, code: &str) -> CliOutput {
    let scenarios = bench.scratch().dir("scenarios");
    fs::write(scenarios.join("own.py"), format!("{HEAD}{code}\n")).unwrap();
    trial(bench, &["--subject", "toolexec-user", "--scenarios", scenarios.to_str().unwrap()])
}

#[test]
fn every_scenario_of_the_trial_is_contained() {
    if Bench::as_ordinary_user("every_scenario_of_the_trial_is_contained").is_none() {
        return;
    }
    let output = trial(&Bench::new(), &["--subject", "toolexec-user"]);
    output.assert_code(0);
    let scenarios = fs::read_dir(workspace().join("tests/escape/scenarios")).unwrap().count();
    let contained = output.stdout.lines().filter(|line| line.contains("| CONTAINED")).count();
    assert!(scenarios >= 33, "only {scenarios} scenarios");
    assert_eq!(contained, scenarios, "{}", output.stdout);
    assert!(output.stdout.ends_with("Not contained by TOOL-EXEC: none\n"), "{}", output.stdout);
}

/// Without this, a bait that is not there would count as a scenario that is contained.
#[test]
fn the_baits_of_the_trial_can_be_reached() {
    let test = "the_baits_of_the_trial_can_be_reached";
    let bench = Bench::new();
    if CliOutput::of(bench.command("sh").args(["-c", "command -v bwrap"])).code != Some(0) {
        return skip(test, "needs bubblewrap");
    }
    let reached = [
        "host_mount",
        "docker_socket",
        "host_loopback",
        "host_processes",
        "exfiltrate_dns",
        "exfiltrate_socket",
        "environment",
        "credential_files",
        "history_files",
        "shared_memory",
        "kubernetes_token",
    ];
    let mut words = vec!["--subject", "no-walls"];
    words.extend(reached.iter().flat_map(|name| ["--only", *name]));
    let output = trial(&bench, &words);
    let skipped = "no-walls: SKIPPED: does not run here";
    if let Some(line) = output.stdout.lines().find(|line| line.contains(skipped)) {
        return skip(test, &format!("bubblewrap: {line}"));
    }
    output.assert_code(0);
    for name in reached {
        let line = format!("- {name}: ESCAPED: ");
        assert!(output.stdout.contains(&line), "{name}: {}", output.stdout);
    }
}

#[test]
fn a_claim_without_evidence_is_a_fault_of_the_trial() {
    if Bench::as_ordinary_user("a_claim_without_evidence_is_a_fault_of_the_trial").is_none() {
        return;
    }
    let output = own_scenario(&Bench::new(), "say('ESCAPED', 'so it says')");
    output.assert_code(1);
    assert!(output.stdout.contains("own: UNPROVEN: it claims so it says"), "{}", output.stdout);
}

#[test]
fn a_scenario_that_fails_is_not_contained() {
    if Bench::as_ordinary_user("a_scenario_that_fails_is_not_contained").is_none() {
        return;
    }
    let output = own_scenario(&Bench::new(), "raise ValueError('a fault of its own')");
    output.assert_code(1);
    assert!(output.stdout.contains("own: BROKEN: exit 1: ValueError"), "{}", output.stdout);
}
