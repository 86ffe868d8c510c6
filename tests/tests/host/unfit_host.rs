//! Hosts that cannot start a sandbox, simulated here: read-only control groups, no user namespaces,
//! no Landlock, a full `/run`. `doctor` names the missing feature and the fix. A request that did
//! not run has the same reason everywhere. A daemon holds its requests until the host is repaired.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolexec_tests::{
    Bench, CliOutput, Process, Record, RequestText, Service, ServiceConfig, kill, list, skip,
};

/// A fault of a host and its messages.
struct BrokenHost {
    /// Lines of shell. The program and its arguments are `"$@"`.
    lines: String,
    /// Options of `unshare` for the namespaces in which the lines run.
    within: &'static [&'static str],
    /// The start of the reason, and a part of it.
    reason: [&'static str; 2],
    help: &'static str,
    outcome: &'static str,
    exit_code: i32,
}

const READ_ONLY_CGROUPS: &str = "for place in $(awk '$3 ~ /^cgroup/ {print $2}' /proc/mounts); do \
     mount -o remount,bind,ro \"$place\"; done; exec \"$@\"";

/// Starts a program under a seccomp filter. `ROWS` is replaced by rows of the filter.
const FILTER: &str = "import ctypes, os, struct, sys\n\
    code = [(0x20, 0, 0, 0), ROWS, (0x06, 0, 0, 0x7fff0000)]\n\
    steps = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in code))\n\
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', len(code), ctypes.addressof(steps)))\n\
    call = ctypes.CDLL(None, use_errno=True).prctl\n\
    assert call(38, 1, 0, 0, 0) == 0 and call(22, 2, program, 0, 0) == 0, ctypes.get_errno()\n\
    os.execv(sys.argv[1], sys.argv[1:])\n";
/// `landlock_create_ruleset` is ENOSYS.
const NO_LANDLOCK: &str = "(0x15, 0, 1, 444), (0x06, 0, 0, 0x50000 | 38)";
/// `unshare` with `CLONE_NEWUSER` is EPERM.
const NO_USER_NAMESPACE: &str = "(0x15, 0, 3, 272), (0x20, 0, 0, 16), \
    (0x45, 0, 1, 0x10000000), (0x06, 0, 0, 0x50000 | 1)";

/// Returns the lines for a host whose kernel is filtered by these rows.
fn filter_script(bench: &Bench, rows: &str) -> String {
    let filter = bench.scratch().file("filter.py", FILTER.replace("ROWS", rows));
    format!("exec /usr/bin/python3 {} \"$@\"", filter.display())
}

fn without_cgroups() -> BrokenHost {
    BrokenHost {
        lines: READ_ONLY_CGROUPS.to_owned(),
        within: &["--mount"],
        reason: [
            "layer.cgroup: cannot create a control group in /sys/fs/cgroup",
            "Read-only file system",
        ],
        help: "mount the control groups read-write",
        outcome: "refused",
        exit_code: 2,
    }
}

fn without_landlock(bench: &Bench) -> BrokenHost {
    BrokenHost {
        lines: filter_script(bench, NO_LANDLOCK),
        within: &[],
        reason: ["layer.landlock.fs: ", "this kernel has no Landlock"],
        help: "Landlock built in",
        outcome: "refused",
        exit_code: 2,
    }
}

fn without_user_namespaces(bench: &Bench) -> BrokenHost {
    BrokenHost {
        lines: filter_script(bench, NO_USER_NAMESPACE),
        within: &[],
        reason: [
            "layer.user_namespace: cannot unshare the user namespace",
            "Operation not permitted",
        ],
        help: "user.max_user_namespaces",
        outcome: "refused",
        exit_code: 2,
    }
}

fn with_a_full_run() -> BrokenHost {
    BrokenHost {
        lines: "mount -t tmpfs -o size=4k,nr_inodes=1 none /run; exec \"$@\"".to_owned(),
        within: &["--mount"],
        reason: [
            "cannot create the uid lock directory /run/toolexec-launch",
            "No space left on device",
        ],
        help: "free space in /run",
        outcome: "setup_error",
        exit_code: 3,
    }
}

