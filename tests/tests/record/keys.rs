//! Keys of the programs: created once, shown in the formats of other tools, rotated while no daemon
//! is running, passed by systemd or kept in an agent. Only their holder can read a private byte.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{
    Bench, CliOutput, Process, Record, RequestText, Service, ServiceConfig, list, skip,
    ssh_keygen_works, wait_for_process,
};

toolexec_tests::as_both!(
    an_agent_signs_for_the_daemon_until_it_is_gone,
    credentials_are_read_where_systemd_lends_them,
    memory_with_a_key_is_no_other_process,
    no_run_sees_a_byte_of_a_key,
);

fn keys(bench: &Bench, words: &[&str]) -> CliOutput {
    bench.toolexec(["keys"].iter().chain(words))
}

/// Returns the output of `keys show` with these arguments.
#[track_caller]
fn shown(bench: &Bench, words: &[&str]) -> String {
    let output = keys(bench, &[&["show"], words].concat());
    output.assert_code(0);
    assert_eq!(output.stderr, "", "{output:#?}");
    output.stdout
}

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

#[test]
fn both_keys_are_made_once_and_shown_in_every_form() {
    let bench = Bench::new();
    let output = keys(&bench, &["show", "--format", "verifier"]);
    output.assert_code(3);
    output.assert_stderr(&["toolexec keys init"]);
    let made = keys(&bench, &["init", "--origin", "toolexec.host1.example"]);
    made.assert_code(0);
    assert_eq!(made.stdout.lines().count(), 2, "{made:#?}");
    for again in [&["init"][..], &["init", "--origin", "toolexec.host1.example"]] {
        assert_eq!(keys(&bench, again).stdout, made.stdout);
    }
    let other = keys(&bench, &["init", "--origin", "other.example"]);
    other.assert_code(3);
    other.assert_stderr(&[
        "log.pub: its log is named toolexec.host1.example, which cannot become other.example\n",
        "help: set --origin or log.origin to toolexec.host1.example, or make keys for a new log",
    ]);
    keys(&bench, &["init", "--origin", "Not a host"]).assert_code(3);

    let verifier = shown(&bench, &["--format", "verifier"]);
    assert!(verifier.starts_with("toolexec.host1.example+"), "{verifier}");
    assert_eq!(verifier.lines().count(), 1);
    let root = shown(&bench, &["--format", "trusted-root"]);
    let root: serde_json::Value = serde_json::from_str(&root).unwrap();
    assert_eq!(root["tlogs"][0]["baseUrl"], "https://toolexec.host1.example");
    let line = shown(&bench, &["--format", "openssh", "--key", "log"]);
    assert!(line.starts_with("ssh-ed25519 AAAA"), "{line}");
    let line = shown(&bench, &["--format", "openssh"]);
    assert!(line.starts_with("ecdsa-sha2-nistp256 AAAA"), "{line}");
    let signers = shown(&bench, &[]);
    let namespace = "namespaces=\"result.tool-exec@threegate\"";
    assert_eq!(signers, format!("tool-exec {namespace} {line}"));
    let signers = shown(&bench, &["--format", "allowed-signers", "--key", "log"]);
    assert!(signers.starts_with("toolexec.host1.example namespaces=\"key-change"), "{signers}");
    for key in ["result", "log"] {
        let pem = bench.scratch().file(key, shown(&bench, &["--format", "pem", "--key", key]));
        let read = CliOutput::of(Command::new("openssl").args(["pkey", "-pubin", "-in"]).arg(pem));
        read.assert_code(0);
    }
    for format in ["verifier", "trusted-root"] {
        keys(&bench, &["show", "--key", "result", "--format", format]).assert_code(3);
    }
    // The name of this host, or `localhost`.
    let elsewhere = bench.home().join("elsewhere");
    let words = ["init", "--state", elsewhere.to_str().unwrap()];
    let name = keys(&bench, &words).stdout;
    let name = name.lines().nth(1).unwrap().split(": ").nth(1).unwrap().split('+').next().unwrap();
    let host = CliOutput::of(&mut Command::new("hostname")).stdout.trim().to_lowercase();
    assert!([host.as_str(), "localhost"].contains(&name), "{name}");
}

