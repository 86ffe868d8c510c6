//! The restrictions of the console's process, from a trace of its system calls and from the kernel.

use std::fs;
use std::process::Command;

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, skip};

use super::exchange::{get, post};
use super::scene::ConsoleScene;

/// Returns the calls after the last restriction.
fn confined_calls(trace: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = trace.lines().collect();
    let at = lines.iter().rposition(|line| line.contains("seccomp(") && line.contains("= 0"))?;
    let has_landlock = lines[..at].iter().any(|line| line.contains("landlock_restrict_self("));
    has_landlock.then(|| lines[at + 1..].to_vec())
}

#[test]
fn it_gives_up_every_right_that_serving_does_not_need() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    // The kernel accepts connections before the process is confined; an answer comes after.
    scene.console.assert_answers();
    let status = fs::read_to_string(format!("/proc/{}/status", scene.console.pid())).unwrap();
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
        assert!(status.contains(line), "{line} is not in {status}");
    }
    let log = scene.console.log();
    let assets = fs::read(toolexec_tests::workspace().join("console/assets/console.js")).unwrap();
    let script = bench.scratch().file("console.js", assets);
    let digest = CliOutput::of(bench.command("sha256sum").arg(script)).stdout;
    assert!(log.contains(&digest[..64]), "the digest of the script is not in {log}");
}

#[test]
fn it_reads_the_spool_and_writes_signed_actions_alone() {
    let test = "it_reads_the_spool_and_writes_signed_actions_alone";
    if Command::new("strace").arg("-V").output().is_err() {
        return skip(test, "strace is not installed; tests/prepare installs it");
    }
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let id = scene.draft_that_prints("here").id;
    let trace = bench.scratch().path().join("trace");
    let console = scene.traced_console(&trace);
    for path in ["/", &format!("/requests/{id}"), "/standing", "/results", "/log", "/enrol"] {
        assert_eq!(get(console.port, path).status, 200, "{path}");
    }
    // The policy lists the origin of the first console only.
    let chosen = json!({ "action": "reject", "ids": [id] }).to_string();
    let prepared = post(scene.console.port, "/prepare", &chosen);
    // An SSH signature of the right form that counts for nothing.
    let header = prepared.json()["header"].as_str().unwrap().to_owned();
    let signature = scene.signature_of_a_stranger("reject.tool-exec@threegate", "other text");
    let body = json!({ "prepared": header, "signature": signature }).to_string();
    let delivered = post(console.port, "/actions", &body);
    assert_eq!(delivered.status, 200, "{delivered:?}");
    let log = console.log();
    drop(console);

    let read = || fs::read_to_string(&trace).unwrap();
    scene.service.wait_for("the end of the trace", |_| read().contains("+++ killed by SIGKILL"));
    let trace = read();
    let Some(calls) = confined_calls(&trace) else {
        assert!(log.contains("this kernel has no Landlock"), "not confined: {log}\n{trace}");
        return skip(test, "this kernel has no Landlock");
    };
    let (spool, mut written) = (scene.service.spool(), 0);
    let spool = spool.to_str().unwrap();
    for call in &calls {
        assert!(!call.contains("execve"), "{call}");
        // Its one socket existed before.
        assert!(!call.contains(" socket(") && !call.contains(" connect("), "{call}");
        if !call.contains("open") || call.contains("= -1") {
            continue;
        }
        let Some(path) = call.split('"').nth(1) else { continue };
        // Other paths are relative to a directory of the spool.
        let is_shown = path.starts_with(spool) || path.ends_with("/allowed_signers");
        assert!(is_shown || !path.starts_with('/'), "{path} was opened: {call}");
        if ["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|flag| call.contains(flag)) {
            let name = path.rsplit('/').next().unwrap();
            let expected = name.starts_with('.') || name.ends_with(".action");
            assert!(expected, "{path} was written: {call}");
            written += 1;
        }
    }
    assert_eq!(written, 1, "{calls:#?}");
}
