//! The pages of the documentation. A test runs each shell block, everything else that is shown
//! exists, and links have targets. Pages that no other suite covers are run here.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use toolexec_tests::{
    Bench, CliOutput, DocPage, as_both, at_a_terminal, list, skip, ssh_keygen_works, workspace,
};

/// Keys of a policy and files that look like finding codes.
const NOT_CODES: [&str; 4] =
    ["network.hosts", "approval.invoker", "approval.unasked", "result.pub"];

fn read_below(directory: &Path, texts: &mut Vec<String>) {
    for name in list(directory) {
        let path = directory.join(name);
        if path.is_dir() {
            read_below(&path, texts);
        } else {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_page_with_something_to_type_is_typed_by_a_test() {
    let mut texts = Vec::new();
    read_below(&workspace().join("tests/tests"), &mut texts);
    let mut count = 0;
    for page in DocPage::all().iter().filter(|page| !page.blocks("sh").is_empty()) {
        let opened = format!("DocPage::open(\"{}\")", page.name());
        let claimed = texts.iter().any(|text| text.contains(&opened));
        assert!(claimed, "{}: no test types its blocks", page.name());
        count += 1;
    }
    assert!(count >= 5, "only {count} pages: the search is broken");
}

#[test]
fn links_lead_somewhere() {
    for page in DocPage::all() {
        let place = workspace().join(page.name());
        for link in page.text().split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") || !file.contains('.') {
                continue;
            }
            let leads = place.parent().unwrap().join(file);
            assert!(leads.exists(), "{} links to {file}", page.name());
        }
    }
}

/// CONTRIBUTING.md: paths exist, except the recipes' fakes, and `cargo xtask` has each command.
#[test]
fn contributing_names_files_and_commands_that_exist() {
    let text = fs::read_to_string(workspace().join("CONTRIBUTING.md")).unwrap();
    let xtask = fs::read_to_string(workspace().join("xtask/src/main.rs")).unwrap();
    let (mut paths, mut commands) = (0, 0);
    for words in text.split('`').skip(1).step_by(2) {
        if let Some(command) = words.strip_prefix("cargo xtask ") {
            let name = command.split(' ').next().unwrap();
            assert!(xtask.contains(&format!("\n  {name} ")), "cargo xtask {name}");
            commands += 1;
        } else if words.contains('/') && !words.contains([' ', '<', '*']) && !words.contains("fake")
        {
            assert!(workspace().join(words).exists(), "{words}");
            paths += 1;
        }
    }
    assert!(paths > 5 && commands > 3, "{paths} paths and {commands} commands");
}

/// Runs the page up to the first verified record, and limits the time without the build.
fn a_newcomer_has_a_verified_record(bench: &Bench) {
    let page = DocPage::open("docs/getting-started.md");
    let script = ["Run one command", "Run a request"].map(|title| page.section(title).script());
    let output = CliOutput::of(&mut bench.shell(&script.concat()));
    output.assert_code(0);
    assert!(output.stdout.contains("verified: ok"), "{output:#?}");
    assert!(output.stdout.contains("{\"rows\": 3, \"mean\": 5.0}"), "{output:#?}");
    println!("getting started: first verified record after {} ms", output.elapsed.as_millis());
}

/// Types the command of the page at a terminal, and compares the screen with the page.
fn one_command_does_what_the_page_shows(bench: &Bench) {
    let page = DocPage::open("docs/getting-started.md").section("Run one command");
    CliOutput::of(&mut bench.shell(&page.script())).assert_code(0);
    let [block] = &page.blocks("console")[..] else { panic!("not one block for a terminal") };
    let (command, shown) = block.split_once('\n').unwrap();
    let test = "one_command_does_what_the_page_shows";
    let words: Vec<&str> = command.strip_prefix("$ toolexec ").unwrap().split(' ').collect();
    let Some(output) = at_a_terminal(bench, test, &[("Run it?", "y")], &words) else { return };
    output.assert_code(0);
    let known = shown.lines().map(|line| line.split('…').next().unwrap());
    let missing: Vec<_> = known.filter(|line| !output.stdout.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:?} is not in {output:#?}");
    let mean = fs::read_to_string(bench.home().join("out/mean.json")).unwrap();
    assert_eq!(mean, "{\"rows\": 3, \"mean\": 5.0}");
}

/// Runs the rest of the page, with its daemon.
fn a_newcomer_has_a_service(bench: &Bench) {
    let test = if bench.is_root() { "as_root" } else { "as_an_ordinary_user" };
    let test = format!("{test}::a_newcomer_has_a_service");
    if CliOutput::of(bench.command("id").arg("-un")).code != Some(0) {
        return skip(&test, "this user has no name, and OpenSSH refuses to work for it");
    }
    if !ssh_keygen_works(&test) {
        return;
    }
    // Job control: the page stops its daemon with it. The trap does so if a command fails.
    let ended = "set -m\ntrap 'kill %1 2> /dev/null || true' EXIT";
    let script = format!("{ended}\n{}", DocPage::open("docs/getting-started.md").script());
    let output = CliOutput::of(&mut bench.shell(&script));
    output.assert_code(0);
    assert!(output.stdout.contains("1 approval checked"), "{output:#?}");
    let log = fs::read_to_string(bench.home().join("toolexecd.log")).unwrap();
    assert!(log.contains("stopped"), "{log}");
    println!("getting started: the whole page after {} ms", output.elapsed.as_millis());
}

as_both!(
    a_newcomer_has_a_verified_record,
    one_command_does_what_the_page_shows,
    a_newcomer_has_a_service
);

/// The page is generated from the policy definitions.
#[test]
fn the_commands_of_the_policies_page_work() {
    let bench = Bench::new();
    CliOutput::of(&mut bench.shell(&DocPage::open("docs/policy.md").script())).assert_code(0);
}

/// Returns the codes that have a section in docs/rules.md.
fn codes() -> BTreeSet<String> {
    let rules = DocPage::open("docs/rules.md");
    let headings = rules.text().lines().filter_map(|line| line.strip_prefix("### `"));
    headings.map(|rest| rest.trim_end_matches('`').to_owned()).collect()
}

/// Returns the texts in backquotes outside of blocks.
fn backquoted(text: &str) -> Vec<String> {
    let lines = text.split("\n```").step_by(2).flat_map(str::lines);
    let lines = lines.filter(|line| !line.starts_with("    "));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn the_index_has_every_outcome_and_every_group_of_codes_and_no_other() {
    let page = DocPage::open("docs/faq.md");
    let first = |section: &str| -> BTreeSet<String> {
        let section = page.section(section);
        let rows = section.text().lines().filter(|line| line.starts_with("| `"));
        rows.flat_map(|row| backquoted(row.split(" | ").next().unwrap())).collect()
    };
    let schema = fs::read_to_string(workspace().join("docs/tool-result.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let outcomes = schema["properties"]["outcome"]["enum"].as_array().unwrap().iter();
    let outcomes: BTreeSet<_> = outcomes.map(|it| it.as_str().unwrap().to_owned()).collect();
    assert_eq!(first("Outcomes"), outcomes);
    let codes = codes();
    assert!(codes.len() > 80, "only {} codes: the search is broken", codes.len());
    let groups = codes.iter().map(|code| format!("{}.…", code.split('.').next().unwrap()));
    assert_eq!(first("Codes"), groups.collect());
}

/// A code on a page exists in the validator, or is of a family that other crates define.
#[test]
fn no_page_names_a_code_that_does_not_exist() {
    let codes = codes();
    let families = ["layer", "gate", "ais", "secret"];
    let groups: BTreeSet<_> = codes.iter().map(|code| code.split('.').next().unwrap()).collect();
    let mut named = 0;
    for page in DocPage::all() {
        for word in backquoted(page.text()) {
            let Some((group, rest)) = word.split_once('.') else { continue };
            let is_code = rest.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            let is_file = rest.len() < 5 || NOT_CODES.contains(&word.as_str());
            if !groups.contains(group) || families.contains(&group) || !is_code || is_file {
                continue;
            }
            assert!(codes.contains(&word), "{} names `{word}`, which is no code", page.name());
            named += 1;
        }
    }
    assert!(named > 40, "only {named} codes are named: the search is broken");
}
