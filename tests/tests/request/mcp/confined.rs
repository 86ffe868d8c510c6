//! The files that the server opens, from a trace of its system calls, and its remaining rights.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolexec_tests::{Bench, skip};

use super::agent::{McpTestClient, empty_spool, good, python};

/// Returns the paths opened after the server restricted itself, writable or not, and if it did.
fn opened(trace: &str) -> (Vec<(String, bool)>, bool) {
    let mut all = Vec::new();
    let mut confined = false;
    for line in trace.lines() {
        if line.contains("landlock_restrict_self(") && line.ends_with("= 0") {
            confined = true;
            all.clear();
        }
        let (Some(call), Some(path)) = (line.split('(').next(), line.split('"').nth(1)) else {
            continue;
        };
        let writes =
            ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|it| line.contains(it));
        let makes = ["mkdir", "rename", "unlink", "rmdir", "link", "mknod", "chmod", "chown"];
        let makes = makes.iter().any(|it| call.contains(it)) && !call.contains("readlink");
        if call.contains("open") || makes {
            all.push((path.to_owned(), writes || makes));
        }
    }
    (all, confined)
}

#[test]
fn it_writes_drafts_and_reads_results_and_public_alone() {
    let test = "it_writes_drafts_and_reads_results_and_public_alone";
    let Some(python) = python(test) else { return };
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        return skip(test, "strace is not installed; tests/prepare installs it");
    }
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let policy = bench.toolexec(["policy", "show", "standard"]).stdout;
    let policy = bench.scratch().file("policy.yaml", policy);
    let trace = bench.scratch().path().join("trace");
    let program = bench.scratch().path().join("bin/toolexec");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let calls = "trace=open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,\
                 unlinkat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmodat,chown,\
                 fchownat,execve,connect,landlock_create_ruleset,landlock_restrict_self";
    let server = ["strace", "-f", "-qq", "-y", "-e", calls, "-o", &text(&trace), &text(&program)];
    let (spool_text, policy) = (text(&spool), text(&policy));
    let mut server = server.to_vec();
    server.extend(["mcp", "--spool", &spool_text, "--policy", &policy]);
    server.extend(["--agent", "core", "--subject", "wf-1"]);
    let mut agent = McpTestClient::start_command(&python, &server);
    let written = agent.call("draft_tool_request", good());
    let id = written.assert_good().structured["request_id"].clone();
    agent.call("request_status", json!({ "id": id })).assert_good();
    let waited = agent.call("wait_for_result", json!({ "id": id, "timeout_sec": 1 }));
    assert_eq!(waited.assert_good().structured["timed_out"], true);
    assert!(!waited.progress.is_empty(), "{waited:#?}");
    agent.call("read_result", json!({ "id": id })).assert_refused(&["no record yet"]);
    agent.call("list_runtimes", json!({})).assert_good();
    agent.call("check_permission", json!({ "language": "python" })).assert_good();
    agent.call("lint_tool_request", json!({ "text": "---\nrequest_type: tool_request\n---\n" }));
    agent.request(&json!({"list": "resources"}));
    agent.disconnect();

    let trace = fs::read_to_string(trace).unwrap();
    assert!(!trace.contains("/approved"), "{trace}");
    assert!(!trace.contains("connect("), "{trace}");
    let (opened, confined) = opened(&trace);
    let asks_landlock = |line: &&str| line.contains("LANDLOCK_CREATE_RULESET_VERSION");
    let answer = trace.lines().find(asks_landlock).expect("the server never asked for Landlock");
    let has_landlock = !answer.contains("= -1");
    assert_eq!(confined, has_landlock, "{trace}");
    let within = |path: &str, part: &str| Path::new(path).starts_with(spool.join(part));
    let mut written = 0;
    for (path, writes) in &opened {
        // Relative names are below an open directory, which strace prints before them.
        let absolute = path.starts_with('/');
        if *writes {
            let hidden = path.starts_with(".TR-") || path.starts_with("TR-") || !path.contains('/');
            assert!(within(path, "drafts") || (!absolute && hidden), "{path} was written");
            written += 1;
        } else if absolute && confined {
            let may = ["drafts", "results", "public"].iter().any(|part| within(path, part));
            assert!(may, "{path} was opened");
        }
    }
    assert!(written > 3, "the search is broken: {opened:?}");
}
