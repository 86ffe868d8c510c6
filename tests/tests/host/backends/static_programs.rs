//! Programs without a loader, for guests.

use std::process::Command;

use toolexec_tests::{Bench, skip};

/// Returns whether this host can link a program without a loader. Logs a skip if not.
pub(super) fn links_static_programs(bench: &Bench, test: &str) -> bool {
    let source = bench.scratch().file("static.c", "int main(void) { return 0; }\n");
    let mut command = Command::new("cc");
    command.args(["-static", "-o"]).arg(bench.scratch().path().join("static")).arg(source);
    let why = match command.output() {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    let help = "help: install gcc and libc6-dev";
    skip(test, &format!("cc cannot link a static program: {why}; {help}"));
    false
}
