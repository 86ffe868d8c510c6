//! README.md's commands work, and each page's subcommands, options, scripts and files exist.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use toolexec_tests::{Bench, CliOutput, DocPage, workspace};

/// Returns every command of a page, split into words, from shell blocks and blocks indented by four
/// spaces. Each side of a pipe is one command.
fn commands(page: &DocPage) -> Vec<Vec<String>> {
    let set_in = page.text().split("\n```").step_by(2).flat_map(str::lines);
    let set_in: Vec<_> = set_in.filter_map(|line| line.strip_prefix("    ")).collect();
    let text = format!("{}\n{}", page.script(), set_in.join("\n")).replace("\\\n", " ");
    let mut commands = Vec::new();
    let text = text.replace("&&", "\n").replace("sudo -u toolexec ", "");
    for command in text.split(['\n', '|', ';']) {
        let words = command.split_whitespace().map(str::to_owned);
        let words = words.skip_while(|word| word == "$" || is_setting(word));
        commands.push(words.take_while(|word| !word.starts_with('#')).collect());
    }
    commands.retain(|words: &Vec<String>| !words.is_empty());
    commands
}

/// Returns true for `NAME=value` before a command.
fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Asserts that the help of a command contains every option.
fn check_options(words: &[String], help: &str) {
    for option in words.iter().filter(|word| word.starts_with("--")) {
        let name = option.split('=').next().unwrap();
        let known = help.split(|c: char| !c.is_alphanumeric() && c != '-').any(|it| it == name);
        assert!(known, "{words:?}: there is no {name}\n{help}");
    }
}

/// Asserts that the program has the command. Returns false if it is not one of ours.
fn check(bench: &Bench, words: &[String]) -> bool {
    match words[0].as_str() {
        "toolexec" => {
            let names = words[1..].iter().take_while(|word| is_name(word));
            // A nested command has its own help: `keys show`, `policy check`.
            let depth = if NESTED.contains(&words[1].as_str()) { 2 } else { 1 };
            let path: Vec<&str> = names.map(String::as_str).take(depth).collect();
            assert_eq!(path.len(), depth, "{words:?}");
            let output = bench.toolexec(path.iter().copied().chain(["--help"]));
            assert_eq!(output.code, Some(0), "{words:?}: {}", output.stderr);
            check_options(words, &output.stdout);
        }
        "toolexecd" => {
            let output = bench.command("toolexecd").arg("--help").output().unwrap();
            check_options(words, &String::from_utf8(output.stdout).unwrap());
        }
        "examples/run" if words[1] != "NAME" => {
            let template = format!("examples/{}/request.md.in", words[1]);
            assert!(workspace().join(&template).is_file(), "{words:?}: no {template}");
        }
        script if script.starts_with("examples/") || script.starts_with("tests/") => {
            assert!(workspace().join(script).is_file(), "{words:?}");
        }
        _ => return false,
    }
    // A path of the workspace must exist.
    for file in words.iter().filter(|word| word.starts_with("systemd/")) {
        assert!(workspace().join(file).is_file(), "{words:?}: no {file}");
    }
    true
}

#[test]
fn every_command_that_a_page_shows_exists() {
    let bench = Bench::new();
    let mut checked = 0;
    for page in DocPage::all() {
        for words in commands(&page) {
            checked += usize::from(check(&bench, &words));
        }
    }
    assert!(checked >= 60, "only {checked} commands: the search is broken");
}

/// The README has both commands. The first one is run here; the second one runs this test.
#[test]
fn the_two_commands_of_the_readme_work() {
    let bench = Bench::new();
    let examples = bench.scratch().examples();
    let blocks = DocPage::open("README.md").blocks("sh");
    assert_eq!(blocks, ["examples/run seattle-weather\n", "tests/run\n"]);
    let output = CliOutput::of(bench.shell(&blocks[0]).current_dir(examples.parent().unwrap()));
    output.assert_code(0);
    assert!(output.stdout.contains("The record verified"), "{output:#?}");
}

/// Commands that have subcommands.
const NESTED: [&str; 8] =
    ["keys", "policy", "permission", "log", "ais", "standing", "env", "fleet"];

fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
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
        "submit",
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
        "mcp",
        "completions",
        "man",
    ] {
        let output = bench.toolexec([name, "--help"]);
        output.assert_code(0);
        assert!(output.stdout.contains("Example: toolexec "), "{name}: {}", output.stdout);
    }
}

#[test]
fn unknown_commands_are_reported() {
    let output = Bench::new().toolexec(["no-such-command"]);
    output.assert_code(3);
    output.assert_stderr(&["no-such-command"]);
}
