//! The membership of a host in a fleet: its signed list, its labels, and the admission that the
//! gate permits. A host without a fleet has none of it.

use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;

use toolexec_tests::{Bench, CliOutput, STANDING_HOST, Service};

use super::fake_gate::READY;
use super::scene::{FleetScene, NAMESPACE, signature_of, tool_for};

#[test]
fn nothing_is_admitted_until_the_gate_is_ready() {
    let Some(tool) = tool_for("nothing_is_admitted_until_the_gate_is_ready") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let metrics = bench.home().join("toolexec.prom");
    scene.service.configure(&format!("metrics: {{file: {}, interval_sec: 1}}", metrics.display()));
    let gate = scene.gate();
    let reason = "database: is read-only; help: name the primary";
    gate.set_stopped(reason);
    scene.service.spawn();
    let id = scene.submit();
    let file = scene.service.path(&format!("approved/{id}.md"));
    let status = |service: &Service<'_>| {
        fs::read_to_string(service.path("public/status.json")).unwrap_or_default()
    };
    let stopped = "fleet: database: is read-only; nothing is admitted until its gate is ready";
    scene.service.wait_for("the reason", |service| status(service).contains(stopped));
    // Several more answers change nothing.
    std::thread::sleep(Duration::from_millis(3500));
    assert!(file.exists());
    assert_eq!(scene.service.log().matches("admission-stopped").count(), 1);
    let prom = |line: &str| fs::read_to_string(&metrics).unwrap_or_default().contains(line);
    scene.service.wait_for("the metrics", |_| prom("toolexec_fleet_ready 0\n"));
    assert!(prom("toolexec_admission_stopped{reason=\"fleet\"} 1\n"));
    assert!(prom("toolexec_fleet_beat_age_seconds{host=\"host1.example\"} 0.5\n"));
    // An answer that is none is not readiness.
    gate.set_status(b"\"ready\"\n");
    scene.service.wait_for("another reason", |_| gate.connections() > 2);
    assert!(file.exists());
    gate.set_status(READY.as_bytes());
    scene.service.record_of(&id).assert_outcome("ok");
    assert_eq!((scene.runs_of(&id), gate.starts().len()), (1, 1));
    assert!(scene.service.log().contains("admission-resumed"), "{}", scene.service.log());
    scene.service.wait_for("the metrics", |_| prom("toolexec_fleet_start_seconds_count 1\n"));
    // The gate disappears and comes back.
    drop(gate);
    fs::remove_file(scene.socket()).unwrap();
    scene.service.wait_for("a stop", |service| status(service).contains("cannot reach the gate"));
    let id = scene.submit();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(scene.service.path(&format!("approved/{id}.md")).exists());
    let gate = scene.gate();
    scene.service.record_of(&id).assert_outcome("ok");
    assert_eq!(gate.starts().len(), 1);
    scene.stop();
}

#[test]
fn a_label_of_the_signed_list_is_an_audience() {
    let Some(tool) = tool_for("a_label_of_the_signed_list_is_an_audience") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let gate = scene.gate();
    scene.service.spawn();
    for (audience, outcome) in [("gpu", "ok"), (STANDING_HOST, "ok"), ("tpu", "refused")] {
        let audience = format!("x-audience: \"{audience}\"\npurpose:");
        let request = scene.request().edit("purpose:", &audience);
        scene.place(&request);
        let record = scene.service.record_of(&request.id);
        record.assert_outcome(outcome);
        if outcome == "refused" {
            record.assert_violation("frontmatter.value");
        }
    }
    assert_eq!(gate.starts().len(), 2, "a refused request is not asked for");
    scene.stop();
}

