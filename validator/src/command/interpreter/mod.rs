//! Finds the script and the code among the words of an interpreter's command line. It covers the
//! languages of the schema and a few filters; it must never guess about an unknown program.

mod filters;
mod options;
mod shell_calls;

pub(crate) use shell_calls::starts_shell;

pub(crate) use options::Family;
use options::{InterpreterOptions, Syntax, preloads, syntax_of};

use model::Language;

/// The role of a word for the program that receives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RoleKind {
    Argument,
    /// A file that the program runs or reads as its program.
    Script,
    /// A module, by its dotted name.
    Module,
    Code,
}

/// The role of a word, and the byte offset of the part with it: `--eval=CODE`, `-mMODULE`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordRole {
    pub(crate) role: RoleKind,
    pub(crate) from: usize,
}

const ARGUMENT: WordRole = WordRole { role: RoleKind::Argument, from: 0 };

/// Returns the program's name as used in the tables: `python3.12` and `/usr/bin/Python` are python.
pub(crate) fn program(argv: &[&str]) -> String {
    let first = argv.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    let lower = first.to_ascii_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned()
}

/// Returns the language of code on this program's command line.
pub(crate) fn family(program: &str) -> Option<Family> {
    match syntax_of(program)? {
        Syntax::Options(options) => Some(options.family),
        Syntax::Go => None,
    }
}

/// Returns the role of every word of the command; index 0 is the program itself.
pub(crate) fn roles(program: &str, argv: &[&str]) -> Vec<WordRole> {
    let mut roles = vec![ARGUMENT; argv.len()];
    match syntax_of(program) {
        Some(Syntax::Options(options)) => assign_roles(argv, options, &mut roles),
        Some(Syntax::Go) => assign_go(argv, &mut roles),
        None => {}
    }
    roles
}

fn assign_roles(argv: &[&str], options: &InterpreterOptions, roles: &mut [WordRole]) {
    let mut index = 1;
    let mut has_code = false;
    while let Some(&word) = argv.get(index) {
        if word == "-" {
            return;
        }
        if word == "--" || !word.starts_with('-') {
            let at = if word == "--" { index + 1 } else { index };
            if index == 1 && options.subcommands.contains(&word) {
                index += 1;
            } else if index == 1 && options.evaluating.contains(&word) {
                return set(roles, index + 1, RoleKind::Code, 0);
            } else {
                let program = if options.is_filter { RoleKind::Code } else { RoleKind::Script };
                if !has_code {
                    set(roles, at, program, 0);
                }
                return;
            }
            continue;
        }
        match option(word, options) {
            OptionEffect::None => index += 1,
            OptionEffect::TakesNext => index += 2,
            OptionEffect::Code(from) => {
                let at = if from == word.len() { index + 1 } else { index };
                set(roles, at, RoleKind::Code, if at == index { from } else { 0 });
                has_code = true;
                index = at + 1;
                if options.code_ends {
                    return;
                }
            }
            OptionEffect::Module(from) => {
                let at = if from == word.len() { index + 1 } else { index };
                set(roles, at, RoleKind::Module, if at == index { from } else { 0 });
                return assign_after_module(argv, at, if at == index { from } else { 0 }, roles);
            }
            OptionEffect::Runs(from) => {
                let at = if from == word.len() { index + 1 } else { index };
                let from = if at == index { from } else { 0 };
                let file = argv.get(at).and_then(|word| word.get(from..));
                // `awk -f` names its program; `node -r` and `ruby -r` may name a module.
                if options.is_filter || file.is_some_and(is_file_like) {
                    set(roles, at, RoleKind::Script, from);
                }
                has_code |= options.is_filter;
                index = at + 1;
            }
        }
    }
}

/// The effect of an option, and its value's offset; the word's length if the value is next.
enum OptionEffect {
    None,
    TakesNext,
    Code(usize),
    Module(usize),
    Runs(usize),
}

fn option(word: &str, options: &InterpreterOptions) -> OptionEffect {
    let name = word.split('=').next().unwrap_or(word);
    let value = if name.len() < word.len() { name.len() + 1 } else { word.len() };
    if options.preload.contains(&name) {
        return OptionEffect::Runs(value);
    }
    if word.starts_with("--") {
        return if options.long_code.contains(&name) {
            OptionEffect::Code(value)
        } else if options.long_valued.contains(&word) {
            OptionEffect::TakesNext
        } else {
            OptionEffect::None
        };
    }
    for (at, letter) in word.char_indices().skip(1) {
        let rest = at + letter.len_utf8();
        if options.code.contains(letter) {
            // `-pe CODE` is two options of node; for python, `-cCODE` contains the code.
            let letters = word.get(at..).unwrap_or("").chars().all(|c| options.code.contains(c));
            return OptionEffect::Code(if letters { word.len() } else { rest });
        }
        if options.module.contains(letter) {
            return OptionEffect::Module(rest);
        }
        if options.runs.contains(letter) {
            return OptionEffect::Runs(rest);
        }
        if options.valued.contains(letter) {
            return if rest < word.len() { OptionEffect::None } else { OptionEffect::TakesNext };
        }
    }
    OptionEffect::None
}

/// Assigns the role of the script or code after a standard library module that runs it.
fn assign_after_module(argv: &[&str], at: usize, from: usize, roles: &mut [WordRole]) {
    let module = argv.get(at).and_then(|word| word.get(from..)).unwrap_or("");
    let role = match module {
        "pdb" | "cProfile" | "profile" | "trace" | "runpy" | "doctest" | "py_compile" => {
            RoleKind::Script
        }
        "timeit" => RoleKind::Code,
        _ => return,
    };
    // An option may take the next word, so only a file is certain to be the script.
    for (index, word) in argv.iter().enumerate().skip(at + 1) {
        let is_it = if role == RoleKind::Code {
            !word.starts_with('-')
        } else {
            Language::Python.matches_file_name(word)
        };
        if is_it {
            set(roles, index, role, 0);
            return;
        }
    }
}

/// `go run [flags] a.go b.go args` runs the Go files, and `go vet x.go` reads them.
fn assign_go(argv: &[&str], roles: &mut [WordRole]) {
    let Some("run" | "build" | "test" | "vet" | "fmt") = argv.get(1).copied() else { return };
    let mut started = false;
    for (index, word) in argv.iter().enumerate().skip(2) {
        let source = Language::Go.matches_file_name(word) && !word.starts_with('-');
        if source {
            started = true;
            set(roles, index, RoleKind::Script, 0);
        } else if started {
            return;
        }
    }
}

/// Returns true if the value of a preloading option is certainly a file and not a module name.
fn is_file_like(word: &str) -> bool {
    let mut preloading = Language::ALL.iter().filter(|language| preloads(**language));
    word.starts_with(['.', '/'])
        || word.ends_with(".env")
        || preloading.any(|language| language.matches_file_name(word))
}

fn set(roles: &mut [WordRole], index: usize, role: RoleKind, from: usize) {
    if let Some(slot) = roles.get_mut(index) {
        *slot = WordRole { role, from };
    }
}
