//! The choice of an accelerator by the remembered probes: KVM needs one for the same files, kernel
//! and processor, and a failure counts for a day.

use std::collections::BTreeMap;

use policies::{BackendFile, BackendForm, Policy};

use super::*;

const NOW: i64 = 1_790_000_000;

fn policy(keys: &str) -> Policy {
    let text = Policy::shipped_text("embedded").unwrap();
    let entry = format!("ERA: {{kind: microvm, {keys}}}");
    let backends = format!("\nbackend: confined\nbackends:\n  {entry}\n");
    let text = text.replacen("\nbackend: confined\n", &backends, 1);
    Policy::parse(text.as_bytes(), "test").unwrap()
}

fn installed(kernel: &str) -> InstalledBackend {
    let sha256 = Sha256::of(kernel.as_bytes());
    InstalledBackend {
        program: "/cache/backend/toolexec-microvm".into(),
        directories: BTreeMap::new(),
        mounts: Vec::new(),
        files: vec![BackendFile { role: "kernel".to_owned(), path: "/k".into(), sha256 }],
        accelerator: None,
        passed_over: None,
    }
}

fn evidence() -> AcceleratorEvidence {
    AcceleratorEvidence {
        probes: RememberedProbes::default(),
        kernel: "6.1.0".to_owned(),
        processor: "A processor".to_owned(),
        now: UtcTime::from_unix(NOW),
        has_changed: false,
    }
}

/// Calls `check` with a machine of such a policy and its guest's kernel.
fn with_machine<T>(accel: &str, kernel: &str, check: impl FnOnce(ProbedMachine<'_>) -> T) -> T {
    with_keys(&format!("accel: [{accel}], boot_sec: 8"), kernel, check)
}

fn with_keys<T>(keys: &str, kernel: &str, check: impl FnOnce(ProbedMachine<'_>) -> T) -> T {
    let (policy, installed) = (policy(keys), installed(kernel));
    let rule = policy.backends().next().unwrap();
    let BackendForm::Microvm(microvm) = rule.form() else { unreachable!("a virtual machine") };
    check(ProbedMachine { rule, microvm, installed: &installed })
}

fn chosen(of: &AcceleratorEvidence, accel: &str) -> (Option<VmAccelerator>, Option<String>) {
    with_machine(accel, "kernel", |machine| of.choose(machine))
}

fn untried(of: &AcceleratorEvidence, accel: &str) -> Option<VmAccelerator> {
    with_machine(accel, "kernel", |machine| of.untried(machine))
}

fn remember(evidence: &mut AcceleratorEvidence, failure: Option<&str>) {
    with_machine("kvm, tcg", "kernel", |machine| {
        evidence.remember(machine, VmAccelerator::Kvm, failure);
        evidence.remember(machine, VmAccelerator::Tcg, failure);
    });
}

const UNTRIED: &str = "kvm was not tried here in the last day";

#[test]
fn kvm_without_a_probe_is_passed_over() {
    let nothing = evidence();
    let why = Some(UNTRIED.to_owned());
    assert_eq!(chosen(&nothing, "kvm, tcg"), (Some(VmAccelerator::Tcg), why.clone()));
    assert_eq!(chosen(&nothing, "kvm"), (None, why));
    assert_eq!(chosen(&nothing, "tcg"), (Some(VmAccelerator::Tcg), None));
    assert_eq!(untried(&nothing, "kvm, tcg"), Some(VmAccelerator::Kvm));
    // TCG comes first, and always works.
    assert_eq!(chosen(&nothing, "tcg, kvm"), (Some(VmAccelerator::Tcg), None));
    assert_eq!(untried(&nothing, "tcg, kvm"), None);
}

#[test]
fn a_booted_guest_proves_kvm() {
    let mut evidence = evidence();
    remember(&mut evidence, None);
    assert!(evidence.has_changed);
    for accel in ["kvm, tcg", "kvm"] {
        assert_eq!(chosen(&evidence, accel), (Some(VmAccelerator::Kvm), None));
        assert_eq!(untried(&evidence, accel), None);
    }
    // Without an end, but only here.
    evidence.now = UtcTime::from_unix(NOW + 1000 * RETRY_SEC);
    assert_eq!(chosen(&evidence, "kvm").0, Some(VmAccelerator::Kvm));
    let other = with_machine("kvm", "another kernel", |machine| evidence.choose(machine));
    assert_eq!(other, (None, Some(UNTRIED.to_owned())));
    for keys in ["boot_sec: 9", "boot_sec: 8, memory_extra_mb: 200"] {
        let keys = format!("accel: [kvm], {keys}");
        let chosen = with_keys(&keys, "kernel", |machine| evidence.choose(machine));
        assert_eq!(chosen.0, None, "{keys}");
    }
    evidence.kernel = "6.1.1".to_owned();
    assert_eq!(chosen(&evidence, "kvm").0, None);
    evidence.kernel = "6.1.0".to_owned();
    evidence.processor = "Another processor".to_owned();
    assert_eq!(chosen(&evidence, "kvm").0, None);
}

#[test]
fn a_failure_counts_for_a_day() {
    let mut evidence = evidence();
    remember(&mut evidence, Some("no-boot: the guest\nhangs"));
    let why = "kvm booted no guest here: no-boot: the guest\\u{a}hangs".to_owned();
    assert_eq!(chosen(&evidence, "kvm, tcg"), (Some(VmAccelerator::Tcg), Some(why.clone())));
    assert_eq!(chosen(&evidence, "kvm"), (None, Some(why)));
    assert_eq!(untried(&evidence, "kvm"), None);
    for later in [RETRY_SEC, -1] {
        evidence.now = UtcTime::from_unix(NOW + later);
        assert_eq!(chosen(&evidence, "kvm"), (None, Some(UNTRIED.to_owned())));
        assert_eq!(untried(&evidence, "kvm, tcg"), Some(VmAccelerator::Kvm));
    }
    evidence.now = UtcTime::from_unix(NOW);
    remember(&mut evidence, Some(&"x".repeat(1000)));
    assert!(chosen(&evidence, "kvm").1.unwrap().len() < 400);
}
