//! Tests of backends that are virtual machines: the root that a command chooses, the limits of the
//! guest and of the sandbox around it, and the requests that do not fit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Language, Sha256};
use policies::{
    BackendFile, GrantedMachine, InstalledBackend, InstalledBackends, Policy, ProcRule,
    VmAccelerator,
};

use crate::scene::{
    DecisionScene, approved, codes, found, policy, reason, refused, request, verdict,
};

const LANGUAGE: &str = "language: \"python\"";
const COMMAND: &str = "python -c 'print(1 + 1)'";
const ENTRY: &str = "ERA: {kind: microvm, accel: [kvm, tcg]}";

fn offering(entry: &str) -> Policy {
    let backends = format!("backend: confined\nbackends:\n  {entry}\n");
    policy("embedded", &[("backend: confined\n", &backends)])
}

fn scene() -> DecisionScene {
    scene_with(Some(VmAccelerator::Tcg), None)
}

fn scene_with(accelerator: Option<VmAccelerator>, passed_over: Option<&str>) -> DecisionScene {
    let roles = ["program", "qemu", "mkfs", "kernel", "initrd", "root-python", "root-shell"];
    let file = |role: &str| BackendFile {
        role: role.to_owned(),
        path: Path::new("/usr/lib/toolexec/microvm").join(role),
        sha256: Sha256::of(role.as_bytes()),
    };
    let directory = |name: &str| PathBuf::from(name);
    let installed = InstalledBackend {
        program: "/cache/backend/toolexec-microvm".into(),
        directories: BTreeMap::from([
            (directory("/cache/backend"), directory("/usr/libexec/toolexec")),
            (directory("/cache/microvm"), directory("/usr/lib/toolexec/microvm")),
        ]),
        mounts: vec![directory("/usr")],
        files: roles.into_iter().map(file).collect(),
        accelerator,
        passed_over: passed_over.map(str::to_owned),
    };
    let mut backends = InstalledBackends::default();
    backends.insert("ERA", installed);
    DecisionScene { binaries: found().with_backends(backends), ..DecisionScene::default() }
}

fn named(changes: &[(&str, &str)]) -> validator::Request {
    let language = format!("{LANGUAGE}\nbackend: ERA");
    request(&[&[(LANGUAGE, language.as_str())], changes].concat())
}

#[test]
fn a_command_runs_in_the_root_that_it_chooses() {
    let (_, grant) = approved(scene().decide(named(&[]), &offering(ENTRY))).into_parts();
    // 1024 MiB less 112 and 64 for headers are 848: 565 for the guest, and half of it for its /out.
    let argv = "/cache/backend/toolexec-microvm run --files /cache/microvm --root python \
                --accel tcg --memory-mb 565 --boot-sec 20 --time-ms 120000 \
                --out-bytes 296222720 --out-inodes 65535 --artifacts 1000 --pids 64 \
                --report /out/microvm.json -- /usr/bin/python3 -c print(1 + 1)";
    assert_eq!(grant.argv().join(" "), argv);
    assert_eq!(grant.mounts(), [PathBuf::from("/usr")]);
    assert_eq!(grant.caches().len(), 2);
    assert_eq!((grant.language(), grant.proc()), (Language::Python, ProcRule::Pid));
    let limits = grant.limits();
    assert_eq!((limits.time_sec, limits.memory_bytes), (120 + 133, 1 << 30));
    assert_eq!(limits.out_bytes, 296_222_720 + (2 << 20));
    assert!(limits.tmp_bytes >= limits.out_bytes && limits.tmp_bytes <= limits.memory_bytes);
    assert_eq!(limits.artifacts, 1001, "and the report");
    assert!(limits.pids >= 96 && limits.file_bytes > limits.out_bytes);
    let machine = GrantedMachine {
        accelerator: VmAccelerator::Tcg,
        root: "python".to_owned(),
        memory_mb: 565,
        time_ms: 120_000,
        start_ms: 133_000,
    };
    assert_eq!(grant.backend().machine.as_ref(), Some(&machine));
    let roles: Vec<&str> = grant.backend().files.iter().map(|file| file.role.as_str()).collect();
    assert_eq!(roles, ["program", "qemu", "mkfs", "kernel", "initrd", "root-python"]);
}

