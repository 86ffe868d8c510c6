//! `toolexec lint --format sarif`: the structure that review tools rely on, checked once by hand
//! against the official schema. These rules cover that part and more, and must not change.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, RequestText};

fn good() -> RequestText {
    RequestText::python("pass")
}

fn command(bench: &Bench) -> Command {
    let mut command = bench.command("toolexec");
    command.args(["lint", "--format", "sarif"]);
    command
}

fn line_of(text: &str, words: &str) -> usize {
    text.lines().position(|line| line.contains(words)).unwrap() + 1
}

/// Returns the SARIF log. Checks the properties that every log must have.
#[track_caller]
fn sarif(bench: &Bench, code: i32, files: &[&Path]) -> Value {
    let output = CliOutput::of(command(bench).args(files));
    output.assert_code(code);
    let log: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("/sarif-schema-2.1.0.json"));
    assert_eq!(log["runs"].as_array().unwrap().len(), 1, "one run for all files");
    let run = &log["runs"][0];
    assert_eq!(
        (&run["columnKind"], &run["tool"]["driver"]["name"]),
        (&"unicodeCodePoints".into(), &"toolexec".into())
    );
    assert_eq!(run["invocations"][0]["exitCode"], code);
    let mut prints = BTreeSet::new();
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        let rule = &run["tool"]["driver"]["rules"][index];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["shortDescription"]["text"].is_string());
        assert!(["error", "warning"].contains(&result["level"].as_str().unwrap()));
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        let index = usize::try_from(place["index"].as_u64().unwrap()).unwrap();
        assert_eq!(run["artifacts"][index]["location"]["uri"], place["uri"]);
        let print = result["partialFingerprints"]["codeAndLine/v1"].as_str().unwrap();
        assert!(prints.insert((place["uri"].clone().to_string(), print.to_owned())), "{result}");
    }
    run.clone()
}

fn results<'a>(run: &'a Value, code: &str) -> Vec<&'a Value> {
    run["results"].as_array().unwrap().iter().filter(|it| it["ruleId"] == code).collect()
}

#[test]
fn a_log_has_rules_places_and_fingerprints() {
    let bench = Bench::new();
    let alike = "a \u{200b} b\n".repeat(2);
    let request = good().command("python \"日本\" | sort | wc").edit("## Risk", "## Risks");
    let request = request.edit("# A test\n", &format!("# A test\n{alike}"));
    let line = line_of(&request.text(), "| sort");
    let path = bench.save(&request).path;
    let fine = bench.save(&good()).path;
    let run = sarif(&bench, 2, &[&path, &fine]);
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["artifacts"].as_array().unwrap().len(), 2);
    let pipelines = results(&run, "command.pipeline");
    let region = &pipelines[0]["locations"][0]["physicalLocation"]["region"];
    let expected = serde_json::json!({ "startLine": line, "startColumn": 13, "endColumn": 14 });
    assert_eq!(region, &expected, "characters, the end behind the last");
    let text = pipelines[0]["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("command: ") && text.contains("\nhelp: "), "{text}");
    let whole = &results(&run, "section.missing")[0]["locations"][0]["physicalLocation"];
    assert!(whole.get("region").is_none(), "{whole}");
    assert_eq!(results(&run, "text.confusable").len(), 2, "alike, but not the same");
    let rules: Vec<_> = run["tool"]["driver"]["rules"].as_array().unwrap().iter().collect();
    let ids: BTreeSet<_> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "each rule once");
    // A finding keeps its fingerprint when lines above it are added or removed.
    let print = |run: &Value| {
        results(run, "command.pipeline")[0]["partialFingerprints"]["codeAndLine/v1"].clone()
    };
    let moved = bench.scratch().file("moved.md", request.text().replace("# A test", "# A\n\ntest"));
    assert_eq!(print(&run), print(&sarif(&bench, 2, &[&moved])));
    let other = bench.scratch().file("other.md", request.text().replace("| wc", "| nl"));
    assert_ne!(print(&run), print(&sarif(&bench, 2, &[&other])));
}

#[test]
fn a_log_names_files_by_uri() {
    let bench = Bench::new();
    let absolute = bench.scratch().file("a b%#ü:.md", "none\n");
    let name = Path::new(absolute.file_name().unwrap());
    let mut command = command(&bench);
    let output = command.current_dir(bench.scratch().path());
    let output = CliOutput::of(output.args([name, absolute.as_path(), name]));
    let log: Value = serde_json::from_str(&output.stdout).unwrap();
    let artifacts = log["runs"][0]["artifacts"].as_array().unwrap();
    let uris: Vec<_> =
        artifacts.iter().map(|it| it["location"]["uri"].as_str().unwrap().to_owned()).collect();
    let relative = "a%20b%25%23%C3%BC%3A.md";
    let dir = bench.scratch().path().display().to_string();
    assert_eq!(uris, [relative.to_owned(), format!("file://{dir}/{relative}")]);
}

#[test]
fn a_log_names_files_that_could_not_be_read() {
    let bench = Bench::new();
    let bad = bench.save(&good().command("python script.py | sort")).path;
    let missing = bench.home().join("missing.md");
    let run = sarif(&bench, 3, &[&missing, &bad]);
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notifications = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!(notifications.len(), 1);
    assert_eq!(notifications[0]["level"], "error");
    let place = &notifications[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(place.as_str().unwrap().ends_with("/missing.md"), "{place}");
    assert_eq!(results(&run, "command.pipeline").len(), 1, "the rest is told");
}
