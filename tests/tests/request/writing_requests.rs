//! docs/writing-requests.md against `toolexec lint` and the schema: its good examples are valid,
//! its refused examples get the code that the page names, and it covers every key of the schema.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, DocPage, workspace};

const NAME: &str = "TR-20260209-160501Z-python-stats.md";
const COMMAND: &str = "python script.py --in /in/table.csv --out /out/means.json";

fn page() -> DocPage {
    DocPage::open("docs/writing-requests.md")
}

fn whole() -> String {
    page().blocks("markdown").remove(0)
}

/// Returns the lines "- `SHOWN`: …" of a section: the example, and its code if there is one.
fn shown(section: &str) -> Vec<(String, Option<String>)> {
    let section = page().section(section);
    let items = section.text().lines().filter_map(|line| line.strip_prefix("- `"));
    let items = items.map(|item| {
        let (shown, output) = item.split_once("`: ").unwrap();
        let code = output.strip_prefix('`').map(|rest| rest.split('`').next().unwrap().to_owned());
        (shown.to_owned(), code)
    });
    items.collect()
}

fn lint(bench: &Bench, text: &str) -> Value {
    fs::write(bench.home().join(NAME), text).unwrap();
    let output = bench.toolexec(["lint", NAME, "--format", "json"]);
    let answer = output.json();
    assert_eq!(output.code, Some(if answer["valid"] == true { 0 } else { 2 }), "{output:#?}");
    answer
}

#[track_caller]
fn assert_refused(answer: &Value, code: &str, what: &str) {
    let violations = answer["violations"].as_array().unwrap();
    let named = violations.iter().any(|it| it["code"] == code && it["severity"] == "error");
    assert!(named, "{what}: no {code} in {answer:#}");
}

#[test]
fn the_whole_request_is_valid() {
    let answer = lint(&Bench::new(), &whole());
    assert_eq!(answer["valid"], true, "{answer:#}");
}

#[test]
fn each_line_of_front_matter_is_refused_as_it_says() {
    let (bench, text) = (Bench::new(), whole());
    let lines = shown("Front matter");
    for (line, code) in &lines {
        let key = line.split(':').next().unwrap();
        let there = text.lines().find(|it| it.starts_with(&format!("{key}:")));
        let changed = match there {
            Some(old) => text.replacen(old, line, 1),
            None => text.replacen("---\n", &format!("---\n{line}\n"), 1),
        };
        assert_refused(&lint(&bench, &changed), code.as_deref().unwrap(), line);
    }
    assert!(lines.len() >= 10, "only {} lines: the search is broken", lines.len());
}

#[test]
fn each_command_is_judged_as_it_says() {
    let (bench, text) = (Bench::new(), whole());
    assert!(text.contains(COMMAND));
    let (mut good, mut bad) = (0, 0);
    for (command, code) in shown("The command") {
        let answer = lint(&bench, &text.replacen(COMMAND, &command, 1));
        let Some(code) = code else {
            assert_eq!(answer["valid"], true, "{command}: {answer:#}");
            good += 1;
            continue;
        };
        assert_refused(&answer, &code, &command);
        bad += 1;
    }
    assert!(good >= 3 && bad >= 10, "{good} good and {bad} bad: the search is broken");
}

#[test]
fn every_key_of_the_schema_is_described() {
    let schema = fs::read_to_string(workspace().join("docs/tool-request.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let table = page().section("Front matter");
    for key in schema["properties"].as_object().unwrap().keys() {
        let named = table.text().lines().any(|line| {
            line.split("` |")
                .next()
                .is_some_and(|it| it.starts_with("| `") && it.split('`').any(|word| word == key))
        });
        assert!(named, "{key} has no row in docs/writing-requests.md");
    }
}

#[test]
fn what_it_has_people_type_works() {
    let bench = Bench::new();
    fs::write(bench.home().join(NAME), whole()).unwrap();
    let script = DocPage::open("docs/writing-requests.md").script();
    CliOutput::of(&mut bench.shell(&script)).assert_code(0);
}