#[test]
fn the_reason_for_another_accelerator_is_stated() {
    let why = "kvm booted no guest here: no-boot";
    let tcg = scene_with(Some(VmAccelerator::Tcg), Some(why));
    let decided = approved(tcg.decide(named(&[]), &offering(ENTRY)));
    let stated = reason(&decided.rationale().rules, "runtime").to_owned();
    assert!(stated.ends_with(&format!(" with tcg, because {why}")), "{stated}");

    let kvm = scene_with(Some(VmAccelerator::Kvm), None);
    let decided = approved(kvm.decide(named(&[]), &offering(ENTRY)));
    assert!(reason(&decided.rationale().rules, "runtime").ends_with(" with kvm"));
    assert!(decided.grant().argv().join(" ").contains("--accel kvm "));
}

#[test]
fn without_an_accelerator_the_backend_is_unavailable() {
    let why = "kvm booted no guest here: no-boot";
    let entry = ENTRY.replace("kvm, tcg", "kvm");
    let (violations, rules) =
        refused(scene_with(None, Some(why)).decide(named(&[]), &offering(&entry)));
    assert!(codes(&violations).iter().any(|it| it == "backend.unavailable"), "{violations:#?}");
    let stated = reason(&rules, "backend").to_owned();
    assert!(stated.contains(&format!("`ERA` is not available: {why}")), "{stated}");
}

#[test]
fn a_root_without_a_language_accepts_every_one() {
    let sort = named(&[(COMMAND, "sort --version")]);
    let decided = approved(scene().decide(sort, &offering(ENTRY)));
    let argv = decided.grant().argv().join(" ");
    let end = " -- /usr/bin/sort --version";
    assert!(argv.contains("--root shell ") && argv.ends_with(end), "{argv}");
    let rules = &decided.rationale().rules;
    assert_eq!(reason(rules, "command"), "`sort` chooses root `shell` of backend `ERA`");
    for rule in ["backend", "command", "language", "runtime"] {
        assert_eq!(verdict(rules, rule), policies::Verdict::Pass, "{rule}");
    }
}

#[test]
fn the_policy_may_name_its_own_roots() {
    let roots = "roots: {tools: {language: node, words: {node: /opt/node}}}";
    let entry = ENTRY.replace('}', &format!(", {roots}}}"));
    let node = named(&[(COMMAND, "node -e 1"), (LANGUAGE, "language: \"node\"")]);
    let argv = approved(scene().decide(node, &offering(&entry))).grant().argv().join(" ");
    assert!(argv.contains("--root tools ") && argv.ends_with(" -- /opt/node -e 1"), "{argv}");
    let python = named(&[(COMMAND, "node -e 1")]);
    let (violations, _) = refused(scene().decide(python, &offering(&entry)));
    assert!(codes(&violations).iter().any(|it| it == "language.mismatch"), "{violations:#?}");
}

#[test]
fn a_request_that_does_not_fit_is_refused() {
    for (changes, text) in [
        ([(COMMAND, "ruby -e 1")], "offers python, python3, awk, cat, cut, "),
        ([("memory_limit_mb: 1024", "memory_limit_mb: 367")], "needs 368 MiB of memory"),
    ] {
        let (violations, rules) = refused(scene().decide(named(&changes), &offering(ENTRY)));
        let is_mismatch = codes(&violations).iter().any(|it| it == "backend.mismatch");
        assert!(is_mismatch, "{violations:#?}");
        assert!(reason(&rules, "backend").contains(text), "{rules:#?}");
    }
    let least = named(&[("memory_limit_mb: 1024", "memory_limit_mb: 368")]);
    let decided = approved(scene().decide(least, &offering(ENTRY)));
    assert!(decided.grant().argv().join(" ").contains("--memory-mb 128 "));
}

#[test]
fn the_sandbox_outlives_the_guest() {
    let start_ms = |entry: &str, changes: &[(&str, &str)]| {
        let decided = approved(scene().decide(named(changes), &offering(entry)));
        let (time_sec, machine) =
            (decided.grant().limits().time_sec, decided.grant().backend().machine.clone().unwrap());
        assert_eq!(time_sec * 1000, machine.time_ms + machine.start_ms);
        machine.start_ms
    };
    let small = [("memory_limit_mb: 1024", "memory_limit_mb: 368")];
    // Disks, 1024 MiB of inputs, boot, archive of 282 MiB, end.
    assert_eq!(start_ms(ENTRY, &[]), (5 + 16 + 20 + (20 + 70) + 2) * 1000);
    // 368 MiB of inputs, and an archive of 64 MiB.
    assert_eq!(start_ms(ENTRY, &small), (5 + 5 + 20 + (20 + 16) + 2) * 1000);
    let quick = ENTRY.replace('}', ", boot_sec: 1}");
    // An archive has 10 seconds at least.
    assert_eq!(start_ms(&quick, &small), (5 + 5 + 1 + (10 + 16) + 2) * 1000);
}
