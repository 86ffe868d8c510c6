//! A section of docs/environments.md, typed as a user types it. Its first block writes the files of
//! the example, the others prepare the environment, and the block for a terminal runs the tool. It
//! must never change a command, except that `exec` runs without its question.

use std::collections::VecDeque;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolexec_tests::{Bench, CliOutput, DocPage, skip};

use crate::environments::folder_scene::unasked_policy;

/// The variables by which a host without direct access reaches indexes, registries and mirrors.
const NETWORK: [&str; 13] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PIP_INDEX_URL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "npm_config_registry",
];
const EXEC: &str = "toolexec exec ";
/// A question at the terminal, which `exec --yes` does not ask.
const QUESTION: &str = "? [y/N";

pub(super) struct WalkedSection<'a> {
    bench: &'a Bench,
    heading: &'static str,
    blocks: VecDeque<String>,
    terminal: String,
    policy: PathBuf,
    programs: Option<PathBuf>,
    variables: Vec<(&'static str, PathBuf)>,
    commands: usize,
    time: Duration,
}

impl<'a> WalkedSection<'a> {
    #[track_caller]
    pub(super) fn of(bench: &'a Bench, heading: &'static str) -> Self {
        let section = DocPage::open("docs/environments.md").section(heading);
        let [terminal] = &section.blocks("console")[..] else {
            panic!("{heading}: not one block for a terminal")
        };
        Self {
            bench,
            heading,
            blocks: section.blocks("sh").into(),
            terminal: terminal.clone(),
            policy: unasked_policy(bench),
            programs: None,
            variables: Vec::new(),
            commands: 0,
            time: Duration::ZERO,
        }
    }

    /// Puts a directory of programs first on PATH.
    pub(super) fn add_programs(&mut self, directory: &Path) {
        self.programs = Some(directory.to_owned());
    }

    pub(super) fn set(&mut self, name: &'static str, value: impl Into<PathBuf>) {
        self.variables.push((name, value.into()));
    }

    /// Types the first block, which writes the files of the example.
    #[track_caller]
    pub(super) fn write_files(&mut self) {
        let block = self.next_block();
        self.shell(&block).assert_code(0);
    }

    /// Returns whether these commands work. Otherwise logs a skip.
    #[must_use]
    pub(super) fn can(&self, test: &str, commands: &str) -> bool {
        self.succeeded(test, &self.shell(commands))
    }

    /// Types the next block. Logs a skip and returns false if this host lacks what it needs.
    #[must_use]
    #[track_caller]
    pub(super) fn type_if_possible(&mut self, test: &str) -> bool {
        let output = self.type_block();
        self.succeeded(test, &output)
    }

    /// Types the next block.
    #[track_caller]
    pub(super) fn type_block(&mut self) -> CliOutput {
        let block = self.next_block();
        self.typed(&block)
    }

    /// Copies files of another user's walk, and imports its environment. Only the run remains.
    #[track_caller]
    pub(super) fn take_over(&mut self, other: &Bench, names: &[&str]) {
        self.blocks.clear();
        // The state directory of a user is private.
        for directory in other.state().ancestors().take(3) {
            fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
        }
        for name in names {
            let copy = format!("cp -r {} .", other.home().join(name).display());
            self.shell(&copy).assert_code(0);
        }
        let store = other.state().join("environments");
        self.shell(&format!("toolexec env import {}", store.display())).assert_code(0);
    }

    /// Types the command at the terminal, compares the rest of the screen with the page, and prints
    /// the number of commands and the seconds of the walk.
    #[track_caller]
    pub(super) fn run(&mut self) {
        assert!(self.blocks.is_empty(), "{}: {:?} is not typed", self.heading, self.blocks);
        let terminal = self.terminal.clone();
        let (command, screen) = command_and_screen(&terminal);
        assert!(command.starts_with(EXEC), "{command}");
        let unasked = format!("{EXEC}--yes --policy {} ", self.policy.display());
        let output = self.typed(&command.replacen(EXEC, &unasked, 1));
        output.assert_code(0);
        let is_shown = |line: &str| output.stdout.contains(line) || output.stderr.contains(line);
        let missing: Vec<_> = screen.into_iter().filter(|line| !is_shown(line)).collect();
        assert!(missing.is_empty(), "{missing:?} is not in {output:#?}");
        let user = if self.bench.is_root() { "root" } else { "an ordinary user" };
        let (commands, seconds) = (self.commands, self.time.as_secs_f64());
        println!("walk: {}, as {user}: {commands} commands, {seconds:.1} s", self.heading);
    }

    #[track_caller]
    fn next_block(&mut self) -> String {
        self.blocks.pop_front().unwrap_or_else(|| panic!("{}: no more blocks", self.heading))
    }

    fn typed(&mut self, block: &str) -> CliOutput {
        let output = self.shell(block);
        self.commands += count_commands(block);
        self.time += output.elapsed;
        output
    }

    fn succeeded(&self, test: &str, output: &CliOutput) -> bool {
        let succeeded = output.code == Some(0);
        if !succeeded {
            let why = output.stderr.trim_end().lines().last().unwrap_or("it failed without a word");
            skip(test, &format!("{}: not possible here: {why}", self.heading));
        }
        succeeded
    }

    fn shell(&self, script: &str) -> CliOutput {
        let path = self.programs.as_ref().map(|it| format!("PATH={}:$PATH\n", it.display()));
        let mut shell = self.bench.shell(&format!("{}{script}", path.unwrap_or_default()));
        for name in NETWORK {
            if let Some(value) = std::env::var_os(name) {
                shell.env(name, value);
            }
        }
        for (name, value) in &self.variables {
            shell.env(name, value);
        }
        CliOutput::of(&mut shell)
    }
}

/// Splits a block for a terminal into its command and the known beginnings of the lines after it.
fn command_and_screen(block: &str) -> (String, Vec<&str>) {
    let text = block.strip_prefix("$ ").unwrap();
    let length = text.lines().take_while(|line| line.ends_with('\\')).count() + 1;
    let command: Vec<&str> = text.lines().take(length).collect();
    let shown = text.lines().skip(length).filter(|line| !line.contains(QUESTION));
    (command.join("\n"), shown.map(|line| line.split('…').next().unwrap()).collect())
}

/// Counts the commands of a block. A loop, a continued line and a command with its text are one.
fn count_commands(block: &str) -> usize {
    let (mut count, mut text_end, mut is_continued) = (0, None, false);
    for line in block.lines() {
        if text_end.is_some() {
            text_end = text_end.filter(|end| *end != line);
            continue;
        }
        let is_part = is_continued || matches!(line, "" | "done") || line.starts_with(' ');
        count += usize::from(!is_part);
        is_continued = line.ends_with('\\');
        let quoted = line.split_once("<<'").and_then(|(_, rest)| rest.split_once('\''));
        text_end = quoted.map(|(end, _)| end);
    }
    count
}

#[test]
fn a_command_with_its_text_counts_once() {
    let block = "cat > a <<'END'\nfirst\nsecond\nEND\n\nfor b in c; do\n    cat $b\ndone\n\
                 cp a \\\nb\nls\n";
    assert_eq!(count_commands(block), 4);
}
