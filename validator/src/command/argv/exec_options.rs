//! Options by which a program that is not a wrapper runs a command or a shell: `find -exec`,
//! `tar --to-command`, `git -c core.pager=…`. The source is each program's manual. `find -delete`
//! is not listed: it starts nothing, and deletes only what the sandbox permits.

use model::{Language, quote};

use crate::shells;

/// Programs of no language, and their options that run another command, with or without `=value`.
const OPTIONS: [(&[&str], &[&str]); 13] = [
    (&["find", "gfind", "bfs"], &["-exec", "-execdir", "-ok", "-okdir"]),
    (&["fd", "fdfind"], &["-x", "-X", "--exec", "--exec-batch"]),
    (
        &["tar", "gtar", "bsdtar"],
        &["--to-command", "--info-script", "--new-volume-script", "--rsh-command", "-F"],
    ),
    (&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    (&["scp", "sftp"], &["-S", "-D", "-oProxyCommand"]),
    (&["split"], &["--filter"]),
    (&["sort"], &["--compress-program"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["rg"], &["--pre", "--hostname-bin"]),
    (&["vim", "vi", "nvim", "ex", "view", "gvim"], &["-c", "--cmd", "-S"]),
    (&["emacs"], &["--eval", "-eval", "--execute", "--load", "-l", "-f"]),
    (&["git"], &["--upload-pack", "--receive-pack", "--exec", "--extcmd", "-x"]),
    (&["sqlite", "sqlite3"], &["-cmd"]),
];

/// Returns the options of a language's programs that run another command.
fn options_of(language: Language) -> &'static [&'static str] {
    match language {
        Language::Go => &["-exec", "-toolexec", "-vettool"],
        Language::Node => &["--run"],
        Language::Python | Language::Ts | Language::Ruby => &[],
    }
}

/// Subcommands that run commands from the program's own files.
const SUBCOMMANDS: [(&str, &str); 4] =
    [("go", "generate"), ("deno", "task"), ("bun", "exec"), ("git", "bisect")];

/// Configuration keys of git that name a command.
const GIT_KEYS: [&str; 14] = [
    "alias.",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.hookspath",
    "core.pager",
    "core.sshcommand",
    "credential.",
    "diff.",
    "filter.",
    "gpg.",
    "merge",
    "pager.",
];

const COMPRESSORS: [&str; 13] = [
    "brotli", "bzip2", "compress", "gzip", "lz4", "lzip", "lzma", "lzop", "pbzip2", "pigz", "xz",
    "zstd", "zstdmt",
];

/// Returns the words that start a command, with a message for each; `REPORTED_MAX` at most.
pub(super) fn exec_options(program: &str, argv: &[&str]) -> Vec<(usize, String)> {
    const REPORTED_MAX: usize = 5;
    let mut found = Vec::new();
    let second = argv.get(1).copied().unwrap_or("");
    if SUBCOMMANDS.contains(&(program, second)) {
        found.push((1, format!("{} runs commands of its own files", quote(second))));
    }
    let language = Language::of_program(program);
    let others = || OPTIONS.iter().find(|(names, _)| names.contains(&program));
    let options = match language {
        Some(language) => options_of(language),
        None => others().map_or(&[][..], |(_, options)| *options),
    };
    let special = ["tar", "gtar", "bsdtar", "git", "vim", "vi", "nvim", "ex", "view"];
    if options.is_empty() && !special.contains(&program) {
        return found;
    }
    for (index, word) in argv.iter().enumerate().skip(1) {
        let name = word.split('=').next().unwrap_or(word);
        let next = argv.get(index + 1).copied().unwrap_or("");
        // Words after the Go file of `go run` belong to the program.
        if language == Some(Language::Go) && Language::Go.matches_file_name(word) {
            break;
        }
        if options.contains(&name) || is_special(program, word, next) {
            found.push((index, format!("{} runs another command", quote(name))));
        }
        if found.len() == REPORTED_MAX {
            break;
        }
    }
    found
}

fn is_special(program: &str, word: &str, next: &str) -> bool {
    match program {
        "tar" | "gtar" | "bsdtar" => tar(word, next),
        "git" => git(word, next),
        "vim" | "vi" | "nvim" | "ex" | "view" => word.starts_with('+') && word.contains('!'),
        _ => false,
    }
}

/// Returns true for a checkpoint that executes, or for a compressor that is not a known one.
fn tar(word: &str, next: &str) -> bool {
    let action = |value: &str| value.starts_with("exec");
    let compressor = |value: &str| {
        let name = value.rsplit('/').next().unwrap_or(value);
        !COMPRESSORS.contains(&name.split(' ').next().unwrap_or(name)) || shells::is_shell(name)
    };
    match word.split_once('=') {
        Some(("--checkpoint-action", value)) => action(value),
        Some(("--use-compress-program", value)) => compressor(value),
        None if word == "--checkpoint-action" => action(next),
        None if word == "-I" || word == "--use-compress-program" => compressor(next),
        _ => false,
    }
}

fn git(word: &str, next: &str) -> bool {
    let setting = match word {
        "-c" | "--config-env" => next,
        _ => match word.strip_prefix("-c").filter(|it| it.contains('=')) {
            Some(setting) => setting,
            None => return word.starts_with("ext::"),
        },
    };
    let lower = setting.to_ascii_lowercase();
    let value = lower.split_once('=').map_or("", |(_, value)| value);
    GIT_KEYS.iter().any(|key| lower.starts_with(key)) || value.starts_with('!')
}
