//! The present daemon serves the spool of an earlier version: it holds and runs waiting requests,
//! continues the ledger and the log, and refuses requests that ran before. It must never run a
//! request twice.

use std::fs;
use std::path::Path;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, Service, ServiceConfig, list};

use super::files::{Golden, MADE_IN, versions};
use super::outputs::{assert_kept, golden_lines, objects};

/// Keys of the configuration that were renamed on purpose: the golden name and the present one.
const RENAMED_KEYS: [(&str, &str); 4] = [
    ("rescan_sec", "scan_interval_sec"),
    ("drain_sec", "shutdown_grace_sec"),
    ("ready_cells", "prewarmed_sandboxes"),
    ("keep", "retention"),
];

/// Metrics that were renamed on purpose: the golden name and the present one.
const RENAMED_METRICS: [(&str, &str); 3] = [
    ("toolexec_running_cells", "toolexec_running_sandboxes"),
    ("toolexec_ready_cells", "toolexec_prewarmed_sandboxes"),
    ("toolexec_memory_promised", "toolexec_memory_reserved"),
];

/// Moves the golden service to the paths of a [`Service`].
fn service<'a>(golden: &Golden<'a>) -> Service<'a> {
    let bench = golden.bench;
    let service = Service::prepare(bench, &ServiceConfig::for_owner(bench));
    let home = bench.home();
    fs::remove_dir_all(service.spool()).unwrap();
    for (from, to) in [("spool", "spool"), ("state", "daemon"), ("policy.yaml", "policy.yaml")] {
        let to = home.join(to);
        if to.is_file() {
            fs::remove_file(&to).unwrap();
        }
        fs::rename(golden.at("service").join(from), to).unwrap();
    }
    fs::rename(golden.at("service/allowed_signers"), home.join("allowed_signers")).unwrap();
    for key in ["result", "log"] {
        restore(&service.state().join("keys").join(key));
    }
    let config = fs::read_to_string(golden.at("service/toolexecd.yaml")).unwrap();
    let place = format!("{}/", home.display());
    let mut config = config
        .replace(&format!("{MADE_IN}/service/state"), &format!("{place}daemon"))
        .replace(&format!("{MADE_IN}/service/"), &place);
    assert!(!config.contains(MADE_IN), "{config}");
    for (then, now) in RENAMED_KEYS {
        config = config.replace(&format!("\n{then}: "), &format!("\n{now}: "));
    }
    fs::write(service.config(), config).unwrap();
    service
}

/// Adds the first and the last line of a private key. Without them, tools that search for leaked keys stay quiet.
fn restore(key: &Path) {
    let base64 = fs::read_to_string(format!("{}.base64", key.display())).unwrap();
    let armour = |word: &str| format!("-----{word} OPENSSH {} KEY-----\n", "PRIVATE");
    fs::write(key, format!("{}{base64}{}", armour("BEGIN"), armour("END"))).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(key, mode).unwrap();
}

/// Returns the row of `list` for the request whose id has this ending.
fn listed(bench: &Bench, service: &Service<'_>, end: &str) -> Option<Value> {
    let spool = service.spool();
    let words = ["list", "--waiting", "--format", "json", "--spool", spool.to_str().unwrap()];
    let rows = bench.toolexec(words).json_lines();
    rows.into_iter().find(|row| row["request_id"].as_str().unwrap().ends_with(end))
}

fn is_held(service: &Service<'_>, bench: &Bench, end: &str) -> bool {
    listed(bench, service, end).is_some_and(|row| row["state"] == "held")
}

#[test]
fn a_golden_configuration_is_good() {
    for version in versions() {
        let bench = Bench::new();
        let service = service(&Golden::copy(&bench, &version));
        CliOutput::of(service.command().arg("--check")).assert_code(0);
    }
}

#[test]
fn a_daemon_goes_on_with_a_golden_spool() {
    for version in versions() {
        let bench = Bench::new();
        let golden = Golden::copy(&bench, &version);
        let mut service = service(&golden);
        let before = service.visible_results();
        service.spawn();
        for end in ["service-waits", "service-held"] {
            service.wait_for("the requests to be held", |it| is_held(it, &bench, end));
        }
        assert_eq!(service.visible_results(), before, "{}", service.log());
        assert_same_output(&golden, &service);
        release(&bench, &service, "service-held");
        run_again_is_refused(&golden, &service);
        service.signal("TERM");
        assert_eq!(service.wait(), Some(0));
        service.verify().assert_code(0);
        service.fsck().assert_code(0);
    }
}

/// Compares `status`, `list` and the metrics of the running service.
fn assert_same_output(golden: &Golden<'_>, service: &Service<'_>) {
    let spool = service.spool().display().to_string();
    let say = |command: &str| {
        let output = golden.bench.toolexec([command, "--format", "json", "--spool", &spool]);
        objects(&output.stdout.replace(&spool, &format!("{MADE_IN}/service/spool")))
    };
    for (command, file) in [("status", "status.json"), ("list", "list-service.json")] {
        let (then, now) = (golden_lines(golden, file), say(command));
        assert_kept(&Value::Array(then), &Value::Array(now), file);
    }
    let numbers = fs::read_to_string(golden.bench.home().join("toolexec.prom")).unwrap();
    let kinds = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("# TYPE "));
        lines.map(str::to_owned).collect()
    };
    let now = kinds(&numbers);
    let mut then = fs::read_to_string(golden.at("service/toolexec.prom")).unwrap();
    for (old, new) in RENAMED_METRICS {
        then = then.replace(old, new);
    }
    for kind in kinds(&then) {
        assert!(
            now.contains(&kind),
            "the present daemon has no metric of this name and type: {kind}"
        );
    }
}

fn release(bench: &Bench, service: &Service<'_>, end: &str) {
    let id = listed(bench, service, end).unwrap()["request_id"].as_str().unwrap().to_owned();
    let spool = service.spool();
    bench.toolexec(["release", &id, "--spool", spool.to_str().unwrap()]).assert_code(0);
    let record = service.record_of(&id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "ran\n");
}

/// Asserts that a request in the golden ledger does not run again.
fn run_again_is_refused(golden: &Golden<'_>, service: &Service<'_>) {
    let archive = service.path("archive");
    let claim = list(&archive).into_iter().find(|name| name.ends_with("service-ok")).unwrap();
    let id = claim[claim.find("TR-").unwrap()..].to_owned();
    let again = golden.bench.scratch().dir("again");
    let request = again.join(format!("{id}.md"));
    let archived = archive.join(claim);
    fs::copy(archived.join("request.md"), &request).unwrap();
    fs::copy(archived.join(format!("{id}.md.sig")), again.join(format!("{id}.md.sig"))).unwrap();
    let inputs = again.join(format!("{id}.inputs"));
    fs::create_dir(&inputs).unwrap();
    fs::write(inputs.join("script.py"), "print('ran')\n").unwrap();
    let mut submit = golden.bench.command("toolexec");
    submit.arg("submit").arg(&request).arg("--spool").arg(service.spool());
    CliOutput::of(&mut submit).assert_code(0);
    service.wait_for("a refusal", |it| it.records_of(&id).len() == 2);
    let records = service.records_of(&id);
    let refusal = records.iter().find(|record| record.outcome() == "refused").unwrap();
    refusal.assert_violation("spool.replayed");
    service.wait_for("the claim to be finished", |it| list(&it.path("work")).is_empty());
}
