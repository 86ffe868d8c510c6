//! The worked example of AIS, as a user runs it. Its output is checked, not only its exit code.

use std::fs;

use toolexec_tests::{Bench, CliOutput};

toolexec_tests::as_both!(
    the_worked_example_runs_what_is_bound_and_refuses_five,
    the_worked_example_fails_where_a_refusal_fails,
);

fn the_worked_example_runs_what_is_bound_and_refuses_five(bench: &Bench) {
    let script = bench.scratch().examples().join("ais/run");
    let output = CliOutput::of(&mut bench.command(&script));
    output.assert_code(0);
    for line in [
        "outcome      ok, it printed 31.73",
        "verdict      accept",
        "expired      IBE-EXPIRED",
        "replayed     IBE-REPLAY",
        "wrong step   IBE-BINDING-MISMATCH",
        "over budget  RISK-RECORDS-EXCEEDED",
        "revoked      UIA-REVOKED",
    ] {
        assert!(output.stdout.lines().any(|output| output == line), "{line}: {output:#?}");
    }
    assert!(output.stdout.contains(": verified: ok, "), "{output:#?}");
    // It leaves no files.
    assert_eq!(toolexec_tests::list(&bench.home()), Vec::<String>::new());
}

fn the_worked_example_fails_where_a_refusal_fails(bench: &Bench) {
    let script = bench.scratch().examples().join("ais/run");
    let text = fs::read_to_string(&script).unwrap();
    let patient = text.replacen("-300 seconds", "+300 seconds", 1);
    assert_ne!(text, patient);
    fs::write(&script, patient).unwrap();
    let output = CliOutput::of(&mut bench.command(&script));
    output.assert_code(1);
    assert!(output.stdout.contains("expected IBE-EXPIRED"), "{output:#?}");
}
