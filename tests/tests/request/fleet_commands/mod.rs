//! The commands about a fleet, with a program in place of `toolexec-fleet` that notes what it is
//! asked and answers what the test says. So these tests are about `toolexec` alone.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod hosts;
mod requests;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput};

const URL: &str = "postgres://alice@db.example/toolexec";
const FLEET_ID: &str = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";
const NAMESPACE: &str = "fleet.tool-exec@threegate";
const REQUEST: &str = "TR-20260209-160501Z-python-stats";

/// Notes each command as a line of `commands`, keeps a copy of the directory that it names, and
/// prints the answers of the file with its number.
const FAKE: &str = r#"#!/bin/sh
[ "$1" = command ] || exit 3
cd "DIRECTORY" || exit 3
read -r line
printf '%s\n' "$line" >> commands
directory=$(printf '%s' "$line" | sed -n 's/.*"directory":"\([^"]*\)".*/\1/p')
[ -z "$directory" ] || cp -r "$directory" submitted
cat "answers.$(wc -l < commands)" || exit 3
"#;

/// A bench whose `toolexec` finds the fake program beside it.
struct FleetBench {
    bench: Bench,
    directory: PathBuf,
}

impl FleetBench {
    /// Prepares the answers to each command, in turn.
    fn new(answers: &[&[Value]]) -> Self {
        let bench = Bench::new();
        let directory = bench.scratch().dir("fake");
        for (number, answers) in (1..).zip(answers) {
            let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
            fs::write(directory.join(format!("answers.{number}")), lines).unwrap();
        }
        let program = bench.scratch().path().join("bin/toolexec-fleet");
        // It may be a link to the real program.
        fs::remove_file(&program).unwrap_or_default();
        fs::write(&program, FAKE.replace("DIRECTORY", directory.to_str().unwrap())).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        Self { bench, directory }
    }

    fn run(&self, words: &[&str]) -> CliOutput {
        self.bench.toolexec(words)
    }

    /// Returns the commands so far.
    fn commands(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.directory.join("commands")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn request(id: &str, state: &str) -> Value {
    json!({ "request": {
        "request": id,
        "document_sha256": "ab".repeat(32),
        "audience": "gpu",
        "state": state,
        "submitted_by": "alice",
        "submitted_utc": "2026-02-09T16:05:02Z",
        "host": null,
        "result": null,
        "outcome": null,
        "exit_code": null,
    }})
}

fn ended(id: &str, outcome: &str, exit_code: i32) -> Value {
    let mut answer = request(id, "ended");
    answer["request"]["host"] = "host-a".into();
    answer["request"]["result"] = format!("TS-20260209-161030Z-{id}").into();
    answer["request"]["outcome"] = outcome.into();
    answer["request"]["exit_code"] = exit_code.into();
    answer
}

fn status() -> Value {
    json!({ "status": {
        "fleet": "farm",
        "fleet_id": FLEET_ID,
        "requests": [["queued", 12], ["ended", 400]],
        "hosts": [{
            "host": "host-a",
            "labels": ["gpu"],
            "beat_age_sec": 2.25,
            "claimed": 3,
            "started": 1,
            "log_size": 412,
            "witnesses": ["host-b"],
            "disputes": [],
        }],
        "defects": [],
    }})
}
