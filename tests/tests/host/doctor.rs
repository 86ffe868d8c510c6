//! `toolexec doctor` on this host and on broken parts of it: each finding that a test can provoke,
//! the JSON, the exit codes, and no changes. Unit tests cover the other findings.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toolexec_tests::{
    Bench, CliOutput, Service, ServiceConfig, SmallDisk, as_both, skip, workspace,
};

/// Runs `doctor`, and asserts that its JSON matches its exit code.
#[track_caller]
fn doctor(bench: &Bench, words: &[&str]) -> Value {
    let output = bench.toolexec(["doctor", "--format", "json"].iter().chain(words));
    let report = output.json();
    let failures = report["failures"].as_u64().unwrap();
    output.assert_code(i32::from(failures > 0));
    let findings = report["findings"].as_array().unwrap();
    let count = |word: &str| findings.iter().filter(|it| it["verdict"] == word).count();
    assert_eq!(report["failures"], count("failure"));
    assert_eq!(report["warnings"], count("warning"));
    assert_eq!(report["not_checked"], count("not looked at"));
    for finding in findings {
        assert_eq!(finding["remedy"].is_null(), finding["verdict"] == "ok", "{finding}");
    }
    report
}

/// Returns verdict and finding of an object.
#[track_caller]
fn verdict_and_finding(report: &Value, topic: &str, object: &str) -> (String, String) {
    let is = |it: &&Value| it["topic"] == topic && it["object"] == object;
    let found = report["findings"].as_array().unwrap().iter().find(is);
    let found = found.unwrap_or_else(|| panic!("no {topic} {object} in {report:#}"));
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("verdict"), text("found"))
}

