//! Manual pages and completions match the help exactly, and their tools report no errors.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, list, skip};

/// A command and the content of its help.
struct CommandHelp {
    words: Vec<String>,
    commands: BTreeSet<String>,
    options: BTreeSet<String>,
}

/// Reads the help of every command, from the top level down.
fn every_command(bench: &Bench) -> Vec<CommandHelp> {
    let mut all = Vec::new();
    let mut to_ask = vec![Vec::new()];
    while let Some(words) = to_ask.pop() {
        let help = help(bench, words);
        to_ask.extend(help.commands.iter().map(|name| {
            let mut words = help.words.clone();
            words.push(name.clone());
            words
        }));
        all.push(help);
    }
    assert!(all.len() > 40, "only {} commands: the search is broken", all.len());
    all
}

fn help(bench: &Bench, words: Vec<String>) -> CommandHelp {
    let output = bench.toolexec(words.iter().map(String::as_str).chain(["--help"]));
    output.assert_code(0);
    let (mut commands, mut options, mut below) = (BTreeSet::new(), BTreeSet::new(), "");
    for line in output.stdout.lines() {
        if !line.is_empty() && !line.starts_with(' ') {
            below = line;
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        match below {
            // The top-level help has groups of commands, all of them before its options.
            _ if (below == "Commands:" || (words.is_empty() && options.is_empty()))
                && below.ends_with(':')
                && below != "Options:"
                && line.starts_with("  ")
                && !line.starts_with("   ")
                && first != "help" =>
            {
                commands.insert(first.to_owned());
            }
            // Values of an option are indented further.
            "Options:" if first.starts_with('-') && !line.starts_with("       ") => {
                let long = line.split_whitespace().find(|word| word.starts_with("--")).unwrap();
                let long = long.split(['=', '.']).next().unwrap().trim_end_matches(',');
                options.insert(long.to_owned());
            }
            _ => {}
        }
    }
    assert!(options.contains("--help"), "{words:?}: {}", output.stdout);
    CommandHelp { words, commands, options }
}

impl CommandHelp {
    /// Returns the name of its manual page.
    fn page(&self) -> String {
        let words = ["toolexec"].into_iter().chain(self.words.iter().map(String::as_str));
        format!("{}.1", words.collect::<Vec<_>>().join("-"))
    }
}

/// Writes all pages to a directory of the bench.
fn pages(bench: &Bench) -> (PathBuf, Vec<String>) {
    let dir = bench.home().join("man1");
    let output = bench.toolexec(["man", "--dir", dir.to_str().unwrap()]);
    output.assert_code(0);
    let names = list(&dir);
    (dir, names)
}

/// Returns the words that begin with two hyphens.
fn options_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned).collect()
}

#[test]
fn each_command_has_a_page_with_its_options_and_commands_and_there_is_no_other_page() {
    let bench = Bench::new();
    let (dir, names) = pages(&bench);
    let commands = every_command(&bench);
    let wanted: BTreeSet<String> = commands.iter().map(CommandHelp::page).collect();
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), wanted);
    for help in &commands {
        let text = fs::read_to_string(dir.join(help.page())).unwrap().replace("\\-", "-");
        let options: &str = text.split(".SH OPTIONS").nth(1).unwrap();
        let options = options.split(".SH ").next().unwrap();
        let heads = options.lines().filter(|line| line.starts_with("\\fB-"));
        // A font escape precedes an option.
        let documented: BTreeSet<String> =
            heads.flat_map(|line| options_in(&line.replace("\\fB", " "))).collect();
        assert_eq!(documented, help.options, "{}", help.page());
        for command in &help.commands {
            let name = format!("{}-{command}(1)", help.page().trim_end_matches(".1"));
            assert!(text.contains(&name), "{} does not name {name}", help.page());
        }
    }
}

#[test]
fn readers_of_manual_pages_find_no_fault_with_them() {
    let test = "readers_of_manual_pages_find_no_fault_with_them";
    let bench = Bench::new();
    let (dir, names) = pages(&bench);
    let readers = [
        ("groff", &["-ww", "-man", "-Tutf8", "-k", "-z"][..]),
        ("mandoc", &["-T", "lint", "-W", "error"]),
    ];
    for (reader, words) in readers {
        if Command::new(reader).arg("-v").output().is_err() {
            skip(test, &format!("{reader} is not here"));
            continue;
        }
        for name in &names {
            let output = CliOutput::of(bench.command(reader).args(words).arg(dir.join(name)));
            assert_eq!(
                (output.code, output.stderr.as_str(), output.stdout.as_str()),
                (Some(0), "", ""),
                "{name}"
            );
        }
    }
}

#[test]
fn the_page_of_the_whole_program_is_printed() {
    let bench = Bench::new();
    let (dir, _) = pages(&bench);
    let output = bench.toolexec(["man"]);
    output.assert_code(0);
    assert_eq!(output.stdout, fs::read_to_string(dir.join("toolexec.1")).unwrap());
}

/// Returns the completions that bash offers for the last word of each line.
fn completed(bench: &Bench, lines: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let script = bench.scratch().path().join("toolexec.bash");
    let output = bench.toolexec(["completions", "bash"]);
    output.assert_code(0);
    fs::write(&script, output.stdout).unwrap();
    let ask = r#"
        . "$1"; shift
        complete -p toolexec >/dev/null || exit 9
        for line; do
            IFS=' ' read -r -a COMP_WORDS <<<"$line"
            case $line in *' ') COMP_WORDS+=('') ;; esac
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
            _toolexec toolexec "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s' "$line"; printf '\t%s' "${COMPREPLY[@]}"; printf '\n'
        done"#;
    let output = CliOutput::of(
        bench.command("bash").args(["--norc", "-c", ask, "bash"]).arg(script).args(lines),
    );
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let rows = output.stdout.lines().map(|row| {
        let mut words = row.split('\t').map(str::to_owned);
        (words.next().unwrap(), words.collect())
    });
    rows.collect()
}

#[test]
fn bash_completes_every_command_and_every_option() {
    let bench = Bench::new();
    let commands = every_command(&bench);
    let line = |help: &CommandHelp, last: &str| {
        format!("toolexec {} {last}", help.words.join(" ")).replace("  ", " ")
    };
    let lines: Vec<String> =
        commands.iter().flat_map(|help| [line(help, "--"), line(help, "")]).collect();
    let offered = completed(&bench, &lines);
    for help in &commands {
        let options = &offered[&line(help, "--")];
        assert_eq!(options, &help.options, "{}", line(help, "--"));
        let missing: Vec<_> = help.commands.difference(&offered[&line(help, "")]).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", line(help, ""));
    }
    let keys = completed(&bench, &["toolexec keys show --format ".to_owned()]);
    assert!(keys["toolexec keys show --format "].contains("trusted-root"), "{keys:?}");
}

#[test]
fn zsh_and_fish_are_given_every_option() {
    let bench = Bench::new();
    let commands = every_command(&bench);
    for (shell, mark) in [("zsh", "--"), ("fish", "-l ")] {
        let output = bench.toolexec(["completions", shell]);
        output.assert_code(0);
        for help in &commands {
            for option in &help.options {
                let wanted = format!("{mark}{}", option.trim_start_matches("--"));
                assert!(
                    output.stdout.contains(&wanted),
                    "{shell}: {:?} has no {wanted}",
                    help.words
                );
            }
        }
        // If the shell is installed, it checks its own script.
        let file = bench.scratch().file(shell, &output.stdout);
        if let Ok(read) = Command::new(shell).arg("-n").arg(&file).output() {
            assert!(read.status.success(), "{read:?}");
        }
    }
}