#[test]
fn records_verify_before_and_after_a_change_of_keys() {
    let bench = Bench::new();
    let none = keys(&bench, &["rotate", "--key", "result"]);
    none.assert_code(3);
    none.assert_stderr(&["keys: does not exist", "help: run `toolexec keys init`"]);
    let (_, first) = bench.run_recorded(&good());
    let old = shown(&bench, &["--format", "openssh"]);
    // The key to rotate must be named.
    keys(&bench, &["rotate"]).assert_code(3);
    assert_eq!(shown(&bench, &["--format", "openssh"]), old);
    let output = keys(&bench, &["rotate", "--key", "result"]);
    output.assert_code(0);
    assert!(output.stdout.starts_with("result key: SHA256:"), "{output:#?}");
    keys(&bench, &["rotate", "--key", "log"]).assert_code(0);
    let new = shown(&bench, &["--format", "openssh"]);
    assert_ne!(old, new);
    assert_eq!(shown(&bench, &["--format", "verifier"]).lines().count(), 2);
    // The first key expires in the second in which the other becomes valid.
    std::thread::sleep(Duration::from_secs(1));
    let (_, second) = bench.run_recorded(&good());
    let text = shown(&bench, &["--format", "allowed-signers"]);
    assert_eq!(text.lines().count(), 2, "{text}");
    let signers = bench.scratch().file("signers", &text);
    let verify = |record: &Record, signers: &Path| {
        let mut command = bench.command("toolexec");
        CliOutput::of(command.arg("verify").arg(&record.path).arg("--result-keys").arg(signers))
    };
    verify(&first, &signers).assert_code(0);
    verify(&second, &signers).assert_code(0);
    // Each line is valid for its own time.
    for (line, good, bad) in [(0, &second, &first), (1, &first, &second)] {
        let text = text.lines().nth(line).unwrap();
        let one = bench.scratch().file(&format!("line-{line}"), format!("{text}\n"));
        verify(good, &one).assert_code(0);
        verify(bad, &one).assert_code(1);
    }
    if ssh_keygen_works("records_verify_before_and_after_a_change_of_keys") {
        let id = second.id();
        let signature = second.path.join(format!("{id}.md.sig"));
        let mut verify = Command::new("ssh-keygen");
        verify.args(["-Y", "verify", "-I", "tool-exec", "-n", "result.tool-exec@threegate"]);
        verify.arg("-f").arg(&signers).arg("-s").arg(signature);
        let md = fs::File::open(second.path.join(format!("{id}.md"))).unwrap();
        let output = verify.stdin(md).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn keys_are_not_changed_under_a_running_daemon() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&good());
    let before = service.record_of(&request.id);
    let config = service.config();
    let words = ["rotate", "--key", "result", "--config", config.to_str().unwrap()];
    let output = keys(&bench, &words);
    output.assert_code(3);
    assert!(output.stderr.contains("lock"), "{output:#?}");
    service.signal("TERM");
    service.wait();
    keys(&bench, &words).assert_code(0);
    keys(&bench, &["rotate", "--key", "log", "--config", config.to_str().unwrap()]).assert_code(0);
    service.spawn();
    let request = service.submit(&good());
    let after = service.record_of(&request.id);
    let show = ["--config", config.to_str().unwrap()];
    let signers = bench.scratch().file("signers", shown(&bench, &show));
    for record in [before, after] {
        let mut command = bench.command("toolexec");
        command.arg("verify").arg(&record.path).arg("--result-keys").arg(&signers);
        CliOutput::of(&mut command).assert_code(0);
    }
    // A key of an agent cannot succeed a key in a file.
    let unknown_key = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    service.signal("TERM");
    service.wait();
    keys(&bench, &[&words[..], &["--to", unknown_key]].concat()).assert_code(3);
}

#[test]
fn an_incomplete_key_source_is_refused() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let text = fs::read_to_string(service.config()).unwrap();
    let print = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    for (keys, why) in [
        ("keys: {}".to_owned(), "one of directory and agent"),
        ("keys: {directory: keys}".to_owned(), "keys.directory"),
        ("keys: {agent: run/agent}".to_owned(), "keys.agent"),
        ("keys: {agent: /run/agent}".to_owned(), "keys.result"),
        (format!("keys: {{agent: /run/agent, result: \"{print}\"}}"), "keys.log"),
        (format!("keys: {{agent: /a, result: \"{print}\", log: MD5}}"), "keys.log"),
        (format!("keys: {{directory: /a, result: \"{print}\"}}"), "keys"),
        ("keys: {directory: /a, agent: /b}".to_owned(), "one of directory and agent"),
        ("keys: {file: /a}".to_owned(), "file"),
    ] {
        fs::write(service.config(), format!("{text}{keys}\n")).unwrap();
        let output = CliOutput::of(service.command().arg("--check"));
        output.assert_code(2);
        output.assert_stderr(&[why]);
    }
}