#[track_caller]
fn assert_found(report: &Value, topic: &str, object: &str, verdict: &str, words: &[&str]) {
    let (is, found) = verdict_and_finding(report, topic, object);
    assert_eq!(is, verdict, "{topic} {object}: {found}");
    for word in words {
        assert!(found.contains(word), "{topic} {object}: {word:?} is not in {found:?}");
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Writes a file that other users cannot change, as a configuration requires.
fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    set_mode(path, 0o644);
}

as_both!(every_topic_of_this_host_is_reported, problems_of_a_state_directory_are_reported);

fn every_topic_of_this_host_is_reported(bench: &Bench) {
    let report = doctor(bench, &[]);
    assert_eq!(report["service"], Path::new("/etc/toolexec/toolexecd.yaml").exists());
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_found(&report, "kernel", "version", "ok", &[release.trim_end()]);
    assert_found(&report, "kernel", "landlock", "ok", &["ABI "]);
    assert_found(&report, "kernel", "seccomp", "ok", &["user_notif"]);
    let version = env!("CARGO_PKG_VERSION");
    for program in ["toolexec", "toolexecd", "toolexec-launch", "toolexec-egress"] {
        assert_found(&report, "programs", program, "ok", &[version, "bin/"]);
    }
    let python = CliOutput::of(bench.command("/usr/bin/python3").arg("--version"));
    let python = python.stdout.trim_end().trim_start_matches("Python ").to_owned();
    assert_found(&report, "runtimes", "python", "ok", &[&python, "/python3"]);
    assert_found(&report, "sandbox", "probe", "ok", &["starts: ", "Landlock ABI "]);
    assert_found(&report, "rules", "policy", "ok", &["embedded"]);
    assert_found(&report, "clock", "newest result", "ok", &["none yet"]);
    assert_found(&report, "log", "transparency log", "ok", &["none yet"]);
    // `doctor` creates nothing.
    assert!(!bench.state().exists());
}

fn problems_of_a_state_directory_are_reported(bench: &Bench) {
    let state = bench.state();
    CliOutput::of(bench.command("toolexec").args(["keys", "init"])).assert_code(0);
    let report = doctor(bench, &[]);
    let keys = state.join("keys");
    let shown = keys.to_str().unwrap();
    assert_found(&report, "keys", "custody", "ok", &["plain files", shown]);
    assert_found(&report, "keys", "private key result", "ok", &["0600"]);
    assert_found(&report, "keys", "public halves", "ok", &["result keys: 1, log keys: 1"]);
    assert_found(&report, "directories", state.to_str().unwrap(), "ok", &["0700"]);
    let named = doctor(bench, &["--state", state.to_str().unwrap()]);
    assert_eq!(
        report["findings"].as_array().unwrap().len(),
        named["findings"].as_array().unwrap().len()
    );

    set_mode(&keys.join("result"), 0o640);
    let report = doctor(bench, &[]);
    assert_found(&report, "keys", "private key result", "failure", &["0640", "other users"]);
    set_mode(&keys.join("result"), 0o600);

    set_mode(&keys, 0o777);
    let report = doctor(bench, &[]);
    assert_found(&report, "keys", "directory", "failure", &["0777"]);
    assert_found(&report, "keys", "public halves", "failure", &["0777"]);
    set_mode(&keys, 0o700);

    fs::rename(keys.join("log"), keys.join("elsewhere")).unwrap();
    symlink("elsewhere", keys.join("log")).unwrap();
    let report = doctor(bench, &[]);
    assert_found(&report, "keys", "private key log", "failure", &["not a regular file"]);
    fs::remove_file(keys.join("log")).unwrap();
    fs::rename(keys.join("elsewhere"), keys.join("log")).unwrap();

    write(&keys.join("log.change"), "");
    let report = doctor(bench, &[]);
    assert_found(&report, "keys", "change of log", "failure", &["interrupted"]);
    fs::remove_file(keys.join("log.change")).unwrap();

    set_mode(&state, 0o755);
    let report = doctor(bench, &[]);
    assert_found(
        &report,
        "directories",
        state.to_str().unwrap(),
        "failure",
        &["0755", "at most 0700"],
    );
    set_mode(&state, 0o700);

    // A result from the future: the clock was set back since.
    let result = state.join("results/TS-20991231-235959Z-TR-20260209-160501Z-python-stats");
    fs::create_dir_all(&result).unwrap();
    let report = doctor(bench, &[]);
    assert_found(&report, "clock", "newest result", "failure", &["TS-20991231", "later"]);
    fs::remove_dir(&result).unwrap();

    let log = state.join("log");
    fs::create_dir(&log).unwrap();
    write(&log.join("checkpoint"), "not a note\n");
    let report = doctor(bench, &[]);
    assert_found(&report, "log", "transparency log", "failure", &["checkpoint"]);
}

#[test]
fn a_record_leaves_a_host_that_is_reported_as_good() {
    let bench = Bench::new();
    let request = toolexec_tests::RequestText::python("print('x')");
    bench.run_recorded(&request).1.assert_outcome("ok");
    let report = doctor(&bench, &[]);
    assert_found(&report, "log", "transparency log", "ok", &["entries: 1", "verifies"]);
    assert_found(&report, "clock", "newest result", "ok", &["not later"]);
    assert_found(&report, "directories", "contents", "ok", &[]);
}

#[test]
fn a_disk_in_memory_that_is_nearly_full_is_reported() {
    let Some(bench) = Bench::as_root("a_disk_in_memory_that_is_nearly_full_is_reported") else {
        return;
    };
    let state = bench.scratch().dir("small");
    let Some(disk) = SmallDisk::mount(&state, 2048) else {
        return skip(
            "a_disk_in_memory_that_is_nearly_full_is_reported",
            "no tmpfs can be mounted here",
        );
    };
    let words = ["--state", state.to_str().unwrap()];
    let report = doctor(&bench, &words);
    assert_found(&report, "disk", "state", "failure", &["MiB free", "no run can start"]);
    let all = report["findings"].to_string();
    assert!(all.contains("in memory"), "{all}");
    disk.grow(1 << 20);
    let report = doctor(&bench, &words);
    assert_found(&report, "disk", "state", "warning", &["next boot"]);
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&state).status().unwrap();
    assert!(remounted.success());
    let report = doctor(&bench, &words);
    assert_found(&report, "disk", "state", "failure", &["read-only"]);
}

