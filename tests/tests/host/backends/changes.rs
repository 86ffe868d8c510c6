//! A program that is not the one of the decision, or not the pinned one, runs nothing. Nor does one
//! that others can replace. A change of the policy changes no run of the past.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use toolexec_tests::{Bench, Record, RequestText, Service, ServiceConfig, as_both, list};

use super::scene::{CodeBench, ENTRY, code};

as_both!(
    a_changed_program_refuses_before_anything_is_used_up,
    another_pinned_program_is_refused,
    a_program_that_others_can_replace_is_refused,
    a_run_before_a_crash_keeps_its_backend,
);

fn a_changed_program_refuses_before_anything_is_used_up(bench: &Bench) {
    let test = "a_changed_program_refuses_before_anything_is_used_up";
    let Some(scene) = CodeBench::of(bench, test) else { return };
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

fn a_program_that_others_can_replace_is_refused(bench: &Bench) {
    let test = "a_program_that_others_can_replace_is_refused";
    let Some(scene) = CodeBench::of(bench, test) else { return };
    let (above, place) = (bench.scratch().dir("above"), bench.scratch().dir("above/place"));
    let program = place.join("toolexec-monty");
    fs::copy(scene.program(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let policy = scene.policy(&ENTRY.replace("auto", program.to_str().unwrap()));
    let request = bench.save(&code("1 + 2", "{}"));
    for (path, usual, mode) in [
        (&above, 0o755, 0o777),
        (&place, 0o755, 0o777),
        (&place, 0o755, 0o775),
        (&program, 0o755, 0o775),
    ] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let output = scene.run_saved(&request, &policy);
        output.assert_code(2);
        let why = format!("other users can change {}", path.display());
        output.assert_stderr(&["backend.unavailable", &why]);
        fs::set_permissions(path, Permissions::from_mode(usual)).unwrap();
    }
    scene.run_saved(&request, &policy).assert_code(0);
}

/// A run that only the ledger knows, under a policy whose default has changed since.
fn a_run_before_a_crash_keeps_its_backend(bench: &Bench) {
    if CodeBench::of(bench, "a_run_before_a_crash_keeps_its_backend").is_none() {
        return;
    }
    let mut config = ServiceConfig::for_owner(bench);
    let backends = format!("\nbackend: monty\nbackends:\n  {ENTRY}\n");
    config.policy = config.policy.replacen("\nbackend: confined\n", &backends, 1);
    let mut service = Service::start(bench, &config);
    let request = service.submit(&RequestText::python("print(1)").memory_mb(64));
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_eq!(record.front_matter_value("backend"), "monty");

    let line = fs::read_to_string(service.state().join("ledger")).unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let claim = service.path("work").join(line["claim"].as_str().unwrap());
    service.wait_for("the claim to be put away", |it| list(&it.path("archive")) == [record.id()]);
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    fs::rename(service.path("archive").join(record.id()), claim).unwrap();
    let hidden = service.path(&format!("results/.new-{}", record.id()));
    fs::rename(service.path("results").join(record.id()), &hidden).unwrap();
    fs::write(hidden.join("stdout"), "something else").unwrap();
    let policy = config.policy.replacen("\nbackend: monty\n", "\nbackend: confined\n", 1);
    fs::write(bench.home().join("policy.yaml"), policy).unwrap();
    service.spawn();
    let again = service.record_of(&request.id);
    again.assert_outcome("indeterminate");
    assert_eq!(again.front_matter_value("backend"), "monty");
    service.verify().assert_code(0);
}