/// A stock `ssh-agent` of this user, ended when dropped.
struct StockSshAgent(Child, PathBuf);

impl StockSshAgent {
    fn start(bench: &Bench) -> Self {
        let socket = bench.home().join("agent.sock");
        let mut command = bench.command("ssh-agent");
        command.arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).stderr(Stdio::null());
        let agent = Self(command.spawn().unwrap(), socket);
        let begun = Instant::now();
        while !agent.1.exists() {
            assert!(begun.elapsed() < Duration::from_secs(30) * time_factor(), "no agent");
            std::thread::sleep(Duration::from_millis(10));
        }
        agent
    }

    /// Adds a new key of this kind that only the agent has. Returns its fingerprint.
    fn add(&self, bench: &Bench, kind: &str) -> String {
        let file = bench.home().join(format!("{kind}-for-agent"));
        let file = file.to_str().unwrap();
        let run = |program: &str, words: &[&str]| {
            let mut command = bench.command(program);
            let output = CliOutput::of(command.args(words).env("SSH_AUTH_SOCK", &self.1));
            output.assert_code(0);
            output.stdout
        };
        run("ssh-keygen", &["-q", "-t", kind, "-N", "", "-f", file]);
        run("ssh-add", &["-q", file]);
        let print = run("ssh-keygen", &["-l", "-f", file]);
        fs::remove_file(file).unwrap();
        print.split(' ').nth(1).unwrap().to_owned()
    }
}

impl Drop for StockSshAgent {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn an_agent_signs_for_the_daemon_until_it_is_gone(bench: &Bench) {
    let user = if bench.is_root() { "as_root" } else { "as_an_ordinary_user" };
    let test = &format!("{user}::an_agent_signs_for_the_daemon_until_it_is_gone");
    // ssh-keygen and ssh-add refuse to work for a user without a name.
    let named = CliOutput::of(bench.command("ssh-keygen").args(["-l", "-f", "/dev/null"]));
    if !named.stderr.is_empty() && !named.stderr.contains("/dev/null") {
        return skip(test, named.stderr.trim());
    }
    let agent = StockSshAgent::start(bench);
    let (result, log) = (agent.add(bench, "ecdsa"), agent.add(bench, "ed25519"));
    let mut service = Service::prepare(bench, &ServiceConfig::for_owner(bench));
    let socket = agent.1.display();
    service.configure(&format!("keys: {{agent: {socket}, result: \"{result}\", log: \"{log}\"}}"));
    service.spawn();
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    service.verify().assert_code(0);
    let public = ["allowed_signers", "log.pub", "result.pub"];
    assert_eq!(list(&service.state().join("keys")), public, "no private half");

