//! Approvers with keys of `ssh-keygen`. It must never sign: the program's signatures are tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, RequestText, SavedRequest};

pub(super) fn unapproved(script: &str) -> RequestText {
    let text = RequestText::python(script).edit("approved_by: \"tester\"", "approved_by: \"\"");
    let all = text.text();
    let line = all.lines().find(|line| line.starts_with("approved_utc:")).unwrap();
    text.edit(line, "approved_utc: \"\"  # not yet")
}

/// Saves a request in a directory that its user can write.
pub(super) fn saved(bench: &Bench, request: &RequestText) -> SavedRequest {
    request.save(&bench.home())
}

/// Creates a key without a passphrase, and returns the private file.
pub(super) fn key(bench: &Bench, name: &str, kind: &[&str]) -> PathBuf {
    locked_key(bench, name, kind, "")
}

pub(super) fn locked_key(bench: &Bench, name: &str, kind: &[&str], passphrase: &str) -> PathBuf {
    let path = bench.home().join(name);
    let made = CliOutput::of(
        bench
            .command("ssh-keygen")
            .args(["-q", "-N", passphrase, "-C", name])
            .args(kind)
            .arg("-f")
            .arg(&path),
    );
    made.assert_code(0);
    path
}

pub(super) const ED25519: &[&str] = &["-t", "ed25519"];
pub(super) const P256: &[&str] = &["-t", "ecdsa", "-b", "256"];

/// Writes an `allowed_signers` file with these principals and their keys.
pub(super) fn signers(bench: &Bench, people: &[(&str, &Path)]) -> PathBuf {
    let line = |(name, key): &(&str, &Path)| {
        let public = fs::read_to_string(key.with_extension("pub")).unwrap();
        format!("{name} {public}")
    };
    let path = bench.home().join("signers");
    fs::write(&path, people.iter().map(line).collect::<String>()).unwrap();
    path
}

/// Runs `toolexec approve … --yes --format json` with more arguments.
pub(super) fn approve(
    bench: &Bench,
    request: &SavedRequest,
    by: &str,
    key: &Path,
    more: &[&str],
) -> CliOutput {
    let mut command = bench.command("toolexec");
    command.arg("approve").arg(&request.path).args(["--approver", by, "--yes", "--format", "json"]);
    CliOutput::of(command.arg("--key").arg(key).args(more))
}

pub(super) fn explain(bench: &Bench, request: &SavedRequest, more: &[&str]) -> CliOutput {
    let mut command = bench.command("toolexec");
    CliOutput::of(command.arg("explain").arg(&request.path).args(["--format", "json"]).args(more))
}

/// Asserts that OpenSSH accepts a signature.
#[track_caller]
pub(super) fn assert_verifies(
    bench: &Bench,
    request: &SavedRequest,
    by: &str,
    use_: &str,
    sig: &Path,
) {
    let mut command = bench.command("ssh-keygen");
    command.args(["-Y", "verify", "-I", by, "-n", use_, "-f"]).arg(bench.home().join("signers"));
    command.arg("-s").arg(sig).stdin(fs::File::open(&request.path).unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Returns the verdict and the reason of a rule.
#[track_caller]
pub(super) fn rule<'a>(explained: &'a Value, name: &str) -> (&'a str, &'a str) {
    let rows = explained["rules"].as_array().unwrap_or_else(|| panic!("no rules: {explained}"));
    let row = rows.iter().find(|row| row["rule"] == name).unwrap();
    (row["verdict"].as_str().unwrap(), row["reason"].as_str().unwrap())
}

pub(super) fn codes(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|row| row["code"].as_str().unwrap()).collect()
}

/// An `ssh-agent` that ends with the test.
pub(super) struct TestSshAgent {
    child: Child,
    pub(super) socket: PathBuf,
}

impl TestSshAgent {
    pub(super) fn start(bench: &Bench) -> Self {
        let socket = bench.home().join("agent");
        let mut command = bench.command("ssh-agent");
        command.args(["-D", "-a"]).arg(&socket).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        let begun = Instant::now();
        while !socket.exists() {
            assert!(begun.elapsed() < Duration::from_secs(10) * time_factor(), "no agent");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, socket }
    }

    pub(super) fn add(&self, bench: &Bench, key: &Path) {
        let mut command = bench.command("ssh-add");
        CliOutput::of(command.env("SSH_AUTH_SOCK", &self.socket).arg("-q").arg(key)).assert_code(0);
    }
}

impl Drop for TestSshAgent {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
