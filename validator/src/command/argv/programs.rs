//! Programs that a request must not name: shells, and programs that run another command. The list
//! only provides a stable code; the policy's list of runtimes decides which programs may run.

use model::{SourceSpan, quote};

use crate::code::Code;
use crate::report::Report;
use crate::shells;
use crate::table::WordTable;

use super::super::words::ShellWord;

/// Programs that run a command given in their arguments, and commands that exist only in a shell.
const WRAPPERS: WordTable = WordTable::new(&[
    ".",
    "at",
    "batch",
    "builtin",
    "busybox",
    "busybox.static",
    "bwrap",
    "catchsegv",
    "cgexec",
    "choom",
    "chpst",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "crontab",
    "dbus-run-session",
    "doas",
    "docker",
    "entr",
    "env",
    "eval",
    "exec",
    "expect",
    "fakeroot",
    "faketime",
    "firejail",
    "flock",
    "gdb",
    "gosu",
    "hyperfine",
    "ionice",
    "kubectl",
    "lldb",
    "ltrace",
    "machinectl",
    "mosh",
    "nerdctl",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "podman",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "runcon",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "source",
    "ssh",
    "sshpass",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "su-exec",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "tini",
    "tmux",
    "torsocks",
    "toybox",
    "trap",
    "unbuffer",
    "unshare",
    "valgrind",
    "watch",
    "xargs",
    "xvfb-run",
]);

/// Programs whose own files contain lines for a shell.
const BUILD_TOOLS: WordTable = WordTable::new(&["bmake", "gmake", "just", "make", "ninja"]);

const SHELL_WORDS: WordTable = WordTable::new(&[
    "!", "[[", "alias", "case", "cd", "do", "done", "elif", "else", "esac", "export", "fi", "for",
    "function", "if", "select", "set", "then", "ulimit", "umask", "unset", "until", "while", "{",
    "}",
]);

/// Checks the program name. Returns true if it runs its arguments or passes them to a shell.
pub(super) fn check_name(first: &ShellWord, spot: SourceSpan, report: &mut Report) -> bool {
    let text = first.text.as_str();
    if text.is_empty() {
        report.error(Code::CommandEmpty, spot, "command: its name is empty");
        return false;
    }
    let lower = text.rsplit(['/', '\\']).next().unwrap_or(text).to_ascii_lowercase();
    let name = lower.strip_suffix(".exe").unwrap_or(&lower);
    let (what, wraps) = if shells::is_shell(name) {
        ("is a shell", true)
    } else if WRAPPERS.has(name) {
        ("runs another command", true)
    } else if BUILD_TOOLS.has(name) {
        ("passes the lines of its file to a shell", false)
    } else if [".sh", ".bash", ".zsh", ".ps1", ".bat"].iter().any(|end| name.ends_with(end)) {
        ("is a script for a shell", false)
    } else if SHELL_WORDS.has(text) && !first.quoted {
        ("is a word of the shell, not a program", false)
    } else {
        check_spelling(text, spot, report);
        return false;
    };
    refuse_shell(&format!("{} {what}", quote(text)), spot, report);
    wraps
}

fn check_spelling(name: &str, spot: SourceSpan, report: &mut Report) {
    if !name.is_ascii() {
        let message = format!("command: the name {} is not plain ASCII", quote(name));
        report.error(Code::TextConfusable, spot, message);
    }
}

pub(super) fn refuse_shell(what: &str, spot: SourceSpan, report: &mut Report) {
    let hint = "name the interpreter or tool itself; no shell runs the line";
    report.error_hint(Code::CommandShell, spot, format!("command: {what}"), hint);
}