#[test]
fn what_is_wrong_with_a_service_is_reported_all_at_once() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let config = service.config();
    let words = ["--config", config.to_str().unwrap()];
    fs::create_dir(service.state()).unwrap();
    set_mode(&service.state(), 0o700);
    let report = doctor(&bench, &words);
    assert_eq!(report["service"], true);
    assert_eq!(report["config"].as_str(), config.to_str());
    assert_eq!(report["state"].as_str(), service.state().to_str());
    assert_found(&report, "rules", "configuration", "ok", &["good"]);
    assert_found(&report, "rules", "policy", "ok", &["for-tests"]);
    assert_found(&report, "keys", "custody", "warning", &["plain files"]);
    // A directory that tmpfiles.d would create, and that does not exist here.
    let drafts = service.path("drafts");
    assert_found(&report, "directories", drafts.to_str().unwrap(), "warning", &["does not exist"]);
    let disks = ["state", "spool"].map(|name| verdict_and_finding(&report, "disk", name).1);
    let is_disk = |found: &String| found.contains("MiB") || found.contains("is in memory");
    assert!(disks.iter().all(is_disk), "{disks:?}");

    // A configuration that the daemon refuses, an unusable policy, invalid signers, and a spool
    // that every user can write: none hides another.
    let text = fs::read_to_string(&config).unwrap();
    let signers = bench.home().join("signers");
    write(&signers, "alice not-a-key\n");
    let more = format!(
        "{text}no_such_key: 1\nallowed_signers: {}\nlauncher: {{socket: /run/nobody.sock}}\n",
        signers.display()
    );
    write(&config, &more);
    write(&bench.home().join("policy.yaml"), "policy_version: 1\nlimits: {cpu: 0}\n");
    set_mode(&service.path("approved"), 0o777);
    let report = doctor(&bench, &words);
    assert_found(&report, "rules", "configuration", "failure", &["no_such_key"]);
    assert_found(&report, "rules", "policy", "failure", &["policy.yaml"]);
    assert_found(&report, "rules", "allowed_signers", "failure", &["signers"]);
    assert_found(&report, "programs", "toolexec-launch.socket", "failure", &["/run/nobody.sock"]);
    let approved = service.path("approved");
    assert_found(
        &report,
        "directories",
        approved.to_str().unwrap(),
        "failure",
        &["0777", "at most 3770"],
    );

    // Invalid YAML: `doctor` checks the host, but nothing that depends on the configuration.
    write(&config, "{");
    let report = doctor(&bench, &words);
    assert_found(&report, "rules", "configuration", "failure", &[]);
    assert_found(&report, "rules", "policy", "not looked at", &["cannot be read"]);
    assert_found(&report, "kernel", "landlock", "ok", &["ABI"]);
}

#[test]
fn keys_in_an_agent_that_is_gone_are_reported() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let text = fs::read_to_string(service.config()).unwrap();
    let key = format!("SHA256:{}", "A".repeat(43));
    let keys =
        format!("{text}keys: {{agent: /run/no-agent.sock, result: '{key}', log: '{key}'}}\n");
    write(&service.config(), &keys);
    let report = doctor(&bench, &["--config", service.config().to_str().unwrap()]);
    assert_found(&report, "keys", "custody", "failure", &["/run/no-agent.sock"]);
    let all = report["findings"].to_string();
    assert!(!all.contains("private key"), "{all}");
}

/// Returns the help of an object, which is a command.
#[track_caller]
fn remedy(report: &Value, object: &str) -> String {
    let mut findings = report["findings"].as_array().unwrap().iter();
    let found = findings.find(|it| it["object"] == object).unwrap();
    found["remedy"].as_str().unwrap().to_owned()
}

#[test]
fn a_lost_key_is_not_reported_as_a_missing_new_key() {
    let bench = Bench::new();
    let state = bench.state();
    CliOutput::of(bench.command("toolexec").args(["keys", "init"])).assert_code(0);
    for name in ["result", "log"] {
        let (key, away) = (state.join("keys").join(name), state.join("away"));
        fs::rename(&key, &away).unwrap();
        let report = doctor(&bench, &[]);
        let object = format!("private key {name}");
        assert_found(&report, "keys", &object, "failure", &["public half", "a lost key"]);
        assert!(remedy(&report, &object).contains("backup"), "{report:#}");
        // `keys init` refuses too.
        CliOutput::of(bench.command("toolexec").args(["keys", "init"])).assert_code(3);
        fs::rename(&away, &key).unwrap();
    }
    fs::remove_dir_all(state.join("keys")).unwrap();
    let report = doctor(&bench, &[]);
    assert_found(&report, "keys", "private key result", "ok", &["created on first use"]);
}

#[test]
fn the_environment_of_a_service_is_reported() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let state = service.state();
    fs::create_dir(&state).unwrap();
    set_mode(&state, 0o700);
    let config = service.config();
    let init = ["keys", "init", "--config", config.to_str().unwrap()];
    CliOutput::of(bench.command("toolexec").args(init)).assert_code(0);
    write(&state.join("keys/log.change"), "");
    fs::create_dir_all(
        service.path("results").join("TS-20991231-235959Z-TR-20260209-160501Z-python-stats"),
    )
    .unwrap();
    let report = doctor(&bench, &["--config", config.to_str().unwrap()]);
    let named = format!("--config {}", config.display());
    let rotate = remedy(&report, "change of log");
    assert!(rotate.contains(&format!("toolexec keys rotate {named} --key log")), "{rotate}");
    let start = remedy(&report, "newest result");
    assert!(start.contains(&format!("toolexecd {named} --clock-was-set-back")), "{start}");
    // The program has every option of the suggested commands.
    let help = CliOutput::of(bench.command("toolexecd").arg("--help")).stdout;
    for option in ["--config", "--check", "--clock-was-set-back"] {
        assert!(help.contains(&format!("  {option}")), "{option} is not in {help}");
    }
}