    let socket = agent.1.clone();
    drop(agent);
    let request = bench.save(&good());
    service.submit_saved(&request).assert_code(0);
    assert_eq!(service.wait(), Some(3), "{}", service.log());
    let gone = format!("agent {}: cannot connect", socket.display());
    assert!(service.log().contains(&gone), "{}", service.log());
    assert!(service.log().contains("nothing more is admitted"), "{}", service.log());
    assert!(service.records_of(&request.id).is_empty(), "nothing is published unsigned");
    // It does not start without its keys, and creates no others.
    let again = CliOutput::of(&mut service.command());
    again.assert_code(3);
    again.assert_stderr(&[&gone]);
    assert_eq!(list(&service.state().join("keys")), public);
}

fn credentials_are_read_where_systemd_lends_them(bench: &Bench) {
    // systemd passes the keys that `keys init` created.
    let made = bench.home().join("made");
    keys(bench, &["init", "--state", made.to_str().unwrap()]).assert_code(0);
    let credentials = bench.home().join("credentials");
    fs::create_dir(&credentials).unwrap();
    // Modes of systemd: a file of the user, or root's with an access list (mask in the group mode).
    let mode = if bench.is_root() { 0o440 } else { 0o400 };
    for name in ["result", "log"] {
        fs::copy(made.join("keys").join(name), credentials.join(name)).unwrap();
        chown(credentials.join(name), Some(bench.uid()), Some(bench.uid())).unwrap();
        fs::set_permissions(credentials.join(name), Permissions::from_mode(mode)).unwrap();
    }
    let service = Service::prepare(bench, &ServiceConfig::for_owner(bench));
    let mut command = service.command();
    let mut daemon = command
        .env("CREDENTIALS_DIRECTORY", &credentials)
        .stderr(fs::File::create(bench.home().join("credentials.log")).unwrap())
        .spawn()
        .unwrap();
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let public = ["allowed_signers", "log.pub", "result.pub"];
    assert_eq!(list(&service.state().join("keys")), public, "no private half");
    service.verify().assert_code(0);
    assert_eq!(
        fs::read(service.state().join("keys/result.pub")).unwrap(),
        fs::read(made.join("keys/result.pub")).unwrap()
    );
    // A key that other users can read is refused.
    for name in ["result", "log"] {
        fs::set_permissions(credentials.join(name), Permissions::from_mode(0o444)).unwrap();
        let output = CliOutput::of(service.command().env("CREDENTIALS_DIRECTORY", &credentials));
        output.assert_code(3);
        output.assert_stderr(&[credentials.join(name).to_str().unwrap(), "0444"]);
        fs::set_permissions(credentials.join(name), Permissions::from_mode(0o400)).unwrap();
    }
}

/// Asserts that only root can read the memory of a process, and that it leaves no core file.
#[track_caller]
fn assert_private(bench: &Bench, process: Process) {
    let at = |name: &str| format!("/proc/{}/{name}", process.0);
    let limits = fs::read_to_string(at("limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    for name in ["mem", "environ", "maps"] {
        assert_eq!(fs::metadata(at(name)).unwrap().uid(), 0, "{name}");
        if !bench.is_root() {
            let output = CliOutput::of(bench.command("cat").arg(at(name)));
            assert_ne!(output.code, Some(0), "{name}: {output:#?}");
        }
    }
}

fn memory_with_a_key_is_no_other_process(bench: &Bench) {
    if !bench.is_root() {
        // An ordinary process is readable, as a control.
        let mut plain = bench.command("sleep").arg("30").spawn().unwrap();
        let readable = || {
            fs::metadata(format!("/proc/{}/mem", plain.id()))
                .is_ok_and(|it| it.uid() == bench.uid())
        };
        let begun = Instant::now();
        while !readable() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let readable = readable();
        plain.kill().unwrap();
        plain.wait().unwrap();
        assert!(readable, "a plain process is as private: this test says nothing");
    }
    let service = Service::start(bench, &ServiceConfig::for_owner(bench));
    assert_private(bench, service.process());
    // While its tool sleeps.
    let script = "import time; time.sleep(6)";
    let request = bench.save(&RequestText::python(script));
    let mut run = bench.command("toolexec");
    run.arg("run").arg(&request.path).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    let word = request.path.to_str().unwrap();
    let process = *wait_for_process(word).first().unwrap();
    let begun = Instant::now();
    while fs::metadata(format!("/proc/{}/mem", process.0)).unwrap().uid() != 0
        || !bench.state().join("keys/log.pub").exists()
    {
        assert!(begun.elapsed() < Duration::from_secs(10), "dumpable");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_private(bench, process);
    assert!(run.wait().unwrap().success());
}

fn no_run_sees_a_byte_of_a_key(bench: &Bench) {
    keys(bench, &["init"]).assert_code(0);
    // Everything readable in the sandbox, and everything that the process inherited.
    let script = "
import os
marks = [b'OPENSSH ' + b'PRIVATE', b'tool-exec ' + b'namespaces', b'open' + b'ssh-key-v1']
def look(name, data):
    for mark in marks:
        if mark in data: print('FOUND', mark, 'in', name)
seen = 0
for place in ['in', 'out', 'tmp', 'dev', 'etc', 'run', 'var', 'home', 'root', 'proc', 'opt', 'srv']:
    for top, dirs, files in os.walk('/' + place):
        dirs[:] = [name for name in dirs if name != 'sys']
        for name in files:
            path = os.path.join(top, name)
            try:
                if os.path.isfile(path):
                    with open(path, 'rb') as file: look(path, file.read(1 << 20))
                    seen += 1
            except OSError: pass
look('environment', repr(dict(os.environ)).encode())
print('seen' if seen > 5 else seen)
";
    let (_, record) = bench.run_recorded(&RequestText::python(script));
    record.assert_outcome("ok");
    let output = record.stdout();
    assert!(!output.contains("FOUND") && output.ends_with("seen\n"), "{output}");
}
