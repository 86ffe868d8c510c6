//! For scripts: `--format json` ends stdout with one object, and colour needs a willing terminal.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, CliOutput, RequestText};

/// Commands whose output is in a format of its own, is JSON already, or is the tool's.
const OTHER_FORMATS: [&str; 10] = [
    "exec",
    "policy show",
    "log prove",
    "ais",
    "mcp",
    "setup",
    "hook",
    "notify",
    "completions",
    "man",
];

/// Returns the commands of a help text: the names below a heading, before the options.
fn listed(help: &str) -> Vec<&str> {
    let lists = help.split("\nOptions:").next().unwrap().lines();
    let names = lists.filter_map(|line| line.strip_prefix("  ")).filter(|it| !it.starts_with(' '));
    names.filter_map(|it| it.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[test]
fn every_command_answers_programs() {
    let bench = Bench::new();
    let help = |words: &[&str]| {
        let output = bench.toolexec(words.iter().chain(&["--help"]));
        output.assert_code(0);
        output.stdout
    };
    let top = help(&[]);
    let mut count = 0;
    for name in listed(&top) {
        let own = help(&[name]);
        let below = if own.contains("Usage: toolexec ") && own.contains(" <COMMAND>\n") {
            listed(&own).iter().map(|sub| vec![name, *sub]).collect()
        } else {
            vec![vec![name]]
        };
        for words in below {
            let path = words.join(" ");
            if OTHER_FORMATS.iter().any(|it| path.starts_with(it)) {
                continue;
            }
            assert!(help(&words).contains("--format <FORMAT>"), "{path} has no --format");
            count += 1;
        }
    }
    assert!(count >= 30, "only {count} commands: the search is broken");
}

#[test]
fn a_policy_is_checked_for_programs() {
    let bench = Bench::new();
    let shown = bench.toolexec(["policy", "show", "standard"]).stdout;
    fs::write(bench.home().join("good.yaml"), &shown).unwrap();
    let bad = shown.replacen("held_sec_max:", "held_sec_most:", 1);
    fs::write(bench.home().join("bad.yaml"), bad).unwrap();
    let check = |file: &str| bench.toolexec(["policy", "check", file, "--format", "json"]);
    let output = check("good.yaml");
    output.assert_code(0);
    let answer = output.json();
    assert_eq!(
        (&answer["good"], &answer["name"]),
        (&true.into(), &"standard".into()),
        "{output:#?}"
    );
    assert_eq!(answer["sha256"].as_str().unwrap().len(), 64);
    let output = check("bad.yaml");
    output.assert_code(2);
    let answer = output.json();
    assert_eq!(answer["good"], false, "{output:#?}");
    let problems = answer["problems"].as_array().unwrap();
    let named = |it: &serde_json::Value| it["problem"].as_str().unwrap().contains("held_sec_most");
    assert!(problems.iter().any(named), "{output:#?}");
    check("none.yaml").assert_code(3);
}

#[test]
fn keys_are_made_and_changed_for_programs() {
    let bench = Bench::new();
    let keys = |words: &[&str]| {
        let output = bench.toolexec([&["keys"], words, &["--format", "json"]].concat());
        output.assert_code(0);
        assert_eq!(output.stdout.lines().count(), 1, "{output:#?}");
        output.json()
    };
    let made = keys(&["init"]);
    assert!(made["log"]["verifier"].as_str().unwrap().contains('+'), "{made:#}");
    let changed = keys(&["rotate", "--key", "result"]);
    assert_eq!(changed["key"], "result");
    assert_eq!(changed["old"], made["result"]["fingerprint"], "{changed:#}");
    assert_eq!(keys(&["init"])["result"]["fingerprint"], changed["new"]);
}

/// All coloured output: diagnostics, help, and messages about wrong arguments.
#[test]
fn colour_is_for_terminals_that_want_it() {
    let bench = Bench::new();
    let bad = RequestText::python("print()").command("python script.py | sort");
    let bad = bench.save(&bad).path.display().to_string();
    let spool = bench.scratch().dir("spool");
    fs::create_dir(spool.join("approved")).unwrap();
    let submit = format!("submit {bad} --spool {}", spool.display());
    let (lint, run) = (format!("lint {bad}"), format!("run {bad}"));
    for words in [&lint, &run, &submit, "--help", "run --help", "no-such-command"] {
        let coloured = |line: &str, set: &[(&str, &str)]| {
            let mut shell = bench.shell(line);
            let output = CliOutput::of(shell.env("TERM", "xterm").envs(set.iter().copied()));
            format!("{}{}", output.stdout, output.stderr).contains("\u{1b}[")
        };
        let at_terminal = format!("script -qec 'toolexec {words}' /dev/null");
        assert!(coloured(&at_terminal, &[]), "{words}: no colour on a terminal");
        assert!(!coloured(&at_terminal, &[("NO_COLOR", "1")]), "{words}: colour against NO_COLOR");
        let piped = format!("toolexec {words} 2>&1 | cat");
        assert!(!coloured(&piped, &[]), "{words}: colour in a pipe");
    }
}
