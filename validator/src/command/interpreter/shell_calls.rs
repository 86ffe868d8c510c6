//! Detects code on the command line that certainly starts a shell: by a call that always does, or
//! by a call that starts programs together with a shell's name in quotes. The sandbox confines any
//! other program that code starts. Strings count like calls: code can run its own strings, so a
//! `print("os.system(x)")` belongs in a script in a declared file.

use super::{Family, filters};
use crate::shells;

/// The patterns by which code of one language starts a shell. The code is searched without spaces
/// around punctuation. A pattern matches only if it is not the end of a longer name.
struct ShellPatterns {
    /// Names or calls that always run a shell.
    always: &'static [&'static str],
    /// Names that start programs; with a shell's name in quotes they run a shell.
    spawn_calls: &'static [&'static str],
    /// Options that make any of the launching calls use a shell.
    option: &'static [&'static str],
    /// True if the language runs the text between backquotes.
    backquotes: bool,
}

const PYTHON: ShellPatterns = ShellPatterns {
    always: &[
        "os.system",
        "os.popen",
        "posix.system",
        "pty.spawn",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "create_subprocess_shell",
        "getattr(os,'system'",
        "getattr(os,\"system\"",
        "__import__('os').system",
        "__import__(\"os\").system",
        "__import__('os').popen",
        "__import__(\"os\").popen",
        "from os import system",
        "from os import popen",
        "from pty import spawn",
        "from subprocess import getoutput",
        ".getoutput(",
        ".getstatusoutput(",
    ],
    spawn_calls: &[
        "subprocess",
        "Popen",
        "os.exec",
        "os.spawn",
        "posix_spawn",
        "execv",
        "execl",
        "spawnl",
        "spawnv",
    ],
    option: &["shell=True", "shell=1"],
    backquotes: false,
};

const NODE: ShellPatterns = ShellPatterns {
    always: &["execSync(", ".execSync("],
    spawn_calls: &["child_process", "Deno.Command", "Deno.run", "Bun.spawn"],
    option: &["exec(", ".exec(", "{exec}", "{exec:", "{execSync", "shell:true"],
    backquotes: false,
};

const RUBY: ShellPatterns = ShellPatterns {
    always: &[
        "system(",
        "system\"",
        "system'",
        "exec(",
        "exec\"",
        "exec'",
        "%x(",
        "%x{",
        "%x[",
        "%x<",
        "IO.popen",
        "open(\"|",
        "open('|",
        "Open3.",
        "PTY.spawn",
        "spawn(",
        "spawn\"",
        "spawn'",
    ],
    spawn_calls: &["spawn", "Process."],
    option: &[],
    backquotes: true,
};

const PERL: ShellPatterns = ShellPatterns {
    always: &[
        "system(", "system\"", "system'", "system$", "exec(", "exec\"", "exec'", "exec$", "qx",
        "readpipe",
    ],
    spawn_calls: &["open("],
    option: &["'-|'", "\"-|\"", "\"|-\"", "'|-'"],
    backquotes: true,
};

const PHP: ShellPatterns = ShellPatterns {
    always: &["system(", "exec(", "shell_exec(", "passthru(", "popen(", "proc_open("],
    spawn_calls: &["pcntl_exec("],
    option: &[],
    backquotes: true,
};

const LUA: ShellPatterns = ShellPatterns {
    always: &["os.execute", "io.popen"],
    spawn_calls: &[],
    option: &[],
    backquotes: false,
};
const R: ShellPatterns = ShellPatterns {
    always: &["system(", "system2(", "shell("],
    spawn_calls: &[],
    option: &[],
    backquotes: false,
};
pub(crate) fn starts_shell(family: Family, code: &str) -> bool {
    let ways = match family {
        Family::Python => &PYTHON,
        Family::Node => &NODE,
        Family::Ruby => &RUBY,
        Family::Perl => &PERL,
        Family::Php => &PHP,
        Family::Lua => &LUA,
        Family::R => &R,
        Family::Awk => return filters::awk_executes(code),
        Family::Sed => return filters::sed_executes(code),
    };
    let written = code;
    let code = without_spaces(code);
    let has = |names: &[&str]| names.iter().any(|name| is_named(&code, name));
    has(ways.always)
        || (has(ways.spawn_calls) && (has(ways.option) || names_shell(written)))
        || (ways.backquotes && code.matches('`').nth(1).is_some())
}

/// Returns the code without spaces, except those between two names.
fn without_spaces(code: &str) -> String {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let mut kept = String::with_capacity(code.len());
    let mut space = false;
    for c in code.chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if space && name(c) && kept.chars().next_back().is_some_and(name) {
            kept.push(' ');
        }
        space = false;
        kept.push(c);
    }
    kept
}

/// Returns true if the code contains the name, and not only as the end of a longer name.
fn is_named(code: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let bounded = name.starts_with(word);
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).and_then(|head| head.chars().next_back());
        // `platform.system()` and `/x/.exec(s)` differ from `system(` and `exec(`.
        !bounded
            || !before.is_some_and(|c| word(c) || (".>".contains(c) && !is_module(code, at, name)))
    })
}

/// Returns true if `.name` belongs to the module itself: `Kernel.system(`, `child_process.exec(`.
fn is_module(code: &str, at: usize, name: &str) -> bool {
    let head = code.get(..at).unwrap_or("");
    !name.ends_with(['(', '"', '\''])
        || ["Kernel.", "Process.", "child_process.", "cp.", "=>"]
            .iter()
            .any(|it| head.ends_with(it))
}

/// Returns true if a string of the code begins with a shell's name or path.
fn names_shell(code: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    code.split(['"', '\'', '`']).skip(1).any(|string| {
        let word = string.split(|c: char| !part(c)).next().unwrap_or("");
        shells::is_unambiguous(word.rsplit('/').next().unwrap_or(word))
    })
}
