//! How a test says that this host cannot run it. Must never let such a test pass without a word, or need
//! more than the standard library: the cell's own leak test has this file too.

use std::io::Write;

/// Says that this host cannot run a test, and why: in the log that the suite's runner counts and
/// prints, or else on stderr. (Never on both: in the runner they are one stream with the harness's
/// own lines, and would tear them.)
pub fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED {test}: {}\n", reason.replace('\n', " "));
    let Some(log) = std::env::var_os("TOOLEXEC_SKIP_LOG") else {
        // Straight to the stream: the harness keeps what goes through `eprintln!` if a test passes.
        return std::io::stderr().write_all(line.as_bytes()).unwrap();
    };
    let log = std::fs::OpenOptions::new().create(true).append(true).open(log);
    log.unwrap().write_all(line.as_bytes()).unwrap();
}
