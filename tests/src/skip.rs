//! Skipping of tests that this host cannot run. Must never let such a test pass silently. Must use
//! only the standard library: the tests of other crates include this file.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "it is public in one crate only; a test that cannot report its skip must fail"
)]

use std::io::Write;

/// Reports that this host cannot run a test, and the reason. Writes to the log that the suite's
/// runner counts and prints, or to stderr without such a log. Never writes to both: in the runner
/// they are one stream, and the line would break the harness's own lines.
pub fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED {test}: {}\n", reason.replace('\n', " "));
    let Some(log) = std::env::var_os("TOOLEXEC_SKIP_LOG") else {
        // Written directly: the harness captures `eprintln!` and drops it if the test passes.
        return std::io::stderr().write_all(line.as_bytes()).unwrap();
    };
    let log = std::fs::OpenOptions::new().create(true).append(true).open(log);
    log.unwrap().write_all(line.as_bytes()).unwrap();
}
