//! Runs the pages that need only a state directory or a spool, line by line: log, keys, spool.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, CliOutput, DocPage, RequestText};

/// Runs every line of a page, with names of the page replaced by those of the test.
#[track_caller]
fn run_page(bench: &Bench, page: &DocPage, changes: &[(&str, &str)]) -> usize {
    let (mut script, page) = (page.script(), page.name());
    for (theirs, ours) in changes {
        assert!(script.contains(theirs), "{page}: {theirs} is not typed there");
        script = script.replace(theirs, ours);
    }
    let lines: Vec<_> = script.lines().filter(|line| !line.is_empty()).collect();
    for line in &lines {
        let output = CliOutput::of(&mut bench.shell(line));
        assert_eq!(output.code, Some(0), "{page}: {line}: {output:#?}");
    }
    lines.len()
}

/// Runs two requests, which leave two records.
fn with_records(bench: &Bench) -> String {
    bench.run_recorded(&RequestText::python("print('one')")).1.assert_outcome("ok");
    let (_, record) = bench.run_recorded(&RequestText::python("print('two')"));
    record.path.to_str().unwrap().to_owned()
}

#[test]
fn the_commands_of_the_log_page_work() {
    let bench = Bench::new();
    let record = with_records(&bench);
    let state = bench.state();
    let state = state.to_str().unwrap();
    let stick = bench.scratch().dir("stick");
    let stick = stick.to_str().unwrap();
    for line in [
        "toolexec keys show --key log --format verifier > host1.vkey".to_owned(),
        format!("toolexec log export {stick}/host1-log"),
    ] {
        CliOutput::of(&mut bench.shell(&line)).assert_code(0);
    }
    let typed = run_page(
        &bench,
        &DocPage::open("docs/log.md"),
        &[
            ("--spool /var/spool/toolexec", &format!("--log {state}/log")),
            ("/media/stick", stick),
            ("1200 1500", "1 2"),
            ("prove 1207", "prove 1"),
            ("~/.local/state/toolexec/results", &format!("{state}/results")),
            ("results/TS-20261122-101500Z-TR-20261122-100000Z-stats", &record),
        ],
    );
    assert!(typed >= 12, "only {typed} commands");
}

#[test]
fn the_commands_of_the_keys_page_work() {
    let bench = Bench::new();
    let typed = run_page(&bench, &DocPage::open("docs/keys.md"), &[("/run/new-keys", "new-keys")]);
    assert!(typed >= 10, "only {typed} commands");
    let made =
        ["signers", "key.pem", "log.vkey", "trusted_root.json", "log.pem", "new-keys/keys/log"];
    for file in made {
        assert!(fs::metadata(bench.home().join(file)).unwrap().len() > 0, "{file}");
    }
}

#[test]
fn the_command_of_the_spool_page_works() {
    let bench = Bench::new();
    with_records(&bench);
    let state = bench.state();
    let state = state.to_str().unwrap();
    let changes = [("/var/spool/toolexec", state), ("/var/lib/toolexec", state)];
    assert_eq!(run_page(&bench, &DocPage::open("docs/spool.md"), &changes), 2);
}

/// The example of the page is well-formed.
#[test]
fn the_command_of_the_standing_approvals_page_works() {
    let bench = Bench::new();
    let page = DocPage::open("docs/standing-approvals.md");
    let [example] = &page.blocks("markdown")[..] else { panic!("not one example") };
    fs::write(bench.home().join("SA-20260209-160501Z-means.md"), example).unwrap();
    let output = CliOutput::of(&mut bench.shell(&page.script()));
    output.assert_code(0);
    assert!(output.stdout.contains("valid standing approval"), "{output:#?}");
}