/// An owner is reported as checked only if this host has the expected user.
#[test]
fn an_owner_that_this_host_does_not_know_is_not_looked_at() {
    let bench = Bench::new();
    let known = fs::read_to_string("/etc/passwd").unwrap();
    if known.lines().any(|line| line.starts_with("toolexec:")) {
        return skip(
            "an_owner_that_this_host_does_not_know_is_not_looked_at",
            "this host has a user toolexec",
        );
    }
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let state = service.state();
    fs::create_dir(&state).unwrap();
    set_mode(&state, 0o700);
    let report = doctor(&bench, &["--config", service.config().to_str().unwrap()]);
    let wanted = ["mode 0700, owned by user ", "this host has no user toolexec"];
    assert_found(&report, "directories", state.to_str().unwrap(), "not looked at", &wanted);
    // Places of the package are checked only with the configuration of the package.
    let objects = report["findings"].as_array().unwrap().iter().map(|it| &it["object"]);
    assert!(objects.clone().all(|it| it != "/var/cache/toolexec"), "{report:#}");
}

#[test]
fn another_user_checks_only_readable_objects() {
    let test = "another_user_checks_only_readable_objects";
    let Some(root) = Bench::as_root(test) else { return };
    let Some(bench) = Bench::as_ordinary_user(test) else { return };
    let service = Service::prepare(&root, &ServiceConfig::for_owner(&root));
    fs::create_dir(service.state()).unwrap();
    set_mode(&service.state(), 0o700);
    fs::create_dir(service.state().join("keys")).unwrap();
    let report = doctor(&bench, &["--config", service.config().to_str().unwrap()]);
    assert_found(&report, "kernel", "landlock", "ok", &["ABI"]);
    assert_found(&report, "keys", "directory", "not looked at", &["ermission denied"]);
    let keys = service.state().join("keys");
    assert_found(
        &report,
        "directories",
        keys.to_str().unwrap(),
        "not looked at",
        &["ermission denied"],
    );
    // A state directory of another user, passed as one's own.
    let mine = root.scratch().dir("theirs");
    chown(&mine, Some(0), Some(0)).unwrap();
    let report = doctor(&bench, &["--state", mine.to_str().unwrap()]);
    assert_found(&report, "directories", mine.to_str().unwrap(), "failure", &["belongs to user 0"]);
}

/// Only the daemon's user may connect to its launcher, and the sandbox must belong to that user.
#[test]
fn root_tries_the_sandbox_of_a_service_as_the_daemons_user() {
    let test = "root_tries_the_sandbox_of_a_service_as_the_daemons_user";
    let Some(root) = Bench::as_root(test) else { return };
    let Some(user) = Bench::as_ordinary_user(test) else { return };
    let service = Service::prepare(&user, &ServiceConfig::for_owner(&user));
    fs::create_dir(service.state()).unwrap();
    chown(service.state(), Some(user.uid()), Some(user.uid())).unwrap();
    // A policy that the daemon's user can change would not be accepted.
    let etc = root.scratch().dir("etc");
    let (from, to) = (user.home().join("policy.yaml"), etc.join("policy.yaml"));
    write(&to, &fs::read_to_string(&from).unwrap());
    let config = fs::read_to_string(service.config()).unwrap();
    let config = config.replace(from.to_str().unwrap(), to.to_str().unwrap());
    write(&etc.join("toolexecd.yaml"), &config);
    let report = doctor(&root, &["--config", etc.join("toolexecd.yaml").to_str().unwrap()]);
    assert_found(&report, "sandbox", "probe", "ok", &["starts: user mode"]);
    let stranger = Bench::as_ordinary_user(test).unwrap();
    chown(service.state(), Some(1), Some(1)).unwrap();
    let report = doctor(&stranger, &["--config", etc.join("toolexecd.yaml").to_str().unwrap()]);
    assert_found(
        &report,
        "sandbox",
        "probe",
        "not looked at",
        &["only root and the daemon's user"],
    );
}

