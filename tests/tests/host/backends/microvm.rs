//! Requests of the backend ERA run in a guest to a verified record, and its limits have their
//! outcomes. A changed file, a missing accelerator or a hostile guest never counts as a good run.

mod guest_case_end;
mod hostile_guest;
mod hostile_suite;

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use toolexec_tests::{
    Bench, CliOutput, DocPage, Record, Service, ServiceConfig, as_both, workspace,
};

use super::microvm_scene::{MachineBench, awk, python, sort};

as_both!(python_runs_to_a_verified_record, limits_have_their_outcomes);

const BOUNDARY: &str =
    "- Guest boundary: TCG is not a hypervisor boundary; count on the sandbox only";

fn python_runs_to_a_verified_record(bench: &Bench) {
    let Some(scene) = MachineBench::of(bench, "python_runs_to_a_verified_record") else { return };
    let script = "import os\nprint(os.uname().nodename != '', os.getuid())\n\
                  open('/out/copy.txt', 'w').write(open('/in/script.py').read())\n";
    let policy = scene.policy(&scene.entry("tcg", ""));
    let request = bench.save(&python(script).output("copy.txt"));
    let output = scene.run(&request, &policy);
    output.assert_code(0);
    let record = Record::of(&output);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "True 65534\n");
    assert_eq!(fs::read_to_string(record.path.join("artifacts/copy.txt")).unwrap(), script);
    assert!(record.path.join("artifacts/microvm.json").is_file());
    assert_eq!(record.front_matter_value("backend"), "ERA");
    for text in [
        "- Guest: accelerator tcg, root python, memory 198 MiB, status from the guest",
        "- Guest time: 20000 ms for the tool, enforced on the guest",
        BOUNDARY,
        "- Backend file: qemu, sha256 ",
        "- Backend file: root-python, sha256 ",
    ] {
        assert!(record.text.contains(text), "{text:?} is not in {}", record.text);
    }
    assert!(!record.text.contains("undeclared"), "{}", record.text);
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);

    let mut command = bench.command("toolexec");
    command.args(["replay", "--format", "json", "--policy"]).arg(policy);
    let replay = CliOutput::of(command.arg("--inputs").arg(&request.inputs).arg(&record.path));
    replay.assert_code(0);
    assert_eq!(replay.json()["reproducible"], true, "{replay:#?}");
    bench.assert_nothing_left();
}

fn limits_have_their_outcomes(bench: &Bench) {
    let user = if bench.is_root() { "as_root" } else { "as_an_ordinary_user" };
    let test = format!("microvm::{user}::limits_have_their_outcomes");
    let Some(scene) = MachineBench::of(bench, &test) else { return };
    let slow = scene.record(&python("import time\ntime.sleep(60)\n").time_sec(2));
    slow.assert_outcome("wall_limit");
    assert!(slow.text.contains("- Guest time: 2000 ms for the tool"), "{}", slow.text);

    let large = "rows = []\nwhile True:\n    rows.append(b'x' * (8 << 20))\n";
    scene.record(&python(large)).assert_outcome("memory_limit");

    let many = "import os, time\ntry:\n    while os.fork():\n        pass\n    time.sleep(60)\n\
                except OSError:\n    os._exit(3)\n";
    scene.record(&python(many)).assert_outcome("pids_limit");

    let full = "open('/out/rows', 'wb').write(b'x' * (20 << 20))\n";
    scene.record(&python(full)).assert_outcome("output_limit");
}

#[test]
fn another_root_has_its_own_programs() {
    let bench = Bench::new();
    let test = "another_root_has_its_own_programs";
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    let record = scene.record(&sort("b\na\n"));
    record.assert_outcome("ok");
    assert_eq!(fs::read_to_string(record.path.join("artifacts/sorted.txt")).unwrap(), "a\nb\n");
    assert!(record.text.contains("- Guest: accelerator tcg, root shell,"), "{}", record.text);
}

/// The schema of requests forbids shells, so the program is one of awk, in a file of its own.
#[test]
fn a_shell_program_runs_in_a_guest() {
    let bench = Bench::new();
    let Some(scene) = MachineBench::of(&bench, "a_shell_program_runs_in_a_guest") else { return };
    let record = scene.record(&awk());
    record.assert_outcome("ok");
    let kept = fs::read_to_string(record.path.join("artifacts/totals.txt")).unwrap();
    // The order is that of awk's tables.
    let mut rows: Vec<_> = kept.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, ["north 12", "south 3"]);
    assert_eq!(record.stdout(), "rows 3\n");
    assert!(record.text.contains("- Guest: accelerator tcg, root shell,"), "{}", record.text);
}

/// A shell script of the operator's own root image is a tool like any other.
#[test]
fn a_shell_script_of_an_image_runs_in_a_guest() {
    let bench = Bench::new();
    let test = "a_shell_script_of_an_image_runs_in_a_guest";
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    let script = "#!/bin/bash\nset -euo pipefail\n\
                  sort \"$1\" | uniq -c | awk '{ print $2, $1 }' >/out/sorted.txt\n";
    scene.make_root("report", "shell", |tree| add_program(tree, script));
    let roots = ", roots: {report: {words: {report: /opt/report}}}";
    let request = sort("b\na\nb\n").command("report /in/rows.txt");
    let output = scene.run(&bench.save(&request), &scene.policy(&scene.entry("tcg", roots)));
    let record = Record::of(&output);
    record.assert_outcome("ok");
    let kept = fs::read_to_string(record.path.join("artifacts/sorted.txt")).unwrap();
    assert_eq!(kept, "a 1\nb 2\n");
}