/// A list that does not count, or lacks this host, starts no daemon.
#[test]
fn a_daemon_needs_its_place_in_a_signed_list() {
    let Some(tool) = tool_for("a_daemon_needs_its_place_in_a_signed_list") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let good = scene.list();
    scene.check().assert_code(0);
    let unknown = bench.home().join("unknown");
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&unknown);
    CliOutput::of(&mut command).assert_code(0);
    let other = good.replace(STANDING_HOST, "host2.example");
    let known = scene.key.clone();
    for (text, namespace, key, reason) in [
        (good.as_str(), "file", &known, "namespace `file` is not `fleet.tool-exec@threegate`"),
        (good.as_str(), NAMESPACE, &unknown, "is not in allowed_signers"),
        (other.as_str(), NAMESPACE, &known, "has no host `host1.example`"),
        ("fleet: build-farm\n", NAMESPACE, &known, "missing"),
    ] {
        scene.write_list(text);
        scene.sign_list(namespace, key);
        assert_no_start(&mut scene, reason);
    }
    scene.write_list(&good);
    scene.sign_list(NAMESPACE, &known);
    // Not a byte may change after the signature.
    scene.write_list(&good.replace("labels: [gpu]", "labels: [tpu]"));
    assert_no_start(&mut scene, "the signature: ");
    scene.write_list(&good);
    fs::remove_file(signature_of(&scene.list_path())).unwrap();
    assert_no_start(&mut scene, "fleet.yaml.sig: does not exist; help: sign the list with `ssh-");
    scene.sign_list(NAMESPACE, &known);
    scene.check().assert_code(0);
    // After a start with a list, no older one counts.
    scene.service.spawn();
    scene.stop();
    scene.write_list(&good.replace("serial: 7", "serial: 6"));
    scene.sign_list(NAMESPACE, &known);
    assert_no_start(&mut scene, "serial 6 is lower than 7");
    scene.write_list(&good.replace("serial: 7", "serial: 8"));
    scene.sign_list(NAMESPACE, &known);
    scene.check().assert_code(0);
    scene.service.spawn();
    scene.stop();
}

#[track_caller]
fn assert_no_start(scene: &mut FleetScene<'_>, reason: &str) {
    let output = scene.check();
    output.assert_code(2);
    output.assert_stderr(&[reason, "fleet.yaml", "help: "]);
    let command = scene.service.command();
    scene.service.spawn_as(command);
    assert_eq!(scene.service.wait(), Some(3), "{}", scene.service.log());
    assert!(scene.service.log().contains(reason), "{}", scene.service.log());
}

#[test]
fn the_check_says_what_is_wrong_with_the_fleet() {
    let Some(tool) = tool_for("the_check_says_what_is_wrong_with_the_fleet") else { return };
    let bench = Bench::new();
    let scene = FleetScene::new(&bench, &tool, 60);
    let good = fs::read_to_string(scene.service.config()).unwrap();
    let (socket, list) = (scene.socket(), scene.list_path());
    let (socket, list) = (socket.display(), list.display());
    let line = |text: &str| good.lines().find(|line| line.starts_with(text)).unwrap().to_owned();
    let (fleet, signers) = (line("fleet: "), line("allowed_signers: "));
    for (from, to, reason) in [
        (&fleet, format!("fleet: {{socket: {socket}}}"), "list"),
        (&fleet, format!("fleet: {{list: {list}}}"), "socket"),
        (&fleet, format!("fleet: {{socket: gate, list: {list}}}"), "fleet.socket: \"gate\" is not"),
        (&fleet, format!("fleet: {{socket: {socket}, list: x}}"), "fleet.list: \"x\" is not"),
        (
            &fleet,
            format!("fleet: {{socket: {socket}, list: {list}, start_wait_sec: 0}}"),
            "fleet.start_wait_sec: 0 is out of range",
        ),
        (&fleet, format!("fleet: {{socket: {socket}, list: {list}, port: 1}}"), "port"),
        (&signers, String::new(), "without allowed_signers"),
    ] {
        fs::write(scene.service.config(), good.replace(from.as_str(), &to)).unwrap();
        let output = scene.check();
        output.assert_code(2);
        output.assert_stderr(&[reason]);
    }
}

