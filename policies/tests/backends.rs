//! Tests of the backends: the policy offers them, the host has them, and a request fits its own.
//! None is ever replaced by another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Sha256;
use policies::{
    BackendFile, BackendKind, InstalledBackend, InstalledBackends, Policy, ProcRule, TmpRule,
};

use crate::scene::{
    DecisionScene, approved, changed, codes, found, policy, reason, refused, request, shipped,
    verdict,
};

const ENTRY: &str = "monty: {kind: interpreter, memory_extra_mb: 16}";
const PROGRAM: &str = "/usr/libexec/toolexec/toolexec-monty";
const COMMAND: &str = "## Command\n\npython -c 'print(1 + 1)'\n\n## Input Files\n\nNone.\n";
const CODE: &str = "## Code\n\nsum(rows)\n\n## Inputs (JSON)\n\n{\"rows\": [1, 2]}\n";
const LANGUAGE: &str = "language: \"python\"";

fn digest() -> Sha256 {
    Sha256::of(b"the program")
}

fn with_entry(entry: &str) -> Policy {
    let backends = format!("backend: confined\nbackends:\n  {entry}\n");
    policy("embedded", &[("backend: confined\n", &backends)])
}

fn scene() -> DecisionScene {
    let directory = PathBuf::from("/usr/libexec/toolexec");
    let installed = InstalledBackend {
        program: "/cache/backend/toolexec-monty".into(),
        directories: BTreeMap::from([("/cache/backend".into(), directory)]),
        mounts: Vec::new(),
        files: vec![BackendFile {
            role: "program".to_owned(),
            path: PROGRAM.into(),
            sha256: digest(),
        }],
        accelerator: None,
        passed_over: None,
    };
    let mut backends = InstalledBackends::default();
    backends.insert("monty", installed);
    DecisionScene { binaries: found().with_backends(backends), ..DecisionScene::default() }
}

fn code(more: &[(&str, &str)]) -> validator::Request {
    let language = format!("{LANGUAGE}\nbackend: monty");
    let changes = [(COMMAND, CODE), (LANGUAGE, language.as_str())];
    request(&[&changes[..], more].concat())
}

fn script(command: &str, backend: &str) -> validator::Request {
    let inputs = format!("inputs:\n  - name: \"script.py\"\n    sha256: \"{}\"\n", digest());
    let section = format!("## Command\n\n{command}\n\n## Input Files\n\n- /in/script.py\n");
    let language = [LANGUAGE, backend].join("\n");
    request(&[
        ("inputs: []\n", inputs.as_str()),
        (COMMAND, section.as_str()),
        (LANGUAGE, language.trim_end()),
    ])
}

#[track_caller]
fn assert_refused(scene: &DecisionScene, policy: &Policy, code: &str, text: &str) {
    assert_refusal(scene, policy, self::code(&[]), code, text);
}

#[track_caller]
fn assert_refusal(
    scene: &DecisionScene,
    policy: &Policy,
    request: validator::Request,
    code: &str,
    text: &str,
) {
    let (violations, rules) = refused(scene.decide(request, policy));
    assert!(codes(&violations).iter().any(|it| it == code), "{violations:#?}");
    assert!(reason(&rules, "backend").contains(text), "{rules:#?}");
}

#[test]
fn code_runs_in_the_interpreter_with_nothing_of_the_host() {
    let decision = scene().decide(code(&[]), &with_entry(ENTRY));
    let (_, grant) = approved(decision).into_parts();
    let argv = "/cache/backend/toolexec-monty run --time-ms 121000 --memory-mb 1008 \
                --inputs /in/inputs.json --result /out/result.json /in/code.py";
    assert_eq!(grant.argv().join(" "), argv);
    assert_eq!(grant.binary(), Path::new("/cache/backend/toolexec-monty"));
    assert_eq!(grant.runtime_name(), "monty");
    assert!(grant.mounts().is_empty());
    let shown: Vec<_> = grant.caches().iter().collect();
    let target = PathBuf::from("/cache/backend");
    let source = PathBuf::from("/usr/libexec/toolexec");
    assert_eq!(shown, [(&target, &source)]);
    let names: Vec<&str> = grant.env().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PATH", "HOME", "LANG", "TZ"]);
    assert_eq!((grant.proc(), grant.tmp()), (ProcRule::None, TmpRule::Data));
    assert!(grant.root().is_none() && grant.network().is_none());
    assert_eq!(grant.limits().memory_bytes, 1 << 30);
    let backend = grant.backend();
    assert_eq!((backend.name.as_str(), backend.kind), ("monty", BackendKind::Interpreter));
    assert_eq!(backend.files[0].sha256, digest());
}

