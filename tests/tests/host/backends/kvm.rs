//! KVM is used only after a guest booted with it in a sandbox of this host. Otherwise the policy's
//! next accelerator is used, or the backend is unavailable, and each place says why.

use std::fs;
use std::path::Path;

use toolexec_tests::{
    Bench, CliOutput, Record, SavedRequest, Service, ServiceConfig, as_both, skip,
};

use super::microvm_scene::{BOOT_SEC, MachineBench, python};

as_both!(kvm_without_a_booted_guest_is_not_used);

/// A guest that hangs with KVM ends the try after this.
const KVM_SEC: u32 = 8;

const FAILED: &str = "kvm booted no guest here: ";
const BOUNDARY: &str =
    "- Guest boundary: TCG is not a hypervisor boundary; count on the sandbox only";

fn entry(scene: &MachineBench<'_>, accel: &str, boot_sec: u32) -> String {
    let usual = format!("boot_sec: {BOOT_SEC}");
    scene.entry(accel, "").replace(&usual, &format!("boot_sec: {boot_sec}"))
}

fn run(scene: &MachineBench<'_>, request: &SavedRequest, accel: &str, boot_sec: u32) -> CliOutput {
    scene.run(request, &scene.policy(&entry(scene, accel, boot_sec)))
}

/// Returns whether a run with KVM alone ended well. Its record then says so.
fn kvm_works(output: &CliOutput) -> bool {
    if output.code != Some(0) {
        return false;
    }
    let record = Record::of(output);
    record.assert_outcome("ok");
    assert!(record.text.contains("- Guest: accelerator kvm, root python,"), "{}", record.text);
    assert!(!record.text.contains(BOUNDARY), "{}", record.text);
    true
}

fn kvm_without_a_booted_guest_is_not_used(bench: &Bench) {
    let test = "kvm_without_a_booted_guest_is_not_used";
    let Some(scene) = MachineBench::of(bench, test) else { return };
    if !Path::new("/dev/kvm").exists() {
        return skip(test, "this host has no /dev/kvm");
    }
    let request = bench.save(&python("print(1)\n"));
    let only = run(&scene, &request, "kvm", KVM_SEC);
    if kvm_works(&only) {
        return skip(test, "KVM boots a guest here, and its record says so");
    }
    only.assert_code(2);
    only.assert_stderr(&["booting a guest, to learn", "backend.unavailable", FAILED]);
    Record::of(&only).assert_violation("backend.unavailable");

    // The failure is remembered: it is stated again, and no guest boots.
    let remembered = fs::read(bench.state().join("backend-probes.json")).unwrap();
    let again = run(&scene, &request, "kvm", KVM_SEC);
    again.assert_code(2);
    again.assert_stderr(&["backend.unavailable", FAILED]);
    assert!(!again.stderr.contains("booting a guest"), "{again:#?}");
    assert_eq!(fs::read(bench.state().join("backend-probes.json")).unwrap(), remembered);

    let both = run(&scene, &request, "kvm, tcg", BOOT_SEC);
    both.assert_code(0);
    let record = Record::of(&both);
    record.assert_outcome("ok");
    for text in ["- Guest: accelerator tcg, root python,", BOUNDARY] {
        assert!(record.text.contains(text), "{text:?} is not in {}", record.text);
    }
    let mut review = bench.command("toolexec");
    let policy = scene.policy(&entry(&scene, "kvm, tcg", BOOT_SEC));
    review.args(["review", "--format", "json"]).arg(&request.path).arg("--policy").arg(policy);
    let review = CliOutput::of(&mut review);
    assert!(review.stdout.contains(&format!("with tcg, because {FAILED}")), "{review:#?}");
}

#[test]
fn a_daemon_tries_kvm_and_delays_no_request() {
    let bench = Bench::new();
    let test = "a_daemon_tries_kvm_and_delays_no_request";
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    if !Path::new("/dev/kvm").exists() {
        return skip(test, "this host has no /dev/kvm");
    }
    let mut config = ServiceConfig::for_owner(&bench);
    let backends =
        format!("\nbackend: confined\nbackends:\n  {}\n", entry(&scene, "kvm, tcg", BOOT_SEC));
    config.policy = config.policy.replacen("\nbackend: confined\n", &backends, 1);
    let service = Service::start(&bench, &config);
    // During the try, a guest boots with the next accelerator.
    let request = service.submit(&python("print(1)\n"));
    service.record_of(&request.id).assert_outcome("ok");
    let remembered = service.state().join("backend-probes.json");
    service.wait_for("the result to be remembered", |_| remembered.is_file());
    let remembered = fs::read_to_string(remembered).unwrap();
    assert!(remembered.contains("\"accelerator\":\"kvm\""), "{remembered}");
    if remembered.contains("\"failure\":null") {
        return skip(test, "KVM boots a guest here");
    }
    let request = service.submit(&python("print(2)\n"));
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    assert!(record.text.contains("- Guest: accelerator tcg, root python,"), "{}", record.text);

    let mut command = bench.command("toolexec");
    command.args(["doctor", "--format", "json", "--config"]);
    let report = CliOutput::of(command.arg(service.config())).json();
    let is = |it: &&serde_json::Value| it["topic"] == "backends" && it["object"] == "ERA";
    let found = report["findings"].as_array().unwrap().iter().find(is).unwrap();
    assert_eq!(found["verdict"], "ok", "{found:#}");
    let text = found["found"].as_str().unwrap();
    for part in ["tcg (no hypervisor boundary), guest kernel ", FAILED] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}