fn add_program(tree: &Path, script: &str) {
    let program = tree.join("opt/report");
    fs::create_dir(tree.join("opt")).unwrap();
    fs::write(&program, script).unwrap();
    fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_exit_code_and_rejected_objects_are_those_of_the_guest() {
    let bench = Bench::new();
    let test = "the_exit_code_and_rejected_objects_are_those_of_the_guest";
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    let script = "import os, sys\nos.symlink('/etc/passwd', '/out/link')\nsys.exit(5)\n";
    let record = scene.record(&python(script));
    record.assert_outcome("exit_nonzero");
    assert_eq!(record.front_matter_value("exit_code"), "5");
    assert!(record.text.contains("link: rejected, symlink"), "{}", record.text);
}

fn offering(bench: &Bench, scene: &MachineBench<'_>) -> ServiceConfig {
    let mut config = ServiceConfig::for_owner(bench);
    let backends = format!("\nbackend: confined\nbackends:\n  {}\n", scene.entry("tcg", ""));
    config.policy = config.policy.replacen("\nbackend: confined\n", &backends, 1);
    config
}

#[test]
fn a_changed_kernel_runs_nothing() {
    let bench = Bench::new();
    let Some(scene) = MachineBench::of(&bench, "a_changed_kernel_runs_nothing") else { return };
    let service = Service::start(&bench, &offering(&bench, &scene));
    let mut kernel = OpenOptions::new().append(true).open(scene.file("kernel")).unwrap();
    kernel.write_all(b"changed").unwrap();
    drop(kernel);
    let request = service.submit(&python("print(1)\n"));
    let record = service.record_of(&request.id);
    record.assert_outcome("refused");
    record.assert_violation("backend.unavailable");
    assert!(record.text.contains("changed after the daemon had read it"), "{}", record.text);
    service.verify().assert_code(0);
}

#[test]
fn a_file_with_another_digest_makes_the_backend_unavailable() {
    let bench = Bench::new();
    let test = "a_file_with_another_digest_makes_the_backend_unavailable";
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    let pinned = format!(", sha256: {{kernel: \"{}\"}}", "ab".repeat(32));
    let policy = scene.policy(&scene.entry("tcg", &pinned));
    let output = scene.run(&bench.save(&python("print(1)\n")), &policy);
    output.assert_code(2);
    let why = "has another digest than the policy pins for `kernel`";
    output.assert_stderr(&["backend.unavailable", why]);
}

#[test]
fn doctor_boots_a_guest() {
    let bench = Bench::new();
    let Some(scene) = MachineBench::of(&bench, "doctor_boots_a_guest") else { return };
    let service = Service::start(&bench, &offering(&bench, &scene));
    let mut command = bench.command("toolexec");
    command.args(["doctor", "--format", "json", "--config"]);
    let output = CliOutput::of(command.arg(service.config()));
    let report = output.json();
    let is = |it: &&serde_json::Value| it["topic"] == "backends" && it["object"] == "ERA";
    let found = report["findings"].as_array().unwrap().iter().find(is).unwrap();
    assert_eq!(found["verdict"], "ok", "{found:#}");
    let text = found["found"].as_str().unwrap();
    assert!(text.contains("tcg (no hypervisor boundary), guest kernel "), "{text}");
}

/// The page's probe, with the accelerator that every host has and the files of this bench. The
/// module `guest_build` runs the package's command. The other blocks are what `tests/prepare guest`
/// has done.
#[test]
fn the_documented_probe_boots_a_guest() {
    let bench = Bench::new();
    let Some(scene) = MachineBench::of(&bench, "the_documented_probe_boots_a_guest") else {
        return;
    };
    let blocks = DocPage::open("docs/microvm.md").blocks("sh");
    let (place, files) = ("/usr/lib/toolexec/microvm", scene.file(""));
    let line = blocks[0].replace(place, files.to_str().unwrap()).replace("kvm", "tcg");
    assert_ne!(line, blocks[0]);
    // The installed program is that of the bench here.
    let line = line.replace("/usr/libexec/toolexec/", "");
    let mut command = Command::new("sh");
    let path = format!("{}:/usr/bin:/bin", scene.file("").parent().unwrap().join("bin").display());
    command.args(["-ec", &line]).current_dir(bench.scratch().path()).env("PATH", path);
    let output = CliOutput::of(&mut command);
    output.assert_code(0);
    let report: serde_json::Value = serde_json::from_str(output.stdout.trim()).unwrap();
    assert_eq!((&report["outcome"], &report["accelerator"]), (&"ended".into(), &"tcg".into()));
    let script = blocks[2].split_whitespace().next().unwrap();
    assert!(workspace().join(script).is_file(), "{script}");
}
