//! `toolexecd` on a spool: each submitted file gets one record, an invalid object does not block
//! others, and only a valid approval counts.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use toolexec_tests::{
    Bench, CliOutput, RequestText, Service, ServiceConfig, list, ssh_keygen_works,
};

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

#[test]
fn a_configuration_is_checked() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let check = || CliOutput::of(service.command().arg("--check"));
    let config = service.config();
    let output = check();
    output.assert_code(0);
    assert!(output.stdout.contains(config.to_str().unwrap()), "{output:#?}");
    assert!(!service.state().exists(), "checking makes nothing");

    let text = fs::read_to_string(&config).unwrap();
    let home = bench.home();
    for (from, to, why) in [
        ("scan_interval_sec: 30", "scan_interval_secs: 30", "scan_interval_secs"),
        ("scan_interval_sec: 30", "scan_interval_sec: 0", "scan_interval_sec"),
        (
            "scan_interval_sec: 30",
            "scan_interval_sec: 30\nprewarmed_sandboxes: 9",
            "prewarmed_sandboxes",
        ),
        ("config_version: 1", "config_version: 2", "config_version"),
        ("policy.yaml", "no-policy.yaml", "no-policy.yaml"),
        ("state: /", "state: ", "state"),
        (
            "shutdown_grace_sec: 1",
            "shutdown_grace_sec: 1\nlauncher: {program: /no/launcher}",
            "/no/launcher",
        ),
        (
            "shutdown_grace_sec: 1",
            "shutdown_grace_sec: 1\nallowed_signers: /no/signers",
            "/no/signers",
        ),
        ("shutdown_grace_sec: 1", "shutdown_grace_sec: [", "toolexecd.yaml"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&config, text.replacen(from, to, 1)).unwrap();
        let output = check();
        output.assert_code(2);
        output.assert_stderr(&[why]);
        let output = CliOutput::of(&mut service.command());
        output.assert_code(3);
        output.assert_stderr(&[why]);
    }
    fs::write(&config, text.replacen("grace_sec: 1", "grace_sec: soon", 1)).unwrap();
    let output = check();
    let problem = "not a whole number: `shutdown_grace_sec: soon`; help: correct the file\n";
    assert!(output.stderr.ends_with(problem), "{output:#?}");
    assert_eq!(output.stderr.lines().count(), 1, "{output:#?}");
    fs::write(&config, &text).unwrap();
    let policy = home.join("policy.yaml");
    fs::write(&policy, fs::read_to_string(&policy).unwrap() + "surprise: 1\n").unwrap();
    let output = check();
    output.assert_code(2);
    output.assert_stderr(&[policy.to_str().unwrap(), "surprise"]);
    fs::remove_file(&config).unwrap();
    check().assert_stderr(&[config.to_str().unwrap()]);
    CliOutput::of(bench.command("toolexecd").arg("--surprise")).assert_code(3);
    CliOutput::of(bench.command("toolexecd").arg("--help")).assert_code(0);
}

#[test]
fn what_is_submitted_runs_and_is_published() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let text = RequestText::python("open('/out/kept','w').write('k')").output("kept");
    let request = service.submit(&text);
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_eq!(fs::read(record.path.join("artifacts/kept")).unwrap(), b"k");
    let output = service.verify();
    output.assert_code(0);
    let trusted = bench.toolexec(["keys", "show", "--state", service.state().to_str().unwrap()]);
    trusted.assert_code(0);
    let signers = bench.scratch().file("signers", trusted.stdout);
    let by_key = CliOutput::of(
        bench.command("toolexec").arg("verify").arg(&record.path).arg("--result-keys").arg(signers),
    );
    by_key.assert_code(0);

    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
    assert_eq!(list(&service.path("quarantine")), Vec::<String>::new());
    assert_eq!(list(&service.path("archive")), [record.id()]);
    let archived = service.path("archive").join(record.id()).join("request.md");
    assert_eq!(fs::read(archived).unwrap(), fs::read(&request.path).unwrap());
    service.assert_nothing_staged();
    assert!(request.path.exists(), "the person's own file stays");
}

#[test]
fn what_is_logged_is_plain_without_a_terminal() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&good());
    let record = service.record_of(&request.id);
    service.wait_for("a line about it", |it| it.log().contains(record.id()));
    assert!(!service.log().contains('\u{1b}'), "colours in a file: {:?}", service.log());
}

