//! Checks a command's program, files and packages. It must never depend on files of this host.

mod exec_options;
mod files;
mod programs;

use files::DeclaredInputs;
use model::{SourceSpan, quote};

use super::interpreter::{self, RoleKind, WordRole};
use super::words::ShellWord;
use crate::code::Code;
use crate::declarations::CommandInputs;
use crate::packages;
use crate::paths;
use crate::report::Report;
use crate::secrets;

struct CommandWords<'l> {
    number: usize,
    words: &'l [ShellWord],
    argv: &'l [&'l str],
    program: &'l str,
    inputs: Option<DeclaredInputs<'l>>,
}

impl CommandWords<'_> {
    fn spot(&self, index: usize) -> SourceSpan {
        self.words.get(index).map_or(SourceSpan::new(self.number, 1), |word| word.spot(self.number))
    }
}

pub(crate) fn check(
    line: usize,
    words: &[ShellWord],
    inputs: Option<CommandInputs<'_>>,
    report: &mut Report,
) {
    let argv: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let program = interpreter::program(&argv);
    let inputs = inputs.map(DeclaredInputs::new);
    let line = CommandWords { number: line, words, argv: &argv, program: &program, inputs };
    let Some(first) = words.first() else { return };
    let wraps = programs::check_name(first, line.spot(0), report);
    check_installer(&line, wraps, report);
    for (index, message) in exec_options::exec_options(&program, &argv) {
        programs::refuse_shell(&message, line.spot(index), report);
    }
    let roles = interpreter::roles(&program, &argv);
    let mut paths_reported = 0;
    for index in 0..words.len() {
        check_secrets(words, index, line.spot(index), report);
        let part = roles.get(index).copied();
        // Limits the violations of a hostile line, which is refused already.
        if paths_reported < paths::REPORTED_PER_LINE_MAX {
            paths_reported += check_word(&line, index, part, report);
        }
    }
}

fn check_word(
    line: &CommandWords<'_>,
    index: usize,
    part: Option<WordRole>,
    report: &mut Report,
) -> usize {
    let (word, spot) = (line.argv.get(index).copied().unwrap_or(""), line.spot(index));
    let Some(WordRole { role, from }) = part else { return 0 };
    let value = word.get(from..).unwrap_or("");
    let inputs = line.inputs.as_ref();
    match role {
        RoleKind::Code => {
            check_code(line, value, spot, report);
            let reported = paths::check_code(value, spot, report);
            reported + inputs.map_or(0, |inputs| files::check_code(value, spot, inputs, report))
        }
        RoleKind::Script => {
            if let Some(inputs) = inputs {
                files::check_script(value, spot, inputs, report);
            }
            paths::check_word(word, spot, report)
        }
        RoleKind::Module => {
            if let Some(inputs) = inputs {
                files::check_module(value, spot, inputs, report);
            }
            paths::check_word(word, spot, report)
        }
        RoleKind::Argument => {
            let reported = paths::check_word(word, spot, report);
            reported + inputs.map_or(0, |inputs| files::check_word(word, spot, inputs, report))
        }
    }
}

fn check_code(line: &CommandWords<'_>, code: &str, spot: SourceSpan, report: &mut Report) {
    if packages::mentions_install(code) {
        let message = "command: the code installs packages";
        report.error_hint(Code::PackageInstall, spot, message, packages::HINT);
    }
    let family = interpreter::family(line.program);
    if family.is_some_and(|family| interpreter::starts_shell(family, code)) {
        programs::refuse_shell("the code starts a shell", spot, report);
    }
}

/// Checks for an installer as the command, or as an argument of a wrapper or a shell.
fn check_installer(line: &CommandWords<'_>, wraps: bool, report: &mut Report) {
    const WORDS_EXAMINED_MAX: usize = 16;
    let looked_at = if wraps { WORDS_EXAMINED_MAX } else { 1 };
    let found = (0..line.argv.len().min(looked_at)).find_map(|index| {
        let rest = line.argv.get(index..)?;
        packages::installer(rest.get(..rest.len().min(WORDS_EXAMINED_MAX))?)
            .map(|name| (index, name))
    });
    if let Some((index, installer)) = found {
        let message = format!("command: {} installs packages", quote(&installer));
        report.error_hint(Code::PackageInstall, line.spot(index), message, packages::HINT);
    } else if wraps && line.argv.iter().any(|word| packages::mentions_install(word)) {
        let message = "command: an argument installs packages";
        report.error_hint(Code::PackageInstall, line.spot(0), message, packages::HINT);
    }
}

fn check_secrets(words: &[ShellWord], index: usize, spot: SourceSpan, report: &mut Report) {
    let Some(word) = words.get(index) else { return };
    for found in secrets::find(&word.text) {
        secrets::report(&found, spot, report);
    }
    let value = words.get(index + 1).map_or("", |next| next.text.as_str());
    if secrets::is_password_option(&word.text) && secrets::is_value(value) {
        secrets::report_password(spot, report);
    }
}
