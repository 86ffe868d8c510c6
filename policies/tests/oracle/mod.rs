//! Stock `ssh-keygen` as the oracle for signatures, trust stores and revocation lists. If it cannot
//! run, the test is reported as skipped; it must never look like a passed test.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use model::UtcTime;
use policies::{AllowedSigners, SshSignature};

use crate::skip::skip;

/// The directory of one test, and `ssh-keygen`.
pub(crate) struct KeygenOracle(PathBuf);

pub(crate) struct OracleQuestion<'a> {
    pub(crate) signers: &'a str,
    pub(crate) signature: &'a [u8],
    pub(crate) message: &'a [u8],
    pub(crate) namespace: &'a str,
    pub(crate) principal: &'a str,
    /// `YYYYMMDDHHMMSSZ`
    pub(crate) time: &'a str,
    pub(crate) zone: &'a str,
    pub(crate) revoked: Option<&'a [u8]>,
}

impl<'a> OracleQuestion<'a> {
    /// Asks about an approval of `alice` at 2026-02-09T16:00:00Z, without revocations.
    pub(crate) fn of_alice(signers: &'a str, signature: &'a [u8], message: &'a [u8]) -> Self {
        Self {
            signers,
            signature,
            message,
            namespace: policies::APPROVE_NAMESPACE,
            principal: "alice",
            time: "20260209160000Z",
            zone: "UTC",
            revoked: None,
        }
    }
}

impl KeygenOracle {
    /// Returns `None` with a message if `ssh-keygen` cannot run.
    pub(crate) fn open(test: &str) -> Option<Self> {
        let dir = std::env::temp_dir().join(format!("policies-{test}-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a temporary directory");
        let oracle = Self(dir);
        let mut probe = Command::new("ssh-keygen");
        probe.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(oracle.0.join("probe"));
        match probe.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => Some(oracle),
            // It refuses to run for a user id without a name.
            Ok(output) => {
                let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                skip(test, &format!("ssh-keygen does not run here: {message}"));
                None
            }
            Err(error) => {
                skip(test, &format!("ssh-keygen cannot be run: {error}"));
                None
            }
        }
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        File::create(&path).and_then(|mut file| file.write_all(bytes)).expect("a file");
        path
    }

    pub(crate) fn key(&self, name: &str, kind: &str) -> String {
        let path = self.0.join(name);
        let args = ["-q", "-N", "", "-C", name, "-t", kind, "-f"];
        let made = Command::new("ssh-keygen").args(args).arg(&path).status().expect("it runs");
        assert!(made.success());
        let public = fs::read_to_string(path.with_extension("pub")).expect("the public key");
        public.trim_end().to_owned()
    }

    pub(crate) fn sign(&self, key: &str, namespace: &str, hash: &str, message: &[u8]) -> Vec<u8> {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-Y", "sign", "-n", namespace, "-O", &format!("hashalg={hash}"), "-f"]);
        command.arg(self.0.join(key));
        let output = run(command, message);
        assert!(output.status.success());
        output.stdout
    }

    /// Makes a revocation list from lines of `ssh-keygen -k`.
    pub(crate) fn revocations(&self, lines: &str, ca: Option<&str>) -> Vec<u8> {
        let lines = self.file("revocations", lines.as_bytes());
        let (list, mut command) = (self.0.join("list"), Command::new("ssh-keygen"));
        command.args(["-q", "-k"]);
        if let Some(ca) = ca {
            command.arg("-s").arg(self.file("ca.pub", ca.as_bytes()));
        }
        let output = run_quiet(command.arg("-f").arg(&list).arg(lines));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(&list).expect("the list")
    }

    pub(crate) fn verifies(&self, question: &OracleQuestion<'_>) -> bool {
        let mut command = self.command("verify", question);
        command.args(["-n", question.namespace, "-I", question.principal]);
        if let Some(revoked) = question.revoked {
            command.arg("-r").arg(self.file("revoked", revoked));
        }
        run(command, question.message).status.success()
    }

    pub(crate) fn finds(&self, question: &OracleQuestion<'_>) -> Vec<String> {
        let output = run(self.command("find-principals", question), b"");
        let found = String::from_utf8(output.stdout).expect("names");
        if output.status.success() { found.lines().map(str::to_owned).collect() } else { vec![] }
    }

    fn command(&self, act: &str, question: &OracleQuestion<'_>) -> Command {
        let mut command = Command::new("ssh-keygen");
        command.args(["-Y", act, "-O", &format!("verify-time={}", question.time), "-f"]);
        command.arg(self.file("allowed_signers", question.signers.as_bytes())).arg("-s");
        command.arg(self.file("signature", question.signature)).env("TZ", question.zone);
        command
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.0
    }
}

fn run_quiet(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("ssh-keygen runs")
}

fn run(mut command: Command, input: &[u8]) -> Output {
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = streams.spawn().expect("ssh-keygen runs");
    // It may exit without reading the message.
    drop(child.stdin.take().expect("a pipe").write_all(input));
    child.wait_with_output().expect("it ends")
}

impl Drop for KeygenOracle {
    fn drop(&mut self) {
        // Test keys; leftover files do no harm.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// SplitMix64 with a fixed seed, or with the number in `TOOLEXEC_DICE`.
pub(crate) struct SeededRng(u64);

impl SeededRng {
    pub(crate) fn new(test: u64) -> Self {
        let more: u64 =
            std::env::var("TOOLEXEC_DICE").map_or(0, |it| it.parse().expect("a number"));
        Self(test.wrapping_add(more.wrapping_mul(1 << 32)))
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let count = u64::try_from(count).expect("small");
        usize::try_from((z ^ (z >> 31)) % count).expect("small")
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

pub(crate) fn time(text: &str) -> UtcTime {
    text.parse().expect("a time of the test")
}

pub(crate) fn our_answer(
    question: &OracleQuestion<'_>,
    signers: &AllowedSigners,
    at: UtcTime,
) -> bool {
    SshSignature::parse(question.signature)
        .and_then(|signature| signature.verify(question.message))
        .is_ok_and(|verified| {
            verified.namespace() == question.namespace
                && signers.entitles(&verified, question.principal, at).is_ok()
        })
}
