//! A spool without a daemon, and `toolexec notify` beside it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, RequestText, SavedRequest};

use super::receiver::SECRET;

/// A spool whose files the test writes.
pub(super) struct EventSpool<'a> {
    pub(super) bench: &'a Bench,
    pub(super) path: PathBuf,
}

impl<'a> EventSpool<'a> {
    pub(super) fn new(bench: &'a Bench) -> Self {
        let path = bench.scratch().dir("spool");
        for part in ["approved", "drafts", "results", "public/held"] {
            fs::create_dir_all(path.join(part)).unwrap();
        }
        Self { bench, path }
    }

    pub(super) fn draft(&self, request: &RequestText) -> SavedRequest {
        request.save(&self.path.join("drafts"))
    }

    pub(super) fn hold(&self, id: &str) {
        let held = json!({
            "since_utc": "2026-02-09T16:05:01Z", "until_utc": "2026-02-10T16:05:01Z",
            "waits_for": [{ "code": "approval.missing", "message": "a secret message" }],
        });
        let file = self.path.join(format!("public/held/{id}.md.json"));
        fs::write(file, held.to_string()).unwrap();
    }

    /// Publishes the part of a record that is read.
    pub(super) fn publish(&self, stamp: &str, id: &str, outcome: &str) {
        let result = format!("TS-{stamp}-{id}");
        let hidden = self.path.join("results").join(format!(".new-{result}"));
        fs::create_dir(&hidden).unwrap();
        let text = format!(
            "---\nresult_id: \"{result}\"\nrequest_id: \"{id}\"\noutcome: \"{outcome}\"\n---\n"
        );
        fs::write(hidden.join(format!("{result}.md")), text).unwrap();
        fs::rename(hidden, self.path.join("results").join(result)).unwrap();
    }

    /// Writes the status of a daemon whose process is the test itself.
    pub(super) fn write_status(&self, admission_stopped: Option<&str>) {
        let read = |path: &str| fs::read_to_string(path).unwrap();
        let status = json!({
            "process": {
                "pid": std::process::id(),
                "boot_id": read("/proc/sys/kernel/random/boot_id").trim_end(),
                "pid_namespace": fs::read_link("/proc/self/ns/pid").unwrap(),
            },
            "version": "0.1.0", "started_utc": "2026-02-09T16:00:00Z",
            "at_utc": "2026-02-09T16:00:01Z", "state": "serving", "reason": null,
            "admission_stopped": admission_stopped,
            "counts": { "waiting": 0, "held": 0, "claimed": 0, "staging": 0, "running": 0,
                        "publishing": 0 },
            "runs_max": 1, "memory_bytes_reserved": 0, "memory_bytes_max": null,
            "policy": { "name": "p", "sha256": "0".repeat(64) },
        });
        let new = self.path.join("public/.new-status.json");
        fs::write(&new, status.to_string()).unwrap();
        fs::rename(new, self.path.join("public/status.json")).unwrap();
    }
}

/// A running `toolexec notify`. It is killed at the end.
pub(super) struct NotifyProcess {
    child: Child,
    log: PathBuf,
}

/// Writes the address to a file that only its owner can read.
pub(super) fn address_file(bench: &Bench, url: &str) -> PathBuf {
    let file = bench.home().join("notify.url");
    fs::write(&file, format!("{url}\n")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

impl NotifyProcess {
    /// Starts the program with its state in the user's home, and waits until it watches.
    pub(super) fn start(bench: &Bench, spool: &Path, url: &str, options: &[&str]) -> Self {
        let file = address_file(bench, url);
        let log = bench.home().join("notify.log");
        let mut command = bench.command("toolexec");
        command.args(["notify", "--state", "notify.state", "--spool"]).arg(spool);
        command.arg("--to-file").arg(file).args(options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log).unwrap());
        let process = Self { child: command.spawn().unwrap(), log };
        process.wait_for_message("notify: watching");
        process
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its messages. The address must not be among them.
    #[track_caller]
    pub(super) fn log(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap();
        assert!(!log.contains(SECRET) && !log.contains("127.0.0.1"), "{log}");
        log
    }

    /// Waits until the first look has taken the present results as old ones.
    #[track_caller]
    pub(super) fn wait_for_state(&self, bench: &Bench) {
        let (state, begun) = (bench.home().join("notify.state"), Instant::now());
        while !state.exists() {
            assert!(begun.elapsed() < Duration::from_secs(30), "no state: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub(super) fn wait_for_message(&self, message: &str) {
        let begun = Instant::now();
        while !self.log().contains(message) {
            assert!(begun.elapsed() < Duration::from_secs(30), "no {message}: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for NotifyProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Runs `toolexec notify --once` without a state.
pub(super) fn notify_once(spool: &EventSpool<'_>, url: &str, options: &[&str]) -> CliOutput {
    let mut command = spool.bench.command("toolexec");
    command.args(["notify", "--once", "--spool"]).arg(&spool.path);
    command.arg("--to-file").arg(address_file(spool.bench, url)).args(options);
    CliOutput::of(&mut command)
}
