//! Sandboxes built ahead of use: each runs once, for its kind; none fails a run or is left.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::path::Path;

use toolexec_tests::{
    Bench, Record, RequestText, Service, ServiceConfig, kill_if_running, skip, wait_for_no_process,
    wait_for_process,
};

/// Runs a request. Returns its record and the build of its sandbox: `prewarmed` or `cold`.
fn run(service: &Service<'_>, text: &RequestText) -> (Record, String) {
    let request = service.submit(text);
    let record = service.record_of(&request.id);
    let log = service.log();
    let started = |line: &&str| line.contains("started") && line.contains(&request.id);
    let line = log.lines().find(started).unwrap_or_else(|| panic!("not started: {log}"));
    let sandbox = line.split("sandbox=").nth(1).unwrap_or_else(|| panic!("{line}"));
    (record, sandbox.trim_matches('"').to_owned())
}

fn reads_its_input(content: &str) -> RequestText {
    RequestText::python("print(open('/in/a.txt').read())").input("a.txt", content)
}

/// Returns the staging root, which the launcher's processes have on their command line.
fn staging_root(service: &Service<'_>) -> String {
    service.state().join("staging").to_str().unwrap().to_owned()
}

#[test]
fn a_second_run_of_a_language_finds_a_sandbox_ready() {
    for bench in [
        Bench::as_root("a prewarmed sandbox, as root"),
        Bench::as_ordinary_user("a prewarmed sandbox"),
    ] {
        let Some(bench) = bench else { continue };
        let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
        assert_eq!(service.staging_slots().len(), 0, "an idle daemon knows no runtime yet");
        let (first, sandbox) = run(&service, &reads_its_input("one"));
        first.assert_outcome("ok");
        assert_eq!((sandbox.as_str(), first.stdout().trim()), ("cold", "one"));

        let mut earlier = Vec::new();
        for content in ["two", "three"] {
            service.wait_for("a slot of a prewarmed sandbox", |it| it.staging_slots().len() == 1);
            service.assert_nothing_staged();
            assert!(!earlier.contains(&service.staging_slots()), "a sandbox is used once");
            earlier.push(service.staging_slots());
            let (record, sandbox) = run(&service, &reads_its_input(content));
            record.assert_outcome("ok");
            assert_eq!((sandbox.as_str(), record.stdout().trim()), ("prewarmed", content));
            // The confinement is the same as without a prewarmed sandbox.
            for key in ["mode", "abi", "no_new_privs", "effective", "bounding"] {
                assert_eq!(record.front_matter_value(key), first.front_matter_value(key), "{key}");
            }
        }

        service.verify().assert_code(0);
        service.signal("TERM");
        assert_eq!(service.wait(), Some(0));
        assert_eq!(service.staging_slots(), Vec::<String>::new(), "nothing is left");
        wait_for_no_process(&staging_root(&service));
    }
}

#[test]
fn a_run_of_another_kind_gets_a_new_sandbox() {
    let test = "a run of another kind gets a sandbox of its own";
    if !Path::new("/usr/bin/ruby").exists() {
        return skip(test, "no ruby");
    }
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let ruby = || RequestText::of("ruby", "ruby -e 'puts 1'");
    let sandboxes = [reads_its_input("1"), ruby(), ruby(), reads_its_input("2")].map(|text| {
        let before = service.staging_slots();
        let (record, sandbox) = run(&service, &text);
        record.assert_outcome("ok");
        assert!(service.staging_slots().len() <= 1, "no more than configured");
        // The next run finds a sandbox of this kind only if it exists by then.
        service.wait_for("a slot of a new prewarmed sandbox", |service| {
            let slots = service.staging_slots();
            slots.len() == 1 && slots != before
        });
        sandbox
    });
    assert_eq!(sandboxes, ["cold", "cold", "prewarmed", "cold"]);
}

#[test]
fn no_run_fails_because_a_ready_sandbox_is_gone() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let (record, _) = run(&service, &reads_its_input("one"));
    record.assert_outcome("ok");
    service.wait_for("a slot of a prewarmed sandbox", |it| it.staging_slots().len() == 1);
    for process in wait_for_process(&staging_root(&service)) {
        kill_if_running(process);
    }
    wait_for_no_process(&staging_root(&service));
    let (record, sandbox) = run(&service, &reads_its_input("two"));
    record.assert_outcome("ok");
    assert_eq!((sandbox.as_str(), record.stdout().trim()), ("cold", "two"));
    // The next one is prewarmed again. One with a changed slot is not used.
    service.wait_for("a slot of a prewarmed sandbox", |it| it.staging_slots().len() == 1);
    let slot = service.state().join("staging").join(&service.staging_slots()[0]);
    std::fs::write(slot.join("surprise"), "not declared").unwrap();
    let (record, sandbox) =
        run(&service, &RequestText::python("import os; print(os.listdir('/in'))"));
    record.assert_outcome("ok");
    assert_eq!((sandbox.as_str(), record.stdout().trim()), ("cold", "['script.py']"));
}

#[test]
fn a_refused_request_leaves_nothing_staged() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let (record, _) = run(&service, &reads_its_input("one"));
    record.assert_outcome("ok");
    service.wait_for("a slot of a prewarmed sandbox", |it| it.staging_slots().len() == 1);
    // Inputs first, the request last: its appearance submits it.
    let request = bench.save(&reads_its_input("two"));
    let name = format!("{}.inputs", request.id);
    let inputs = service.path("approved").join(&name);
    std::fs::create_dir(&inputs).unwrap();
    std::fs::write(inputs.join("a.txt"), "changed").unwrap();
    std::fs::copy(request.inputs.join("script.py"), inputs.join("script.py")).unwrap();
    let name = format!("{}.md", request.id);
    std::fs::copy(&request.path, service.spool().join(&name)).unwrap();
    std::fs::rename(service.spool().join(&name), service.path("approved").join(&name)).unwrap();
    let record = service.record_of(&request.id);
    record.assert_outcome("refused");
    record.assert_violation("inputs.mismatch");
    service.assert_nothing_staged();
    let (record, _) = run(&service, &reads_its_input("three"));
    record.assert_outcome("ok");
}

#[test]
fn a_restarted_daemon_reuses_no_sandbox() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let (record, _) = run(&service, &reads_its_input("one"));
    record.assert_outcome("ok");
    service.wait_for("a slot of a prewarmed sandbox", |it| it.staging_slots().len() == 1);
    service.signal("KILL");
    assert_eq!(service.wait(), None);
    wait_for_no_process(&staging_root(&service));
    // The policy has changed now.
    let policy = bench.home().join("policy.yaml");
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::write(&policy, text.replacen("name: for-tests", "name: another", 1)).unwrap();
    service.spawn();
    assert_eq!(service.staging_slots(), Vec::<String>::new());
    let (record, sandbox) = run(&service, &reads_its_input("two"));
    record.assert_outcome("ok");
    assert_eq!(sandbox, "cold");
}

#[test]
fn no_sandbox_is_prewarmed_if_disabled() {
    let bench = Bench::new();
    let config = ServiceConfig { prewarmed_sandboxes: Some(0), ..ServiceConfig::for_owner(&bench) };
    let service = Service::start(&bench, &config);
    for content in ["one", "two"] {
        let (record, sandbox) = run(&service, &reads_its_input(content));
        record.assert_outcome("ok");
        assert_eq!(sandbox, "cold");
        assert_eq!(service.staging_slots(), Vec::<String>::new());
    }
}
