//! A program that is not the one of the decision, or not the pinned one, runs nothing.

use std::fs::OpenOptions;
use std::io::Write;

use toolexec_tests::{Bench, Record, Service, ServiceConfig, as_both};

use super::scene::{CodeBench, ENTRY, code};

as_both!(a_changed_program_refuses_before_anything_is_used_up, another_pinned_program_is_refused);

fn a_changed_program_refuses_before_anything_is_used_up(bench: &Bench) {
    let Some(scene) = CodeBench::of(bench, "a_changed_program_refuses") else { return };
    let mut config = ServiceConfig::for_owner(bench);
    let backends = format!("\nbackend: confined\nbackends:\n  {ENTRY}\n");
    config.policy = config.policy.replacen("\nbackend: confined\n", &backends, 1);
    let service = Service::start(bench, &config);
    let good = service.submit(&code("1 + 2", "{}"));
    service.record_of(&good.id).assert_outcome("ok");

    // Bytes behind the sections of a program change only its digest.
    let mut program = OpenOptions::new().append(true).open(scene.program()).unwrap();
    program.write_all(b"changed").unwrap();
    drop(program);
    let request = service.submit(&code("1 + 2", "{}"));
    let record = service.record_of(&request.id);
    record.assert_outcome("refused");
    record.assert_violation("backend.unavailable");
    assert!(record.text.contains("changed after the daemon had read it"), "{}", record.text);
    service.verify().assert_code(0);
}

fn another_pinned_program_is_refused(bench: &Bench) {
    let Some(scene) = CodeBench::of(bench, "another_pinned_program_is_refused") else { return };
    let pinned = format!(", sha256: {{program: \"{}\"}}}}", "ab".repeat(32));
    let policy = scene.policy(&ENTRY.replace('}', &pinned));
    let request = bench.save(&code("1 + 2", "{}"));
    let output = scene.run_saved(&request, &policy);
    output.assert_code(2);
    output.assert_stderr(&["backend.unavailable", "has another digest than the policy pins"]);
    Record::of(&output).assert_outcome("refused");
    // Nothing was used up: the same request runs under a policy that it satisfies.
    let output = scene.run_saved(&request, &scene.policy(ENTRY));
    output.assert_code(0);
}