#[test]
fn every_rule_has_a_verdict() {
    let decided = approved(scene().decide(code(&[]), &with_entry(ENTRY)));
    let rules = &decided.rationale().rules;
    for rule in ["backend", "command", "language", "runtime"] {
        assert_eq!(verdict(rules, rule), policies::Verdict::Pass, "{rule}");
    }
    assert_eq!(reason(rules, "backend"), "monty; its kind is interpreter");
    assert_eq!(reason(rules, "runtime"), format!("monty is {PROGRAM}"));
}

#[test]
fn a_script_runs_with_its_arguments() {
    let policy = with_entry(ENTRY);
    for command in ["python script.py -v x", "python3 /in/script.py -v x"] {
        let decision = scene().decide(script(command, "backend: monty"), &policy);
        let argv = "/cache/backend/toolexec-monty script --time-ms 121000 --memory-mb 1008 \
                    /in/script.py -v x";
        assert_eq!(approved(decision).grant().argv().join(" "), argv, "{command}");
    }
}

#[test]
fn the_policy_may_make_it_the_default() {
    let text = changed(
        "embedded",
        &[("backend: confined\n", &format!("backend: monty\nbackends:\n  {ENTRY}\n"))],
    );
    let policy = Policy::parse(text.as_bytes(), "test.yaml").unwrap();
    assert_eq!(policy.default_backend(), "monty");
    let decided = approved(scene().decide(script("python script.py", ""), &policy));
    assert_eq!(decided.grant().backend().name, "monty");
    let reason = reason(&decided.rationale().rules, "backend").to_owned();
    assert_eq!(reason, "monty, the default of the policy; its kind is interpreter");
    let confined = script("python script.py", "backend: confined");
    let decided = approved(scene().decide(confined, &policy));
    assert_eq!(decided.grant().backend().kind, BackendKind::Sandbox);
    // Inline code would need the host's Python.
    assert_refusal(&scene(), &policy, request(&[]), "backend.mismatch", "runs only scripts");
}

#[test]
fn another_backend_never_takes_its_place() {
    let none = "`monty` is not available: the policy has no backend of this name";
    assert_refused(&scene(), &shipped("embedded"), "backend.unavailable", none);
    let missing = DecisionScene::default();
    assert_refused(&missing, &with_entry(ENTRY), "backend.unavailable", "it was not found");
    let mut backends = InstalledBackends::default();
    backends.insert_unavailable("monty", "it is not here".to_owned());
    let binaries = found().with_backends(backends);
    let reasoned = DecisionScene { binaries, ..DecisionScene::default() };
    assert_refused(&reasoned, &with_entry(ENTRY), "backend.unavailable", "it is not here");
    let era = "ERA: {kind: microvm, files: /usr/lib/vm, accel: [tcg], memory_extra_mb: 112}";
    let named = request(&[(LANGUAGE, &format!("{LANGUAGE}\nbackend: ERA"))]);
    assert_refusal(&scene(), &with_entry(era), named, "backend.unavailable", "it was not found");
}

#[test]
fn a_pinned_program_must_have_its_digest() {
    let pinned = |sha256: Sha256| {
        let entry = ENTRY.replace('}', &format!(", sha256: {{program: \"{sha256}\"}}}}"));
        with_entry(&entry)
    };
    drop(approved(scene().decide(code(&[]), &pinned(digest()))));
    let other = pinned(Sha256::of(b"another program"));
    let text = "has another digest than the policy pins for `program`";
    assert_refused(&scene(), &other, "backend.unavailable", text);
}

#[test]
fn a_request_that_does_not_fit_is_refused() {
    let policy = with_entry(ENTRY);
    let little = code(&[("memory_limit_mb: 1024", "memory_limit_mb: 16")]);
    assert_refusal(&scene(), &policy, little, "backend.mismatch", "needs more than 16 MiB");
    let least = code(&[("memory_limit_mb: 1024", "memory_limit_mb: 17")]);
    let decided = approved(scene().decide(least, &policy));
    assert!(decided.grant().argv().join(" ").contains("--memory-mb 1 "));
    let era = "monty: {kind: microvm, files: /usr/lib/vm, accel: [kvm], memory_extra_mb: 112}";
    assert_refused(&scene(), &with_entry(era), "backend.mismatch", "runs commands only");
}