#[test]
fn what_is_refused_goes_to_quarantine_with_a_record() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    // `submit` would refuse it, but a file can also be written by hand.
    let bad = good().edit("approved_by: \"tester\"", "approved_by: \"\"");
    let output = service.submit_saved(&bench.save(&bad));
    output.assert_code(2);
    output.assert_stderr(&["approval.missing", "not submitted"]);
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());

    // By hand, in the order of a submission: the request last, by a rename.
    let bytes = bad.text();
    let aside = bench.home().join("spool/aside");
    fs::create_dir(&aside).unwrap();
    let dropped = bad.save(&aside);
    for path in [&dropped.inputs, &dropped.path] {
        fs::rename(path, service.path("approved").join(path.file_name().unwrap())).unwrap();
    }
    let record = service.record_of(&dropped.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.missing");
    service.verify().assert_code(0);
    service.wait_for("approved/ to be empty", |it| list(&it.path("approved")).is_empty());
    let quarantined = service.path("quarantine").join(record.id());
    assert_eq!(fs::read_to_string(quarantined.join("request.md")).unwrap(), bytes);
    assert_eq!(list(&quarantined.join(format!("{}.inputs", dropped.id))), ["script.py"]);
    let report = fs::read_to_string(quarantined.join("report.md")).unwrap();
    assert!(report.contains("approval.missing"), "{report}");
    assert_eq!(list(&service.path("archive")), Vec::<String>::new());

    // An input with wrong bytes, refused by `submit` and by the daemon.
    let request = bench.save(&good());
    fs::write(request.inputs.join("script.py"), "other").unwrap();
    let output = service.submit_saved(&request);
    output.assert_code(2);
    output.assert_stderr(&["inputs.mismatch", "script.py"]);
    fs::create_dir(service.path(&format!("approved/{}.inputs", request.id))).unwrap();
    fs::copy(&request.path, service.path("approved").join(".being-written")).unwrap();
    let (from, to) = (".being-written", format!("approved/{}.md", request.id));
    fs::rename(service.path("approved").join(from), service.path(&to)).unwrap();
    let record = service.record_of(&request.id);
    record.assert_violation("inputs.missing");
}

#[test]
fn odd_objects_do_not_stand_in_the_way() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let approved = service.path("approved");
    // Names that sort before the valid request.
    let secret = bench.scratch().file("secret", "secret of the host");
    symlink(&secret, approved.join("A-link.md")).unwrap();
    CliOutput::of(Command::new("mkfifo").arg(approved.join("A-fifo.md"))).assert_code(0);
    fs::create_dir(approved.join("A-directory.md")).unwrap();
    let linked = bench.home().join("linked");
    fs::write(&linked, good().text()).unwrap();
    fs::hard_link(&linked, approved.join("A-hard.md")).unwrap();
    fs::write(approved.join("A-huge.md"), vec![b'x'; 300 * 1024]).unwrap();
    fs::write(approved.join(".TR-hidden.md"), "still being written").unwrap();
    fs::write(approved.join("notes.txt"), "no request").unwrap();
    let mut service = service;
    service.spawn();
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");

    service.wait_for("six records", |it| it.records().len() == 6);
    let left = [".TR-hidden.md", "notes.txt"];
    service.wait_for("approved/ to be emptied", |it| list(&it.path("approved")) == left);
    service.verify().assert_code(0);
    let records = service.records();
    for (name, code, word) in [
        ("A-link.md", "spool.file-kind", "symbolic link"),
        ("A-fifo.md", "spool.file-kind", "FIFO"),
        ("A-directory.md", "spool.file-kind", "directory"),
        ("A-hard.md", "spool.file-kind", "hard link"),
        ("A-huge.md", "text.too-large", "262144"),
    ] {
        let record = records.iter().find(|record| record.text.contains(name)).unwrap();
        record.assert_outcome("refused");
        record.assert_violation(code);
        assert!(record.text.contains(word), "{name}: {}", record.text);
        assert!(!record.text.contains("secret of the host"));
        let place = service.path("quarantine").join(record.id()).join(name);
        assert!(fs::symlink_metadata(&place).is_ok(), "{}", place.display());
    }
}

#[test]
fn a_dozen_requests_end_in_one_record_each() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let requests: Vec<_> = (0..12)
        .map(|number| service.submit(&RequestText::python(&format!("print({number})"))))
        .collect();
    for (number, request) in requests.iter().enumerate() {
        let record = service.record_of(&request.id);
        record.assert_outcome("ok");
        assert_eq!(record.stdout(), format!("{number}\n"));
    }
    assert_eq!(service.records().len(), 12);
    assert_eq!(list(&service.path("archive")).len(), 12);
    let output = service.verify();
    output.assert_code(0);
    assert_eq!(output.stdout.lines().count(), 12);
    // Submitted again, the request gets a record but does not run.
    let again = service.submit_saved(&requests[0]);
    again.assert_code(0);
    service.wait_for("a refusal", |it| it.records_of(&requests[0].id).len() == 2);
    let refusals = service.records_of(&requests[0].id);
    let refusal = refusals.iter().find(|record| record.outcome() == "refused").unwrap();
    refusal.assert_violation("spool.replayed");
}

