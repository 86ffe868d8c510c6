//! Records of runs in a virtual machine: the text states its accelerator, root, memory and times,
//! and the verifier finds every other statement. A run with TCG never claims a hypervisor boundary.

use model::{LimitName, Sha256};
use policies::{BackendFile, BackendKind, GrantedBackend, GrantedMachine, VmAccelerator};
use records::{Statement, Trust, sign, verify};

use crate::backend::case_with;
use crate::environment::faults_of_signed;
use crate::fixture::{RecordCase, RecordScratch, markdown};

const START_MS: u64 = 22_000;
const BOUNDARY: &str =
    "- Guest boundary: TCG is not a hypervisor boundary; count on the sandbox only\n";

fn era(accelerator: VmAccelerator) -> GrantedBackend {
    let file = |role: &str| BackendFile {
        role: role.to_owned(),
        path: format!("/usr/lib/toolexec/microvm/{role}").into(),
        sha256: Sha256::of(role.as_bytes()),
    };
    GrantedBackend {
        name: "ERA".to_owned(),
        kind: BackendKind::Microvm,
        program: Some("/cache/backend/toolexec-microvm".into()),
        files: ["program", "qemu", "kernel", "root-python"].map(file).to_vec(),
        machine: Some(GrantedMachine {
            accelerator,
            root: "python".to_owned(),
            memory_mb: 192,
            time_ms: 30_000,
            start_ms: START_MS,
        }),
    }
}

/// Returns a run whose sandbox has the time of the request, and that of the guest's start.
fn machine_case() -> RecordCase {
    let mut case = case_with("ERA");
    let limits = case.confinement.limits.iter_mut();
    for limit in limits.filter(|limit| limit.name == LimitName::WallMs) {
        limit.requested += START_MS;
        limit.effective += START_MS;
    }
    case
}

fn ran_in<'a>(case: &'a RecordCase, granted: &'a GrantedBackend) -> Statement<'a> {
    Statement { backend: &granted.name, backend_detail: Some(granted), ..case.statement() }
}

#[test]
fn a_record_states_its_accelerator_and_its_boundary() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let case = machine_case();
    for (accelerator, is_tcg) in [(VmAccelerator::Tcg, true), (VmAccelerator::Kvm, false)] {
        let granted = era(accelerator);
        let record = sign(&ran_in(&case, &granted), &key).unwrap();
        let md = markdown(&record);
        let guest = format!(
            "- Guest: accelerator {accelerator}, root python, memory 192 MiB, status from the guest"
        );
        assert!(md.lines().any(|line| line == guest), "{guest} is not in {md}");
        assert_eq!(md.contains(BOUNDARY), is_tcg, "{md}");
    }
    let granted = era(VmAccelerator::Tcg);
    let record = sign(&ran_in(&case, &granted), &key).unwrap();
    let dir = case.publish_run(scratch.path(), &record);
    let _record = verify(&dir, &Trust::from_key(&key.public())).unwrap();
}

#[test]
fn an_altered_machine_is_a_fault() {
    let test = "an_altered_machine_is_a_fault";
    let scratch = RecordScratch::new();
    let key = scratch.key("keys");
    let private = scratch.path().join("keys/result");
    let (case, granted) = (machine_case(), era(VmAccelerator::Tcg));
    let record = sign(&ran_in(&case, &granted), &key).unwrap();
    let (dir, md) = (case.publish_run(scratch.path(), &record), markdown(&record));
    let Some(faults) = faults_of_signed(test, (&dir, &private), &md) else { return };
    assert!(faults.is_empty(), "{faults:?}");
    let changes = [
        // In the front matter.
        ("accelerator: tcg", "accelerator: kvm", "its text"),
        ("accelerator: tcg", "accelerator: hvf", "unexpected value"),
        ("root: \"python\"", "root: \"shell\"", "its text"),
        ("guest_memory_mb: 192", "guest_memory_mb: 191", "its text"),
        ("guest_memory_mb: 192", "guest_memory_mb: 257", "more memory than the request asks"),
        ("time_ms_max: 30000", "time_ms_max: 60000", "is 60000 and the request asks 30000"),
        ("start_ms_max: 22000", "start_ms_max: 23000", "the request asks 53000"),
        ("kind: microvm", "kind: interpreter", "a machine only if its kind is microvm"),
        // In the text.
        (BOUNDARY, "", "its text"),
        ("- Guest: accelerator tcg", "- Guest: accelerator kvm", "its text"),
        (", root python, memory", ", root shell, memory", "its text"),
    ];
    for (from, to, expected) in changes {
        assert!(md.contains(from), "{from} is not in {md}");
        let changed = md.replacen(from, to, 1);
        let faults = faults_of_signed(test, (&dir, &private), &changed).unwrap();
        assert!(faults.iter().any(|it| it.contains(expected)), "{from} → {to}: {faults:?}");
    }
}
