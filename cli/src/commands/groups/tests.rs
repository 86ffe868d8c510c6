//! Tests of the help: each command is in one group and has an example, and each example parses.

use clap::{Command, CommandFactory};

use super::{GROUPS, grouped};
use crate::commands::Options;

fn command() -> Command {
    grouped(Options::command())
}

/// Collects the commands without subcommands, with their paths.
fn leaves(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let path = format!("{path} {}", sub.get_name());
        match sub.has_subcommands() {
            true => leaves(sub, &path, found),
            false => found.push((path, sub.clone())),
        }
    }
}

/// Splits a line into words as a shell does, up to a pipe, redirection or separator.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | ';' | '&') => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Returns the lines that begin with "Example:" or with the name of the program.
fn examples(help: &str) -> Vec<String> {
    let help = help.replace("\\\n", " ");
    let lines = help.lines().map(|line| line.trim().trim_start_matches("Example: ").trim());
    let lines = lines.filter_map(|line| {
        // `agent --events | toolexec gate -`
        line.split(" | ").find(|it| it.starts_with("toolexec "))
    });
    lines.filter(|line| !line.starts_with("toolexec COMMAND")).map(str::to_owned).collect()
}

#[test]
fn every_command_is_in_one_group() {
    let names: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
    let command = command();
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let count = names.iter().filter(|name| ***name == sub.get_name()).count();
        assert_eq!(count, 1, "{} is in {count} groups", sub.get_name());
    }
    assert!(names.iter().all(|name| command.find_subcommand(name).is_some()), "{names:?}");
}

#[test]
fn every_command_is_shown_with_its_description() {
    let help = command().render_help().to_string();
    for sub in command().get_subcommands().filter(|sub| sub.get_name() != "help") {
        let about = sub.get_about().unwrap().to_string();
        assert!(help.contains(&about), "{about:?} is not in\n{help}");
        assert_eq!(help.matches(&about).count(), 1, "{about:?} stands twice in\n{help}");
    }
}

#[test]
fn every_command_has_an_example_that_parses() {
    let mut found = Vec::new();
    leaves(&command(), "toolexec", &mut found);
    assert!(found.len() > 30, "only {} commands: the search is broken", found.len());
    let mut lines = examples(&command().render_help().to_string());
    let mut wrong = Vec::new();
    for (path, mut leaf) in found {
        let help = leaf.render_help().to_string();
        let examples = examples(&help);
        let own =
            examples.iter().filter(|line| format!("{line} ").starts_with(&format!("{path} ")));
        if !help.contains("Example") || own.count() == 0 {
            wrong.push(format!("{path} has no example"));
        }
        lines.extend(examples);
    }
    for line in lines {
        if let Err(error) = command().try_get_matches_from(words(&line)) {
            wrong.push(format!("{line}\n{error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Clap would wrap wider lines, which breaks example commands and leaves words alone.
#[test]
fn help_lines_fit_the_width() {
    let mut all = vec![(String::from("toolexec"), command())];
    leaves(&command(), "toolexec", &mut all);
    let mut wide = Vec::new();
    for (path, command) in all {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().filter(|line| line.chars().count() > 99);
        wide.extend(lines.map(|line| format!("{path}: {line}")));
    }
    assert!(wide.is_empty(), "{wide:#?}");
}