impl BrokenHost {
    /// Returns the command for a program of ours on this host.
    fn command(&self, bench: &Bench, program: &str) -> Command {
        let program = bench.scratch().path().join("bin").join(program);
        let mut command = match self.within {
            [] => bench.command("sh"),
            within => {
                let mut command = bench.command("unshare");
                command.args(within).args(["--", "sh"]);
                command
            }
        };
        command.args(["-ec", &self.lines, "sh"]).arg(program);
        command
    }

    #[track_caller]
    fn assert_is_the_reason(&self, reason: &str) {
        let [begins, holds] = self.reason;
        assert!(reason.starts_with(begins) && reason.contains(holds), "{reason}");
        assert!(reason.contains("; help: ") && reason.contains(self.help), "{reason}");
    }
}

/// The policy of a service, without the exception that permits runs without control groups.
fn config_without_exceptions(bench: &Bench) -> ServiceConfig {
    let mut config = ServiceConfig::for_owner(bench);
    assert!(config.policy.contains("[cgroup]"), "{}", config.policy);
    config.policy =
        config.policy.replace("[cgroup]", "[]").replace("invoker: false", "invoker: true");
    config
}

#[track_caller]
fn row(output: CliOutput, pointer: &str) -> String {
    let found = output.json().pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.unwrap_or_else(|| panic!("no {pointer} in {output:#?}"))
}

/// Returns `doctor`'s result about a sandbox on this host: verdict, finding, help.
#[track_caller]
fn doctor(bench: &Bench, broken: &BrokenHost, config: &Path) -> [String; 3] {
    let mut command = broken.command(bench, "toolexec");
    let output =
        CliOutput::of(command.args(["doctor", "--format", "json", "--config"]).arg(config));
    let found = output.json();
    assert!(found["failures"].as_u64().unwrap() > 0, "{output:#?}");
    output.assert_code(1);
    let mut findings = found["findings"].as_array().unwrap().iter();
    let probe = findings.find(|it| it["topic"] == "sandbox").unwrap();
    ["verdict", "found", "remedy"].map(|key| probe[key].as_str().unwrap_or_default().to_owned())
}

/// Returns the reason in the record of a run on this host. Other places must show the same.
#[track_caller]
fn run(bench: &Bench, broken: &BrokenHost, state: &Path, policy: &Path) -> String {
    let request = bench.save(&RequestText::python("pass"));
    let mut command = broken.command(bench, "toolexec");
    command.arg("run").arg(&request.path).args(["--format", "json", "--state"]).arg(state);
    let output = CliOutput::of(command.arg("--policy").arg(policy));
    output.assert_code(broken.exit_code);
    let record = Record::of(&output);
    record.assert_outcome(broken.outcome);
    let quoted = record.text.lines().find_map(|line| line.strip_prefix("reason: ")).unwrap();
    let reason: Option<String> = serde_json::from_str(quoted).unwrap();
    let reason = reason.unwrap_or_else(|| panic!("no reason in {}", record.text));
    let place = state.to_str().unwrap();
    for (words, pointer) in [
        (&["list"][..], "/reason"),
        (&["wait", &request.id], "/reason"),
        (&["show", &request.id], "/records/0/reason"),
        (&["status"], "/last/0/reason"),
    ] {
        let ask = |more: &[&str]| bench.toolexec(words.iter().chain(more));
        assert_eq!(row(ask(&["--spool", place, "--format", "json"]), pointer), reason, "{words:?}");
        let people = ask(&["--spool", place]);
        let (what, _) = reason.split_once("; help: ").unwrap();
        let beginning: String = what.chars().take(100).collect();
        assert!(people.stdout.contains(&beginning), "{words:?}: {people:#?}");
    }
    reason
}

