//! One test's bench: who acts, from where, and how a program is typed.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::desk::{Scratch, list};
use crate::record::Record;
use crate::request::{Request, RequestText};
use crate::skip;

/// The account that tests use as an ordinary user when they run as root: its uid and gid.
///
/// `games` exists on every Debian host and owns no processes. It has a name, without which OpenSSH
/// refuses to work. On a host without it an unused number serves, and tests that need the name are
/// skipped.
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

/// Everything that a program said until it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Said {
    /// Runs a command to its end.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn of(command: &mut Command) -> Self {
        let begun = Instant::now();
        let said = command.stdin(Stdio::null()).output().unwrap();
        Self::from_output(&said, begun.elapsed())
    }

    #[must_use]
    pub fn from_output(said: &std::process::Output, took: Duration) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: said.status.code(),
            stdout: text(&said.stdout),
            stderr: text(&said.stderr),
            took,
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

    /// That stderr holds every one of these.
    #[track_caller]
    pub fn assert_says(&self, words: &[&str]) {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in {self:#?}");
        }
    }
}

/// A scratch directory, and a person with a home and a state in it.
pub struct Bench {
    scratch: Scratch,
    drop_rights: bool,
}

fn tests_run_as_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

impl Bench {
    /// Whoever runs the tests.
    #[must_use]
    pub fn new() -> Self {
        Self::of(false)
    }

    /// As root; `None`, and said so, where the tests do not run as root.
    #[must_use]
    pub fn of_root(test: &str) -> Option<Self> {
        if !tests_run_as_root() {
            skip(test, "needs root, and the tests run as an ordinary user");
            return None;
        }
        Some(Self::of(false))
    }

    /// As an ordinary user; `None`, and said so, where such a user can have no namespaces.
    #[must_use]
    pub fn of_an_ordinary_user(test: &str) -> Option<Self> {
        let bench = Self::of(tests_run_as_root());
        let tried = Said::of(bench.command("unshare").args(["--user", "--map-root-user", "true"]));
        if tried.code == Some(0) {
            return Some(bench);
        }
        skip(test, &format!("no user namespaces here: {}", tried.stderr.trim()));
        None
    }

    fn of(drop_rights: bool) -> Self {
        let scratch = Scratch::new();
        let home = scratch.dir("home");
        if drop_rights {
            let (uid, gid) = ordinary_account();
            chown(&home, Some(uid), Some(gid)).unwrap();
        }
        Self { scratch, drop_rights }
    }

    #[must_use]
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Whether the person is root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.uid() == 0
    }

    #[must_use]
    pub fn uid(&self) -> u32 {
        fs::metadata(self.home()).unwrap().uid()
    }

    /// The person's own directory.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    /// The embedded state that `run` uses if none is named.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state/toolexec")
    }

    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.state().join("results")
    }

    /// A program, one of ours or the host's, as this person would start it: nothing of the tests' own
    /// environment goes along.
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

    /// `toolexec` with these words.
    #[must_use]
    pub fn toolexec<S: AsRef<std::ffi::OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Said {
        Said::of(self.command("toolexec").args(words))
    }

    /// Lines for a shell, as this person would type them with the programs at hand; the first that fails
    /// ends it.
    #[must_use]
    pub fn shell(&self, lines: &str) -> Command {
        let bin = self.scratch.path().join("bin");
        let mut shell = self.command("bash");
        shell.args(["-euo", "pipefail", "-c", lines]);
        shell
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", bin.display()));
        shell
    }

    /// Writes a request where everybody may read it.
    #[must_use]
    pub fn save(&self, request: &RequestText) -> Request {
        request.save(&self.scratch.dir("requests"))
    }

    /// `toolexec run --format json` of a request.
    #[must_use]
    pub fn run(&self, request: &Request) -> Said {
        Said::of(self.command("toolexec").arg("run").arg(&request.path).args(["--format", "json"]))
    }

    /// Runs a Python script and gives its record; the answer must fit the record.
    #[must_use]
    #[track_caller]
    pub fn record_of(&self, request: &RequestText) -> (Said, Record) {
        let said = self.run(&self.save(request));
        let record = Record::of(&said);
        (said, record)
    }

    /// Whether nothing is left of a run but its record: no claim, no slot, no hidden result.
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
