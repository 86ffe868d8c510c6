//! How names and places of a runtime are spelled. Text only: whether something is there is for the
//! daemon to look, and nothing here may depend on the host.

use std::path::{Component, Path};

/// Top directories that hold no files of programs' own.
const NO_FILES: [&str; 3] = ["proc", "sys", "dev"];
/// Top directories that the cell makes itself: what was bound there would be hidden.
const MADE_BY_THE_CELL: [&str; 4] = ["in", "out", "tmp", "cache"];
/// Directories that hold the host's own files, or everybody's. What lies below them may be shown.
const NEVER_WHOLE: [&str; 6] = ["/home", "/root", "/etc", "/var", "/boot", "/run"];

/// The name of a runtime or policy.
pub(crate) fn is_slug(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    (1..=32).contains(&name.len()) && name.bytes().all(allowed)
}

pub(super) fn is_word(word: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._+-".contains(&b);
    (1..=64).contains(&word.len())
        && word.bytes().all(allowed)
        && word.starts_with(|first: char| first.is_ascii_alphanumeric())
}

pub(super) fn is_variable(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

pub(super) fn is_long_option(flag: &str) -> bool {
    flag.strip_prefix("--").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
    })
}

pub(super) fn is_plain_absolute(path: &Path) -> bool {
    let text = path.to_str().unwrap_or("");
    path.is_absolute()
        && !text.chars().any(char::is_control)
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// Whether a directory of the host may be shown to a run at all. The root itself would show the whole
/// host, and a person's home directory their keys.
pub(super) fn is_place(path: &Path) -> bool {
    let top = match path.components().nth(1) {
        Some(Component::Normal(top)) => top,
        _ => return false,
    };
    let is_home = path.parent() == Some(Path::new("/home"));
    !NO_FILES.iter().any(|name| top == *name)
        && !NEVER_WHOLE.iter().any(|whole| path == Path::new(whole))
        && !is_home
}

/// Whether it may be shown at the same path as on the host.
pub(super) fn is_mountable(path: &Path) -> bool {
    let made = |name: &str| path.starts_with(Path::new("/").join(name));
    is_place(path) && !MADE_BY_THE_CELL.iter().any(|name| made(name))
}