/// Starts a daemon on this host; it must hold a request, report the reason, and use nothing up.
#[track_caller]
fn hold_request<'a>(
    bench: &'a Bench,
    broken: &BrokenHost,
    config: &ServiceConfig,
) -> (Service<'a>, String, String) {
    let mut service = Service::prepare(bench, config);
    let mut command = broken.command(bench, "toolexecd");
    command.arg("--config").arg(service.config());
    service.spawn_as(command);
    service.wait_for("admission to stop", |service| service.log().contains("admission-stopped"));
    service.wait_for("the status to say so", |service| {
        let text = fs::read_to_string(service.path("public/status.json")).unwrap_or_default();
        text.contains("\"serving\"") && text.contains("; help: ")
    });
    let request = service.submit(&RequestText::python("print('ran')"));
    let status = bench.toolexec([
        "status",
        "--format",
        "json",
        "--spool",
        service.spool().to_str().unwrap(),
    ]);
    status.assert_code(1);
    let stopped = row(status, "/daemon/status/admission_stopped");
    assert!(service.log().contains(broken.reason[1]), "{}", service.log());
    let place = service.spool();
    let spool = ["--spool", place.to_str().unwrap()];
    let shown = bench.toolexec(["show", &request.id, "--format", "json"].iter().chain(&spool));
    assert_eq!(row(shown, "/admission_stopped"), stopped);
    let waited = bench.toolexec(["wait", &request.id, "--timeout", "0"].iter().chain(&spool));
    waited.assert_code(3);
    waited.assert_stderr(&["admission is stopped", broken.reason[1], broken.help]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(service.path(&format!("approved/{}.md", request.id)).exists(), "{}", service.log());
    assert_eq!(service.visible_results(), Vec::<String>::new());
    assert_eq!(list(&service.path("work")), Vec::<String>::new());
    (service, request.id, stopped)
}

/// Checks one broken host. Logs a skip if this host cannot be broken in this way.
#[track_caller]
fn check(test: &str, bench: &Bench, broken: &BrokenHost) {
    let tried = CliOutput::of(broken.command(bench, "toolexec").arg("--version"));
    if tried.code != Some(0) {
        return skip(test, &format!("this host cannot be broken so: {}", tried.stderr.trim()));
    }
    let config = config_without_exceptions(bench);
    let (service, _, stopped) = hold_request(bench, broken, &config);
    broken.assert_is_the_reason(&stopped);
    let [verdict, found, remedy] = doctor(bench, broken, &service.config());
    assert_eq!(verdict, "failure");
    assert_eq!(format!("{found}; help: {remedy}"), stopped);
    let state = bench.home().join("state");
    fs::create_dir(&state).unwrap();
    std::os::unix::fs::chown(&state, Some(bench.uid()), Some(bench.uid())).unwrap();
    let policy: PathBuf = bench.home().join("policy.yaml");
    assert_eq!(run(bench, broken, &state, &policy), stopped);
}

#[test]
fn read_only_control_groups_are_named_with_their_remedy_in_every_place() {
    let test = "read_only_control_groups_are_named_with_their_remedy_in_every_place";
    let Some(bench) = Bench::as_root(test) else { return };
    check(test, &bench, &without_cgroups());
}

#[test]
fn a_kernel_without_landlock_is_named_with_its_remedy_in_every_place() {
    let test = "a_kernel_without_landlock_is_named_with_its_remedy_in_every_place";
    if cfg!(not(target_arch = "x86_64")) {
        return skip(test, "its filter is for x86-64");
    }
    let Some(bench) = Bench::as_root(test) else { return };
    check(test, &bench, &without_landlock(&bench));
}

#[test]
fn a_full_run_is_named_with_its_remedy_in_every_place() {
    let test = "a_full_run_is_named_with_its_remedy_in_every_place";
    let Some(bench) = Bench::as_root(test) else { return };
    check(test, &bench, &with_a_full_run());
}

#[test]
fn missing_user_namespaces_are_named_with_their_remedy_in_every_place() {
    let test = "missing_user_namespaces_are_named_with_their_remedy_in_every_place";
    if cfg!(not(target_arch = "x86_64")) {
        return skip(test, "its filter is for x86-64");
    }
    let Some(bench) = Bench::as_ordinary_user(test) else { return };
    check(test, &bench, &without_user_namespaces(&bench));
}

/// With the exception in the policy, a run works without control groups, and `doctor` reports it.
#[test]
fn a_policy_that_does_without_control_groups_is_fit_for_a_host_without_them() {
    let test = "a_policy_that_does_without_control_groups_is_fit_for_a_host_without_them";
    let Some(bench) = Bench::as_root(test) else { return };
    let broken = without_cgroups();
    let output =
        CliOutput::of(broken.command(&bench, "toolexec").args(["doctor", "--format", "json"]));
    let found = output.json();
    let mut findings = found["findings"].as_array().unwrap().iter();
    let probe = findings.find(|it| it["topic"] == "sandbox").unwrap();
    assert_eq!(probe["verdict"], "ok", "{probe}");
    assert!(probe["found"].as_str().unwrap().contains("without cgroup"), "{probe}");
}

#[test]
fn a_repaired_host_runs_what_waited_after_a_reload_or_by_itself() {
    let test = "a_repaired_host_runs_what_waited_after_a_reload_or_by_itself";
    let Some(bench) = Bench::as_root(test) else { return };
    let broken = without_cgroups();
    for reloads in [true, false] {
        let mut settings = config_without_exceptions(&bench);
        settings.shutdown_grace_sec = 2;
        let bench = Bench::new();
        let mut service = Service::prepare(&bench, &settings);
        // A daemon probes again by itself after the interval.
        let interval = if reloads { "scan_interval_sec: 3600" } else { "scan_interval_sec: 1" };
        let usual = fs::read_to_string(service.config()).unwrap();
        let config = usual.replace("scan_interval_sec: 30", interval);
        assert_ne!(config, usual);
        fs::write(service.config(), config).unwrap();
        let mut command = broken.command(&bench, "toolexecd");
        command.arg("--config").arg(service.config());
        service.spawn_as(command);
        service.wait_for("admission to stop", |it| it.log().contains("admission-stopped"));
        let request = service.submit(&RequestText::python("print('ran')"));
        let repair = "for place in $(awk '$3 ~ /^cgroup/ {print $2}' /proc/mounts); do \
                      mount -o remount,bind,rw \"$place\"; done";
        let process = service.process().0.to_string();
        let repaired =
            Command::new("nsenter").args(["-t", &process, "-m", "sh", "-ec", repair]).status();
        assert!(repaired.unwrap().success());
        if reloads {
            service.signal("HUP");
        }
        let record = service.record_of(&request.id);
        record.assert_outcome("ok");
        assert!(service.log().contains("admission-resumed"), "{}", service.log());
        service.signal("TERM");
        assert_eq!(service.wait(), Some(0));
    }
}

/// If a host breaks while a daemon serves, it refuses the next request and holds the others.
#[test]
fn a_host_that_breaks_while_it_serves_refuses_once_and_then_holds() {
    let test = "a_host_that_breaks_while_it_serves_refuses_once_and_then_holds";
    let Some(bench) = Bench::as_root(test) else { return };
    let mut config = config_without_exceptions(&bench);
    config.prewarmed_sandboxes = Some(0);
    let mut service = Service::prepare(&bench, &config);
    let mut command = bench.command("unshare");
    command.args(["--mount", "--"]).arg(bench.scratch().path().join("bin/toolexecd"));
    service.spawn_as({
        command.arg("--config").arg(service.config());
        command
    });
    service.wait_for("the daemon to be ready", |service| service.log().contains("ready"));
    let good = service.submit(&RequestText::python("print('ran')"));
    service.record_of(&good.id).assert_outcome("ok");
    // The running launcher has its own mounts; the next one gets those of the daemon.
    let process = service.process().0;
    let broken = READ_ONLY_CGROUPS.replace("exec \"$@\"", "true");
    let ns = ["-t", &process.to_string(), "-m", "sh", "-ec", &broken];
    assert!(Command::new("nsenter").args(ns).status().unwrap().success());
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
    let is_launcher = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/comm"))
            .is_ok_and(|it| it.starts_with("toolexec-launc"))
    };
    let launcher = children.split_whitespace().map(|pid| pid.parse().unwrap()).find(is_launcher);
    kill("KILL", Process(launcher.unwrap_or_else(|| panic!("no launcher among {children}"))));
    let refused = service.submit(&RequestText::python("print('ran')"));
    let record = service.record_of(&refused.id);
    record.assert_outcome("refused");
    record.assert_violation("layer.cgroup");
    service.wait_for("admission to stop", |it| it.log().contains("admission-stopped"));
    let waits = service.submit(&RequestText::python("print('ran')"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(service.path(&format!("approved/{}.md", waits.id)).exists(), "{}", service.log());
}
