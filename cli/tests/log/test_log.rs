//! A state with a log, and calls of the program on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use records::ResultKey;
use records::log::{Log, LogKey};
use serde_json::Value;

use crate::fixture::{RecordScratch, put};

pub(crate) const ORIGIN: &str = "toolexec.host1.example";

pub(crate) struct TestLog {
    scratch: RecordScratch,
}

/// The exit status and output of a call.
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    #[track_caller]
    pub(crate) fn assert(self, code: i32, words: &[&str]) -> Self {
        let all = format!("{}{}", self.out, self.err);
        assert_eq!(self.code, code, "{all}");
        for word in words {
            assert!(all.contains(word), "no {word:?} in: {all}");
        }
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.out.lines().last().unwrap()).unwrap()
    }
}

impl TestLog {
    /// Creates a state with a log of this many entries.
    pub(crate) fn new(entries: u64) -> Self {
        let bench = Self { scratch: RecordScratch::in_memory() };
        drop(bench.grown("state", entries));
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(crate) fn key(&self, state: &str) -> LogKey {
        LogKey::open_or_create(&self.path(state).join("keys"), &ORIGIN.parse().unwrap()).unwrap()
    }

    pub(crate) fn result_key(&self) -> ResultKey {
        ResultKey::open_or_create(&self.path("state/keys")).unwrap()
    }

    /// Grows the log of a state to at least this size, and opens it.
    pub(crate) fn grown(&self, state: &str, entries: u64) -> Log {
        let key = self.key(state);
        let mut log = Log::open_or_create(&self.path(state).join("log"), key).unwrap();
        for number in log.head().size()..entries {
            log.append(format!("entry {number}").as_bytes()).unwrap();
        }
        log
    }

    /// Creates a different log with the same key, as only a holder of the key can.
    pub(crate) fn rewrite(&self, state: &str, entries: u64) {
        copy(&self.path("state/keys"), &self.path(state).join("keys"));
        let key = self.key(state);
        let mut log = Log::open_or_create(&self.path(state).join("log"), key).unwrap();
        for number in 0..entries {
            log.append(format!("other {number}").as_bytes()).unwrap();
        }
    }

    pub(crate) fn save(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::remove_file(&path).ok();
        put(&path, text.as_bytes());
        path
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolexec"));
        command.arg("log").args(words).current_dir(self.scratch.path());
        command.env_clear();
        command
    }

    pub(crate) fn log(&self, words: &[&str]) -> CommandOutput {
        run(&mut self.command(words))
    }

    /// Runs a command on the default state.
    pub(crate) fn on_state(&self, words: &[&str]) -> CommandOutput {
        self.log(&[words, &["--state", "state"]].concat())
    }
}

pub(crate) fn run(command: &mut Command) -> CommandOutput {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap_or(-1);
    CommandOutput { code, out: text(output.stdout), err: text(output.stderr) }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let done = Command::new("cp").args(["-a", "-T"]).args([from, to]).status().unwrap();
    assert!(done.success());
}
