//! A real QEMU with a hostile guest, or with files that are not a guest's: each way has an outcome
//! and a message of its own, writes nothing outside of `/out`, and leaves a record that verifies.
//! Modes that need no QEMU are tests of the wrapper: `microvm/tests/wrapper/hostile_guests.rs`.

use std::fs;
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, Record, list, workspace};

use super::super::microvm_scene::{MachineBench, python};
use super::super::static_programs::links_static_programs;

/// The time for the boot of the guest that never starts a tool, and of no other.
const SHORT_BOOT: &str = "boot_sec: 15";

/// A guest, and its expected end.
struct GuestMode {
    /// The name in `hostile_init.c`, or the file of the guest with other bytes.
    name: &'static str,
    outcome: &'static str,
    /// A part of the message on standard error.
    message: &'static str,
    /// Parts of the report.
    report: &'static [&'static str],
}

/// Guests whose first process is hostile.
const INITS: [GuestMode; 6] = [
    GuestMode {
        name: "ARCHIVE",
        outcome: "output_rejected",
        message: "archive of /out breaks a rule",
        report: &["\\\"../evil\\\": dot-part", "disk root: read-only", "disk in: read-only"],
    },
    GuestMode {
        name: "STATUS",
        outcome: "indeterminate",
        message: "the virtual machine ended with bad-status",
        report: &["messages of the guest: magic"],
    },
    GuestMode { name: "FLOOD", outcome: "output_limit", message: "", report: &[] },
    GuestMode {
        name: "POWEROFF",
        outcome: "indeterminate",
        message: "the virtual machine ended with qemu-exited",
        report: &["QEMU exited while the tool ran"],
    },
    GuestMode {
        name: "RESTART",
        outcome: "setup_error",
        message: "qemu-exited: QEMU exited before the tool started",
        report: &[],
    },
    GuestMode {
        name: "SILENT",
        outcome: "setup_error",
        message: "no-boot: the guest sent no start message within 15 s",
        report: &[],
    },
];

/// Files that are not those of a guest.
const FILES: [GuestMode; 3] = [
    GuestMode {
        name: "kernel",
        outcome: "setup_error",
        message: "qemu-exited: QEMU exited before the tool started",
        report: &[],
    },
    GuestMode {
        name: "initrd",
        outcome: "setup_error",
        message: "; the console has: Kernel panic - not syncing",
        report: &[],
    },
    GuestMode {
        name: "root-python",
        outcome: "setup_error",
        message: "no-boot: the guest reports: mount /root-image: EINVAL",
        report: &[],
    },
];

/// Runs a request in the guest, and checks its end, its record and its files.
fn check(scene: &MachineBench<'_>, mode: &GuestMode) {
    let mut entry = scene.entry("tcg", "");
    if mode.name == "SILENT" {
        let usual = entry.find("boot_sec").unwrap();
        entry = format!("{}{SHORT_BOOT}}}", &entry[..usual]);
    }
    let request = scene.bench().save(&python("print(1)\n"));
    let output = scene.run(&request, &scene.policy(&entry));
    let record = Record::of(&output);
    println!("{:<12} {:<16} {}", mode.name, record.outcome(), output.stderr.trim());
    record.assert_outcome(mode.outcome);
    output.assert_stderr(&[mode.message]);
    scene.bench().toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    check_artifacts(&record, mode);
}

/// Only a run that may have started its tool keeps something: the report of the backend.
fn check_artifacts(record: &Record, mode: &GuestMode) {
    let artifacts = record.path.join("artifacts");
    let wanted: &[&str] = if mode.outcome == "setup_error" { &[] } else { &["microvm.json"] };
    assert_eq!(list(&artifacts), wanted, "{}", mode.name);
    for part in mode.report {
        let report = fs::read_to_string(artifacts.join("microvm.json")).unwrap();
        assert!(report.contains(part), "{}: {report}", mode.name);
    }
}

#[test]
fn a_hostile_guest_never_counts_as_a_good_run() {
    let bench = Bench::new();
    let test = "a_hostile_guest_never_counts_as_a_good_run";
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    if !links_static_programs(&bench, test) {
        return;
    }
    let honest = fs::read(scene.file("initrd")).unwrap();
    let root = fs::read(scene.file("root-python")).unwrap();
    for mode in &INITS {
        let init = hostile_init(&scene, mode.name);
        // Of two archives, the later one has the file that counts.
        fs::write(scene.file("initrd"), [honest.as_slice(), &cpio(&init)].concat()).unwrap();
        check(&scene, mode);
    }
    assert!(fs::read(scene.file("root-python")).unwrap() == root, "the root image has changed");
    bench.assert_nothing_left();
}

#[test]
fn files_that_are_not_a_guest_start_no_tool() {
    let bench = Bench::new();
    let test = "files_that_are_not_a_guest_start_no_tool";
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    for mode in &FILES {
        let good = fs::read(scene.file(mode.name)).unwrap();
        fs::write(scene.file(mode.name), "neither kernel nor image\n".repeat(1000)).unwrap();
        check(&scene, mode);
        fs::write(scene.file(mode.name), good).unwrap();
    }
    bench.assert_nothing_left();
}

fn hostile_init(scene: &MachineBench<'_>, mode: &str) -> Vec<u8> {
    let source = workspace().join("tests/tests/host/backends/hostile_init.c");
    let built = scene.bench().scratch().path().join("hostile-init");
    let mut command = Command::new("cc");
    command.args(["-static", "-O1", "-w", &format!("-D{mode}"), "-o"]).arg(&built).arg(source);
    CliOutput::of(&mut command).assert_code(0);
    fs::read(built).unwrap()
}

/// An archive of the format newc with `/init` only.
fn cpio(init: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, mode, content) in [("init", 0o100_755, init), ("TRAILER!!!", 0, &[][..])] {
        let size = content.len();
        let named = name.len() + 1;
        // Inode, mode, owner, group, links, time, size, four device numbers, length of the name.
        let numbers = [9000, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, named, 0];
        let head: String = numbers.iter().map(|number| format!("{number:08X}")).collect();
        bytes.extend(format!("070701{head}{name}\0").bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}
