//! Runs docs/verifying.md line by line, as a verifier without our programs would. Each independent
//! verifier accepts the record of a real run, and none accepts a changed one.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolexec_tests::{Bench, CliOutput, DocPage, Record, RequestText, skip, workspace};

/// Returns the first thing from `tests/oracles/fetch` that a block needs and that is missing.
fn missing(block: &str) -> Option<&'static str> {
    let needs = [
        "target/tools/oracles-node/node_modules",
        "target/tools/oracles-rust/debug/sigstore-verify-oracle",
        "target/tools/oracles/bin/python3",
    ];
    needs.into_iter().find(|file| block.contains(file) && !workspace().join(file).exists())
}

fn run_block(bench: &Bench, record: &Record, block: &str) -> CliOutput {
    let mut shell = bench.shell(block);
    CliOutput::of(shell.env("record", &record.path).env("id", record.id()))
}

#[test]
fn every_line_of_the_page_accepts_a_record_and_none_a_changed_one() {
    let bench = Bench::new();
    for place in ["tests", "target"] {
        symlink(workspace().join(place), bench.home().join(place)).unwrap();
    }
    let text = RequestText::python("print('ran')\nopen('/out/a.txt', 'w').write('a')\n");
    let (_, record) = bench.run_recorded(&text.output("a.txt"));
    let mut count = 0;
    for block in DocPage::open("docs/verifying.md").blocks("sh") {
        // A test downloads nothing.
        if block.trim() == "tests/oracles/fetch" {
            continue;
        }
        if let Some(file) = missing(&block) {
            skip("verifying.md", &format!("{file} is not there; tests/oracles/fetch brings it"));
            continue;
        }
        let output = run_block(&bench, &record, &block);
        assert_eq!(output.code, Some(0), "{block}\n{output:#?}");
        count += 1;
        if block.contains("keys show") {
            continue;
        }
        for line in split_block(&block) {
            assert_change_is_found(&bench, &record, &line);
        }
    }
    assert!(count >= 4, "only {count} blocks were typed");
}

/// Splits a block into parts that can each reject a record. In Sigstore's block each line can; the
/// lines of another block belong together.
fn split_block(block: &str) -> Vec<String> {
    if !block.contains("oracles") {
        return vec![block.to_owned()];
    }
    block.replace("\\\n", " ").lines().map(str::to_owned).collect()
}

/// Changes the record in a file that these lines check, and asserts that they fail.
fn assert_change_is_found(bench: &Bench, record: &Record, lines: &str) {
    let id = record.id();
    let file = match lines {
        lines if lines.contains(".bundle.json") => format!("{id}.bundle.json"),
        _ => format!("{id}.md"),
    };
    let path = record.path.join(file);
    let good = fs::read(&path).unwrap();
    fs::write(&path, changed(&path, &good)).unwrap();
    let output = run_block(bench, record, lines);
    assert_ne!(output.code, Some(0), "{lines} accepts what was changed: {output:#?}");
    fs::write(&path, good).unwrap();
}

/// Changes the outcome: as text in the Markdown, inside the base64 text in the bundle.
fn changed(path: &Path, good: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(good.to_vec()).unwrap();
    if path.extension().is_some_and(|end| end == "md") {
        return text.replacen("outcome: \"ok\"", "outcome: \"OK\"", 1).into_bytes();
    }
    let at = text.find("\"payload\":\"").unwrap() + 400;
    let mut bytes = text.into_bytes();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    bytes
}
