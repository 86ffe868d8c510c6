//! What README.md tells people to type exists: subcommands, options, scripts and files.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, workspace};

/// Every command of the blocks marked `sh`, in words; each side of a pipe is one.
fn commands() -> Vec<Vec<String>> {
    let text = fs::read_to_string(workspace().join("README.md")).expect("README.md is missing");
    let mut commands = Vec::new();
    for block in text.split("\n```sh\n").skip(1) {
        let block = block.split("\n```").next().unwrap().replace("\\\n", " ");
        for line in block.lines() {
            for command in line.replace("&&", "\n").split(['\n', '|', ';']) {
                let words = command.split_whitespace().map(str::to_owned);
                let words = words.skip_while(|word| word == "$" || is_setting(word));
                commands.push(words.take_while(|word| !word.starts_with('#')).collect());
            }
        }
    }
    commands.retain(|words: &Vec<String>| !words.is_empty());
    commands
}

/// `NAME=value` before a command.
fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// That the help of a command knows every option that is typed.
fn check_options(words: &[String], help: &str) {
    for option in words.iter().filter(|word| word.starts_with("--")) {
        let name = option.split('=').next().unwrap();
        let known = help.split(|c: char| !c.is_alphanumeric() && c != '-').any(|it| it == name);
        assert!(known, "{words:?}: there is no {name}\n{help}");
    }
}

#[test]
fn every_command_of_the_readme_exists() {
    let bench = Bench::new();
    let commands = commands();
    let mut checked = 0;
    for words in &commands {
        match words[0].as_str() {
            "toolexec" => {
                let names = words[1..].iter().take_while(|word| is_name(word));
                // A subcommand of a subcommand has its own help: `keys show`, `policy check`.
                let depth = if ["keys", "policy"].contains(&words[1].as_str()) { 2 } else { 1 };
                let path: Vec<&str> = names.map(String::as_str).take(depth).collect();
                assert_eq!(path.len(), depth, "{words:?}");
                let said = bench.toolexec(path.iter().copied().chain(["--help"]));
                assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
                check_options(words, &said.stdout);
            }
            "toolexecd" => {
                let said = bench.command("toolexecd").arg("--help").output().unwrap();
                check_options(words, &String::from_utf8(said.stdout).unwrap());
            }
            "examples/run" => {
                let template = format!("examples/{}/request.md.in", words[1]);
                assert!(workspace().join(&template).is_file(), "{words:?}: no {template}");
            }
            script if script.starts_with("examples/") || script.starts_with("tests/") => {
                assert!(workspace().join(script).is_file(), "{words:?}");
            }
            _ => continue,
        }
        // A path of the workspace must be there.
        for file in words.iter().filter(|word| word.starts_with("systemd/")) {
            assert!(workspace().join(file).is_file(), "{words:?}: no {file}");
        }
        checked += 1;
    }
    assert!(checked >= 2, "only {checked} commands: the search is broken");
    assert!(
        commands.iter().any(|words| words[0] == "tests/run"),
        "how to run the tests is not told"
    );
    assert!(commands.iter().any(|words| words[0] == "examples/run"), "how to begin is not told");
}

fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
}

#[test]
fn links_of_the_readme_lead_somewhere() {
    let text = fs::read_to_string(workspace().join("README.md")).expect("README.md is missing");
    for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        let file = link.split('#').next().unwrap();
        if !file.is_empty() && !file.contains("://") {
            assert!(workspace().join(file).exists(), "README.md links to {file}");
        }
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let bench = Bench::new();
    for name in [
        "run",
        "draft",
        "lint",
        "review",
        "explain",
        "approve",
        "reject",
        "promote",
        "verify",
        "list",
        "status",
        "show",
        "wait",
        "watch",
        "hold",
        "release",
        "cancel",
        "keys",
        "policy",
        "doctor",
        "completions",
        "man",
    ] {
        let said = bench.toolexec([name, "--help"]);
        said.assert_code(0);
        assert!(said.stdout.contains("Example: toolexec "), "{name}: {}", said.stdout);
    }
}

#[test]
fn what_is_not_built_says_so() {
    let bench = Bench::new();
    for words in [&["mcp"][..], &["help", "mcp"]] {
        let said = bench.toolexec(words);
        said.assert_code(3);
        said.assert_says(&["mcp", "not built yet"]);
    }
    let said = bench.toolexec(["no-such-command"]);
    said.assert_code(3);
    assert!(!said.stderr.contains("not built yet"), "{said:#?}");
}