#[test]
fn a_launcher_of_another_version_is_reported() {
    let bench = Bench::new();
    let launcher = bench.scratch().path().join("bin/toolexec-launch");
    fs::remove_file(&launcher).unwrap();
    let trap = bench.home().join("trap");
    let lines = format!("#!/bin/sh\n: >'{}'\necho toolexec-launch 0.0.1\n", trap.display());
    write(&launcher, &lines);
    set_mode(&launcher, 0o755);
    let report = doctor(&bench, &[]);
    assert_found(&report, "programs", "toolexec-launch", "failure", &["0.0.1"]);
    fs::remove_file(&trap).unwrap();
    // A program that any user could have written must not be run to learn its version.
    set_mode(&launcher, 0o777);
    let report = doctor(&bench, &[]);
    assert_found(&report, "programs", "toolexec-launch", "not looked at", &["users can change"]);
    assert!(!trap.exists(), "a program that any user could have written was run");
    fs::remove_file(&launcher).unwrap();
    let report = doctor(&bench, &[]);
    let packaged = Path::new("/usr/libexec/toolexec/toolexec-launch").exists();
    let (verdict, found) = verdict_and_finding(&report, "programs", "toolexec-launch");
    assert!(packaged || verdict == "failure", "{verdict}: {found}");
}

#[test]
fn people_read_it_by_topic_and_programs_get_their_exit_code() {
    let bench = Bench::new();
    let output = bench.toolexec(["doctor"]);
    assert!([Some(0), Some(1)].contains(&output.code), "{output:#?}");
    assert!(output.stdout.starts_with("kernel\n  ok "), "{output:#?}");
    for topic in
        ["cgroups", "programs", "runtimes", "sandbox", "rules", "keys", "disk", "clock", "log"]
    {
        assert!(output.stdout.contains(&format!("\n{topic}\n")), "{topic}: {output:#?}");
    }
    assert!(!output.stdout.contains('\x1b'), "colour without a terminal: {output:#?}");
    let last = output.stdout.lines().last().unwrap();
    assert!(last.contains(" findings: ") && last.contains(" failures, "), "{last}");
    let coloured =
        CliOutput::of(bench.command("toolexec").arg("doctor").env("CLICOLOR_FORCE", "1"));
    assert!(coloured.stdout.contains("\x1b[32mok"), "{coloured:#?}");
    let plain = CliOutput::of(
        bench.command("toolexec").arg("doctor").env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"),
    );
    assert_eq!(plain.stdout.lines().count(), coloured.stdout.lines().count());
    assert!(!plain.stdout.contains('\x1b'));

    // A missing place is an error, not a healthy host.
    let nowhere = bench.home().join("nowhere");
    for option in ["--state", "--config"] {
        let output = bench.toolexec(["doctor", option, nowhere.to_str().unwrap()]);
        output.assert_code(3);
        output.assert_stderr(&["nowhere"]);
        assert_eq!(output.stdout, "");
    }
    bench.toolexec(["doctor", "--state", "x", "--config", "y"]).assert_code(3);
    bench.toolexec(["doctor", "--build-cache", "go", "--format", "json"]).assert_code(3);
    bench.toolexec(["doctor", "--cache-dir", "x"]).assert_code(3);
}

#[test]
fn a_name_that_acts_on_a_terminal_is_shown_escaped() {
    let bench = Bench::new();
    let state = bench.scratch().dir("a\x1b[31mb");
    let output = bench.toolexec(["doctor", "--state", state.to_str().unwrap()]);
    assert!(!output.stdout.contains('\x1b'), "{output:#?}");
    assert!(output.stdout.contains(r"/a\u{1b}[31mb"), "{output:#?}");
}

/// The page contains every topic and every verdict.
#[test]
fn the_page_says_what_is_looked_at() {
    let page = fs::read_to_string(workspace().join("docs/operating.md")).unwrap();
    let part = page.split("\n## ").find(|part| part.starts_with("Check the host")).unwrap();
    let source = "cli/src/commands/host/doctor/host/finding.rs";
    let source = fs::read_to_string(workspace().join(source)).unwrap();
    let words = |set: &str| -> Vec<String> {
        let (_, form) = source.split_once(&format!("enum {set} {{\n")).unwrap();
        let (form, _) = form.split_once("}\n").unwrap();
        let texts = form.lines().filter_map(|line| line.split('"').nth(1));
        texts.map(str::to_owned).collect()
    };
    let (topics, verdicts) = (words("Topic"), words("FindingVerdict"));
    assert_eq!((topics.len(), verdicts.len()), (12, 4), "the search is broken");
    for topic in topics {
        assert!(part.contains(&format!("| `{topic}` |")), "{topic}");
    }
    for verdict in verdicts {
        assert!(part.contains(&format!("`{verdict}`")), "{verdict}");
    }
}
