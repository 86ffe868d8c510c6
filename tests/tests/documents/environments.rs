//! Types docs/environments.md. The part with packages needs uv and an index of Python packages, and
//! is left out on a host without them.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, CliOutput, DocPage, at_a_terminal, skip};

/// The variables by which a host without direct access reaches an index.
const NETWORK: [&str; 7] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
];

fn run(bench: &Bench, script: &str) -> CliOutput {
    // Last on PATH, because the directory has a Python of its own.
    let tools = toolexec_tests::workspace().join("target/tools/oracles/bin");
    let mut shell = bench.shell(&format!("PATH=$PATH:{}\n{script}", tools.display()));
    for name in NETWORK {
        if let Some(value) = std::env::var_os(name) {
            shell.env(name, value);
        }
    }
    CliOutput::of(&mut shell)
}

/// Builds the environment `tables` as the page does. If its packages cannot be fetched here, logs a
/// skip, builds one of an empty file, and returns false.
#[track_caller]
fn build(bench: &Bench, test: &str, block: &str) -> bool {
    let (lock, build) = block.trim_end().rsplit_once('\n').unwrap();
    let locked = run(bench, lock);
    if locked.code == Some(0) {
        run(bench, build).assert_code(0);
        return true;
    }
    let why = locked.stderr.lines().last().unwrap_or_default();
    skip(test, &format!("no packages of Python here: {why}"));
    let empty = bench.scratch().dir("tables");
    fs::write(empty.join("empty.py"), "").unwrap();
    run(bench, &format!("toolexec env build tables --from {}", empty.display())).assert_code(0);
    false
}

/// Types the command of a page at a terminal, and compares the screen with the page.
#[track_caller]
fn type_at_a_terminal(bench: &Bench, test: &str, page: &DocPage) {
    let [block] = &page.blocks("console")[..] else { panic!("not one block for a terminal") };
    let (command, shown) = block.split_once('\n').unwrap();
    let words: Vec<&str> = command.strip_prefix("$ toolexec ").unwrap().split(' ').collect();
    let Some(output) = at_a_terminal(bench, test, &[("Run it?", "y")], &words) else { return };
    output.assert_code(0);
    let known = shown.lines().map(|line| line.split('…').next().unwrap());
    let missing: Vec<_> = known.filter(|line| !output.stdout.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:?} is not in {output:#?}");
}

#[test]
fn the_commands_of_the_environments_page_work() {
    let test = "the_commands_of_the_environments_page_work";
    let bench = Bench::new();
    let page = DocPage::open("docs/environments.md");
    let first = page.section("Use pandas in a run");
    let [packages, files] = &first.blocks("sh")[..] else { panic!("not two blocks") };
    run(&bench, files).assert_code(0);
    if build(&bench, test, packages) {
        type_at_a_terminal(&bench, test, &first);
    }

    let daemon = bench.home().join("daemon");
    let type_section = |heading: &str| {
        let script = page.section(heading).script().replace("sudo -u toolexec ", "");
        let script = script.replace("/var/lib/toolexec", daemon.to_str().unwrap());
        let output = run(&bench, &script);
        output.assert_code(0);
        output.stdout
    };
    let drafted = type_section("Name it in a request");
    assert!(drafted.contains("x-environment: \"tables@sha256:"), "{drafted}");
    let built = type_section("Sources");
    assert!(built.contains("program      greet  bin/greet"), "{built}");
    let signed = type_section("The record of the build");
    assert!(signed.contains("(ssh-ed25519), the signature verifies"), "{signed}");
    type_section("Move it to another host");
    assert!(daemon.join("environments/names/greeting").is_file());
    type_section("Remove it");
    assert!(!bench.state().join("environments/names/greeting").exists());
    // The directories of environments are read-only, and the bench removes its files.
    CliOutput::of(bench.command("chmod").args(["-R", "u+w", "."])).assert_code(0);
}
