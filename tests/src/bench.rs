//! The test bench: the acting user and the commands that this user starts.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::record::Record;
use crate::request::{RequestText, SavedRequest};
use crate::scratch::{ScratchDir, list};
use crate::skip;

/// The account that tests use as an ordinary user when they run as root: its uid and gid. `games`
/// exists on every Debian host and owns no processes. OpenSSH needs an account with a name: on a
/// host without `games` the tests use an unused number, and tests that need the name are skipped.
fn ordinary_account() -> (u32, u32) {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields: Vec<_> = accounts
        .lines()
        .find_map(|line| line.strip_prefix("games:"))
        .map(|rest| rest.split(':').collect())
        .unwrap_or_default();
    match fields[..] {
        [_, uid, gid, ..] => (uid.parse().unwrap(), gid.parse().unwrap()),
        _ => (65533, 65533),
    }
}

/// The exit code, output and duration of a finished program.
#[derive(Debug)]
pub struct CliOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
}

impl CliOutput {
    /// Runs a command to its end.
    ///
    /// # Panics
    /// Panics if the command cannot be started.
    #[must_use]
    pub fn of(command: &mut Command) -> Self {
        let begun = Instant::now();
        let output = command.stdin(Stdio::null()).output().unwrap();
        Self::from_output(&output, begun.elapsed())
    }

    /// Converts the output of a finished program.
    #[must_use]
    pub fn from_output(output: &std::process::Output, took: Duration) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            elapsed: took,
        }
    }

    /// The object on the last line of stdout.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The object on every line of stdout.
    #[must_use]
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    pub fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{self:#?}");
    }

    /// Returns stderr without the lines that only a busy host causes.
    #[must_use]
    pub fn stderr_without_waits(&self) -> String {
        let is_wait = |line: &str| WAIT_MESSAGES.iter().any(|message| line.contains(message));
        self.stderr.split_inclusive('\n').filter(|line| !is_wait(line)).collect()
    }

    /// Asserts that stderr contains each of these texts.
    #[track_caller]
    pub fn assert_stderr(&self, words: &[&str]) {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in {self:#?}");
        }
    }
}

/// Messages about a busy host. A launcher may also find the group of another launcher that ends.
const WAIT_MESSAGES: [&str; 3] =
    ["waiting for the launcher", "the launcher does not answer", ": cannot be removed: "];

/// A scratch directory, and a user with a home and a state directory in it.
pub struct Bench {
    scratch: ScratchDir,
    drop_rights: bool,
}

fn tests_run_as_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

impl Bench {
    /// Returns a bench that acts as the user who runs the tests.
    #[must_use]
    pub fn new() -> Self {
        Self::of(false)
    }

    /// Returns a bench that acts as root, or logs a skip and returns `None` without root.
    #[must_use]
    pub fn as_root(test: &str) -> Option<Self> {
        if !tests_run_as_root() {
            skip(test, "needs root, and the tests run as an ordinary user");
            return None;
        }
        Some(Self::of(false))
    }

    /// Returns a bench of an ordinary user. Logs a skip and returns `None` without user namespaces.
    #[must_use]
    pub fn as_ordinary_user(test: &str) -> Option<Self> {
        let bench = Self::of(tests_run_as_root());
        let tried =
            CliOutput::of(bench.command("unshare").args(["--user", "--map-root-user", "true"]));
        if tried.code == Some(0) {
            return Some(bench);
        }
        skip(test, &format!("no user namespaces here: {}", tried.stderr.trim()));
        None
    }

    /// Returns a bench of an ordinary user, for a program that refuses root.
    #[must_use]
    pub(crate) fn of_ordinary_user() -> Self {
        Self::of(tests_run_as_root())
    }

    fn of(drop_rights: bool) -> Self {
        let scratch = ScratchDir::new();
        let home = scratch.dir("home");
        if drop_rights {
            let (uid, gid) = ordinary_account();
            chown(&home, Some(uid), Some(gid)).unwrap();
        }
        Self { scratch, drop_rights }
    }

    #[must_use]
    pub fn scratch(&self) -> &ScratchDir {
        &self.scratch
    }

    #[must_use]
    pub fn is_root(&self) -> bool {
        self.uid() == 0
    }

    #[must_use]
    pub fn uid(&self) -> u32 {
        fs::metadata(self.home()).unwrap().uid()
    }

    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    /// The state directory that `run` uses by default.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state/toolexec")
    }

    /// The result directories of [`Self::state`].
    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.state().join("results")
    }

    /// A command started as the acting user, with nothing from the environment of the tests.
    #[must_use]
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let ours = self.scratch.path().join("bin").join(program.as_ref());
        let program = if ours.is_file() { ours } else { program.as_ref().to_owned() };
        let mut command = if self.drop_rights {
            let (uid, gid) = ordinary_account();
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={uid}"), format!("--regid={gid}")]);
            command.args(["--clear-groups", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.home())
            .env("TOOLEXEC_BIN", self.scratch.path().join("bin"))
            .current_dir(self.home());
        command
    }

    #[must_use]
    pub fn toolexec<S: AsRef<std::ffi::OsStr>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> CliOutput {
        CliOutput::of(self.command("toolexec").args(words))
    }

    /// A shell that runs these lines as the acting user, with the programs under test in `PATH`. It
    /// stops at the first line that fails.
    #[must_use]
    pub fn shell(&self, lines: &str) -> Command {
        let bin = self.scratch.path().join("bin");
        let mut shell = self.command("bash");
        shell.args(["-euo", "pipefail", "-c", lines]);
        shell
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", bin.display()));
        shell
    }

    /// Writes a request to a directory that every user can read.
    #[must_use]
    pub fn save(&self, request: &RequestText) -> SavedRequest {
        request.save(&self.scratch.dir("requests"))
    }

    /// Runs `toolexec run --format json` on a request.
    #[must_use]
    pub fn run(&self, request: &SavedRequest) -> CliOutput {
        CliOutput::of(
            self.command("toolexec").arg("run").arg(&request.path).args(["--format", "json"]),
        )
    }

    /// Runs a request and returns its record. Asserts that the JSON output matches the record.
    #[must_use]
    #[track_caller]
    pub fn run_recorded(&self, request: &RequestText) -> (CliOutput, Record) {
        let output = self.run(&self.save(request));
        let record = Record::of(&output);
        (output, record)
    }

    /// Asserts that the run left only its record: no claim, no staging slot, no hidden result.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        for place in ["work", "staging"] {
            assert_eq!(list(&self.state().join(place)), Vec::<String>::new(), "{place}");
        }
        let hidden: Vec<_> =
            list(&self.results()).into_iter().filter(|name| name.starts_with('.')).collect();
        assert_eq!(hidden, Vec::<String>::new());
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}