#[test]
fn only_an_approval_that_counts_is_one() {
    let bench = Bench::new();
    // Only files of another user count as approved, not ours.
    let owner = ServiceConfig::for_owner(&bench);
    let (ours, other) = (format!("owners: [{}]", bench.uid()), "owners: [4242]");
    let policy = owner.policy.replacen(&ours, other, 1);
    let service = Service::start(&bench, &ServiceConfig { policy, ..owner });
    let request = service.submit(&good());
    let record = service.record_of(&request.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.principal");
}

/// Creates a key of an approver and its `allowed_signers` file.
fn approver(bench: &Bench) -> (PathBuf, PathBuf) {
    let key = bench.home().join("approver");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(&key)
        .status();
    assert!(made.unwrap().success());
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let line = format!("tester namespaces=\"approve.tool-exec@threegate\" {public}");
    (key, bench.scratch().file("allowed_signers", line))
}

fn sign(key: &PathBuf, namespace: &str, request: &PathBuf) {
    let signed = CliOutput::of(
        Command::new("ssh-keygen")
            .args(["-Y", "sign", "-n", namespace, "-f"])
            .arg(key)
            .arg(request),
    );
    signed.assert_code(0);
}

#[test]
fn under_the_standard_policy_a_signature_decides() {
    if !ssh_keygen_works("under_the_standard_policy_a_signature_decides") {
        return;
    }
    let bench = Bench::new();
    let (key, signers) = approver(&bench);
    let mut policy = bench.toolexec(["policy", "show", "standard"]).stdout;
    if !bench.is_root() {
        // The only thing that the host of an ordinary user lacks.
        policy = policy.replacen("exceptions: []", "exceptions: [cgroup]", 1);
    }
    // This test refuses a missing approval at once. Other tests hold the request.
    let policy = policy.replacen("held_sec_max: 604800", "held_sec_max: 0", 1);
    let config = ServiceConfig {
        policy,
        allowed_signers: Some(signers),
        ..ServiceConfig::for_owner(&bench)
    };
    let service = Service::start(&bench, &config);

    let signed = bench.save(&good());
    sign(&key, "approve.tool-exec@threegate", &signed.path);
    service.submit_saved(&signed).assert_code(0);
    let record = service.record_of(&signed.id);
    record.assert_outcome("ok");
    assert!(record.text.contains("- principal: \"tester\""), "{}", record.text);
    let kept = list(&record.path.join("request"));
    assert_eq!(kept, [format!("{}.md", signed.id), format!("{}.md.sig", signed.id)]);

    let unsigned = service.submit(&good());
    let record = service.record_of(&unsigned.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.count");

    let other_purpose = bench.save(&good());
    sign(&key, "file", &other_purpose.path);
    service.submit_saved(&other_purpose).assert_code(0);
    let record = service.record_of(&other_purpose.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.");

    // The name in the text must be one that signed.
    let other_name = bench.save(&good().edit("approved_by: \"tester\"", "approved_by: \"boss\""));
    sign(&key, "approve.tool-exec@threegate", &other_name.path);
    service.submit_saved(&other_name).assert_code(0);
    let record = service.record_of(&other_name.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.principal");

    let changed = bench.save(&good());
    sign(&key, "approve.tool-exec@threegate", &changed.path);
    let text = fs::read_to_string(&changed.path).unwrap();
    fs::write(&changed.path, text.replace("A test.", "Another.")).unwrap();
    service.submit_saved(&changed).assert_code(0);
    let record = service.record_of(&changed.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.signature");
}

#[test]
fn what_waits_and_what_ran_is_listed() {
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let spool = service.spool();
    let listed = |words: &[&str]| {
        let output = CliOutput::of(
            bench.command("toolexec").arg("list").arg("--spool").arg(&spool).args(words),
        );
        output.assert_code(0);
        output
    };
    assert!(listed(&[]).stdout.contains("no requests or results"));
    assert!(listed(&["--waiting"]).stdout.contains("no request waits"));
    assert_eq!(listed(&["--format", "json"]).stdout, "");
    let request = service.submit(&good());
    for words in [&["--format", "json"][..], &["--waiting", "--format", "json"]] {
        let rows = listed(words).json_lines();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["request_id"], request.id);
        assert_eq!((&rows[0]["state"], &rows[0]["result_id"]), (&"waiting".into(), &().into()));
    }
    assert!(listed(&[]).stdout.contains(&request.id));

    // A waiting request is never replaced, even by itself.
    let before = fs::read(spool.join("approved").join(format!("{}.md", request.id))).unwrap();
    fs::write(&request.path, good().edit("A test.", "Another.").text()).unwrap();
    let again = service.submit_saved(&request);
    assert_ne!(again.code, Some(0), "{again:#?}");
    again.assert_stderr(&[&request.id]);
    let after = fs::read(spool.join("approved").join(format!("{}.md", request.id))).unwrap();
    assert_eq!(before, after);

    service.spawn();
    let record = service.record_of(&request.id);
    assert_eq!(listed(&["--waiting", "--format", "json"]).stdout, "");
    let rows = listed(&["--format", "json"]).json_lines();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["state"], "ok");
    assert_eq!(rows[0]["result_id"], record.id());
    assert_eq!(rows[0]["path"], record.path.to_str().unwrap());
    CliOutput::of(bench.command("toolexec").args(["list", "--spool", "/no/spool"])).assert_code(3);
}