#[test]
fn an_interpreter_makes_no_patches() {
    let sha256 = digest();
    let inputs = format!(
        "inputs:\n  - name: \"repo/\"\n    sha256: \"{sha256}\"\n  - name: \"script.py\"\n    \
         sha256: \"{sha256}\""
    );
    let outputs = "outputs_expected:\n  - path: \"changes.patch\"\n    description: \"the \
                   changes\"\n    x-patch-of: \"repo/\"";
    let language = format!("{LANGUAGE}\nbackend: monty");
    let patch = request(&[
        ("inputs: []", inputs.as_str()),
        ("outputs_expected: []", outputs),
        ("python -c 'print(1 + 1)'", "python /in/script.py"),
        ("## Input Files\n\nNone.", "## Input Files\n\n- /in/repo/\n- /in/script.py"),
        ("## Output Expectations\n\nNone.", "## Output Expectations\n\n- /out/changes.patch"),
        (LANGUAGE, language.as_str()),
    ]);
    assert!(patch.patch().is_some());
    assert_refusal(&scene(), &with_entry(ENTRY), patch, "backend.mismatch", "makes no patches");
}

#[test]
fn the_limits_of_a_policy_are_known_without_a_host() {
    let found = |request, policy: &Policy| codes(&policies::bound_violations(&request, policy));
    assert!(found(code(&[]), &with_entry(ENTRY)).is_empty());
    assert_eq!(found(code(&[]), &shipped("embedded")), ["backend.unavailable"]);
}

#[test]
fn entries_that_cannot_be_used_are_reported() {
    for (entry, expected) in [
        ("monty: {kind: sandbox, memory_extra_mb: 1}", "`sandbox` is not one of interpreter, "),
        ("monty: {kind: interpreter}", "memory_extra_mb: missing"),
        ("monty: {kind: interpreter, memory_extra_mb: 0}", "memory_extra_mb: 0 is out of range"),
        ("docker: {kind: interpreter, memory_extra_mb: 1}", "help: write ERA or monty"),
        ("confined: {kind: interpreter, memory_extra_mb: 1}", "is always offered"),
        (
            "monty: {kind: interpreter, memory_extra_mb: 1, program: bin/monty}",
            "backends.monty.program: `bin/monty` is not an absolute path",
        ),
        (
            "monty: {kind: interpreter, memory_extra_mb: 1, accel: [tcg]}",
            "backends.monty.accel: is for `kind: microvm` only",
        ),
        (
            "monty: {kind: interpreter, memory_extra_mb: 1, sha256: {kernel: ab}}",
            "backends.monty.sha256: `kernel` is not a file of this kind",
        ),
        (
            "monty: {kind: interpreter, memory_extra_mb: 1, sha256: {program: ab}}",
            "backends.monty.sha256: `ab` is not a digest",
        ),
        (
            "ERA: {kind: microvm, accel: [tcg], files: vm}",
            "backends.ERA.files: `vm` is not an absolute path",
        ),
        (
            "ERA: {kind: microvm, accel: [tcg], roots: {a: {words: {a/b: /bin/sh}}}}",
            "not a program of the image",
        ),
        (
            "ERA: {kind: microvm, accel: [tcg], roots: {a: {language: c, words: {sh: /bin/sh}}}}",
            "backends.ERA.roots.a.language: not a known language",
        ),
        ("ERA: {kind: microvm, accel: [tcg], roots: {}}", "backends.ERA.roots: is empty"),
        (
            "ERA: {kind: microvm, memory_extra_mb: 1, files: /usr/lib/vm}",
            "backends.ERA.accel: is empty",
        ),
        (
            "ERA: {kind: microvm, memory_extra_mb: 1, files: /usr/lib/vm, accel: [kvm, kvm]}",
            "backends.ERA.accel: `kvm` appears twice",
        ),
        (
            "ERA: {kind: microvm, memory_extra_mb: 1, files: /v, accel: [kvm], boot_sec: 601}",
            "backends.ERA.boot_sec: 601 is out of range",
        ),
    ] {
        let backends = format!("backend: confined\nbackends:\n  {entry}\n");
        let text = changed("embedded", &[("backend: confined\n", &backends)]);
        let error = Policy::parse(text.as_bytes(), "test.yaml").err().unwrap().to_string();
        assert!(error.contains(expected), "{entry}: {error}");
    }
}
