//! Shells by name, and instructions in prose to run one. No shell ever runs a request's line, so
//! the words around a name decide whether it is a shell or an English word.

mod mention;

pub(crate) use mention::{find_instruction, is_unambiguous};

use crate::table::WordTable;

const SHELLS: WordTable = WordTable::new(&[
    "ash",
    "bash",
    "bsh",
    "cmd",
    "csh",
    "dash",
    "elvish",
    "fish",
    "ksh",
    "ksh93",
    "lksh",
    "mksh",
    "nu",
    "oksh",
    "osh",
    "pdksh",
    "posh",
    "powershell",
    "pwsh",
    "rbash",
    "rksh",
    "rzsh",
    "sash",
    "sh",
    "tcsh",
    "xonsh",
    "yash",
    "ysh",
    "zsh",
]);

/// Returns true if a program of this name, in any case and version, is a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    let plain = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    SHELLS.has(lower) || SHELLS.has(plain)
}