#[test]
fn a_reload_does_not_change_the_fleet() {
    let Some(tool) = tool_for("a_reload_does_not_change_the_fleet") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let gate = scene.gate();
    scene.service.spawn();
    let good = fs::read_to_string(scene.service.config()).unwrap();
    let reload = |scene: &FleetScene<'_>, event: &str, count: usize| {
        scene.service.signal("HUP");
        scene.service.wait_for(event, |service| service.log().matches(event).count() == count);
    };
    let changed = good.replace("start_wait_sec: 60", "start_wait_sec: 61");
    let without = without_fleet(&good);
    for (count, text) in [(1, &changed), (2, &without)] {
        fs::write(scene.service.config(), text).unwrap();
        reload(&scene, "reload-refused", count);
    }
    assert!(scene.service.log().contains("fleet: a reload cannot change this key"));
    fs::write(scene.service.config(), &good).unwrap();
    let list = scene.list();
    scene.write_list(&list.replace("labels: [gpu]", "labels: [gpu, eu-west]"));
    scene.sign_list(NAMESPACE, &scene.key);
    reload(&scene, "reload-refused", 3);
    // A list with more hosts says the same about this one.
    scene.write_list(&list.replace("serial: 7", "serial: 8"));
    scene.sign_list(NAMESPACE, &scene.key);
    reload(&scene, "reloaded", 1);
    let id = scene.submit();
    scene.service.record_of(&id).assert_outcome("ok");
    assert_eq!(gate.starts().len(), 1);
    scene.stop();
}

/// A host that runs alone opens no socket, starts no thread and writes no file for a fleet.
#[test]
fn a_host_without_a_fleet_asks_no_gate() {
    let Some(tool) = tool_for("a_host_without_a_fleet_asks_no_gate") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let listener = UnixListener::bind(scene.socket()).unwrap();
    listener.set_nonblocking(true).unwrap();
    let metrics = bench.home().join("toolexec.prom");
    scene.service.configure(&format!("metrics: {{file: {}, interval_sec: 1}}", metrics.display()));
    let with = fs::read_to_string(scene.service.config()).unwrap();
    fs::write(scene.service.config(), without_fleet(&with)).unwrap();
    scene.service.spawn();
    let id = scene.submit();
    scene.service.record_of(&id).assert_outcome("ok");
    assert!(!threads_of(&scene.service).contains(&"gate".to_owned()));
    assert!(!scene.service.state().join("fleet-list").exists());
    scene.service.wait_for("the metrics", |_| metrics.exists());
    assert!(!fs::read_to_string(&metrics).unwrap().contains("toolexec_fleet"));
    scene.stop();
    assert!(listener.accept().is_err(), "the gate was asked");
    // The same checks find the fleet of a host that has one.
    drop(listener);
    fs::remove_file(scene.socket()).unwrap();
    fs::write(scene.service.config(), with).unwrap();
    let gate = scene.gate();
    scene.service.spawn();
    assert!(threads_of(&scene.service).contains(&"gate".to_owned()));
    assert!(scene.service.state().join("fleet-list").exists());
    let has_metrics =
        || fs::read_to_string(&metrics).is_ok_and(|text| text.contains("toolexec_fleet_ready 1\n"));
    scene.service.wait_for("the metrics", |_| has_metrics());
    assert!(gate.connections() > 0);
    scene.stop();
}

/// Returns a configuration without the key `fleet`.
fn without_fleet(config: &str) -> String {
    let lines = config.lines().filter(|line| !line.starts_with("fleet: "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the names of the daemon's threads.
fn threads_of(service: &Service<'_>) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", service.process().0)).unwrap();
    // A thread may end in the meantime.
    let name = |task: std::io::Result<fs::DirEntry>| {
        let name = fs::read_to_string(task.ok()?.path().join("comm")).ok()?;
        Some(name.trim().to_owned())
    };
    tasks.filter_map(name).collect()
}
