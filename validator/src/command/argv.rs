//! What the words of a command say: which program, which files, which packages. The rules here
//! must never depend on what exists on this host.

use super::interpreter::{self, Role};
use super::words::Word;
use crate::code::Code;
use crate::packages;
use crate::paths;
use crate::report::{Report, Spot};
use crate::secrets;
use crate::text::quote;

const SHELLS: [&str; 18] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "ash",
    "rbash",
    "fish",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "cmd",
    "cmd.exe",
    "nu",
    "elvish",
    "xonsh",
];

/// Programs that run a command given in their arguments, and words that only a shell knows.
const WRAPPERS: [&str; 40] = [
    "env",
    "xargs",
    "nice",
    "timeout",
    "busybox",
    "toybox",
    "nohup",
    "setsid",
    "stdbuf",
    "sudo",
    "su",
    "doas",
    "runuser",
    "setpriv",
    "chroot",
    "unshare",
    "nsenter",
    "flock",
    "script",
    "ionice",
    "chrt",
    "taskset",
    "time",
    "strace",
    "ltrace",
    "gdb",
    "parallel",
    "watch",
    "ssh",
    "systemd-run",
    "bwrap",
    "docker",
    "podman",
    "eval",
    "exec",
    "command",
    "builtin",
    "source",
    ".",
    "catchsegv",
];

const SHELL_WORDS: [&str; 19] = [
    "if", "then", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "function",
    "select", "{", "}", "[[", "!", "cd", "export",
];

pub(crate) fn check(line: usize, words: &[Word], inputs: Option<&[&str]>, report: &mut Report) {
    let Some(first) = words.first() else { return };
    let spot = |word: &Word| Spot::new(line, word.column);
    check_name(first, spot(first), report);
    let argv: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if let Some(installer) = packages::installer(&argv) {
        let message = format!("command: {} installs packages", quote(&installer));
        let hint = "what a tool needs must be part of its runtime or a declared input";
        report.error_hint(Code::PackageInstall, spot(first), message, hint);
    }
    let roles = interpreter::roles(&argv);
    for (index, word) in words.iter().enumerate() {
        let at = spot(word);
        let role = roles.get(index).copied().unwrap_or(Role::Argument);
        check_secrets(words, index, at, report);
        if role == Role::Code {
            paths::check_code(&word.text, at, report);
            if packages::mentions_install(&word.text) {
                let message = "command: the code installs packages";
                report.error(Code::PackageInstall, at, message);
            }
            continue;
        }
        paths::check_word(&word.text, at, report);
        if let Some(inputs) = inputs {
            check_inputs(&word.text, role, at, inputs, report);
        }
    }
}

fn check_name(first: &Word, spot: Spot, report: &mut Report) {
    let text = first.text.as_str();
    if text.is_empty() {
        report.error(Code::CommandEmpty, spot, "command: its name is empty");
        return;
    }
    let lower = text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase();
    let name = lower.as_str();
    let what = if SHELLS.contains(&name) {
        "is a shell"
    } else if WRAPPERS.contains(&name) {
        "runs another command"
    } else if SHELL_WORDS.contains(&text) && !first.quoted {
        "is a word of the shell, not a program"
    } else {
        return check_spelling(text, spot, report);
    };
    let message = format!("command: {} {what}", quote(text));
    let hint = "name the interpreter or tool itself; no shell runs the line";
    report.error_hint(Code::CommandShell, spot, message, hint);
}

fn check_spelling(name: &str, spot: Spot, report: &mut Report) {
    if !name.is_ascii() {
        let message = format!("command: the name {} is not plain ASCII", quote(name));
        report.error(Code::TextConfusable, spot, message);
    }
}

fn check_secrets(words: &[Word], index: usize, spot: Spot, report: &mut Report) {
    let Some(word) = words.get(index) else { return };
    for (kind, _) in secrets::find(&word.text) {
        secrets::report(kind, spot, report);
    }
    let value = words.get(index + 1).map_or("", |next| next.text.as_str());
    if secrets::is_password_option(&word.text) && secrets::is_value(value) {
        secrets::report("password", spot, report);
    }
}

fn check_inputs(word: &str, role: Role, spot: Spot, inputs: &[&str], report: &mut Report) {
    if role == Role::Script {
        let name = paths::below_in(word).or_else(|| paths::relative(word));
        let declared = name.as_deref().is_some_and(|name| is_declared(name, inputs));
        // A host path is reported as such; there is nothing to declare.
        if !declared && (name.is_some() || !word.starts_with('/')) {
            let message = format!("command: the script {} is no declared input", quote(word));
            let hint = "add it to `inputs` with its sha256 and to `## Input Files`";
            report.error_hint(Code::CommandUndeclaredFile, spot, message, hint);
        }
        return;
    }
    for path in paths::absolute_in(word) {
        if let Some(name) = paths::below_in(path)
            && !is_declared(&name, inputs)
        {
            let message = format!("command: {} is no declared input", quote(path));
            let hint = "add it to `inputs` with its sha256 and to `## Input Files`";
            report.error_hint(Code::CommandUndeclaredFile, spot, message, hint);
        }
    }
}

/// A declared file, a folder of one, or /in itself.
fn is_declared(name: &str, inputs: &[&str]) -> bool {
    name.is_empty()
        || inputs.iter().any(|input| {
            input.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}
