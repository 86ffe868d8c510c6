//! The spelling of names and paths of a runtime. Nothing here may depend on the host: the daemon
//! checks that the files exist.

use std::path::{Component, Path};

/// Top-level directories without program files.
const KERNEL_DIRS: [&str; 3] = ["proc", "sys", "dev"];
/// Top-level directories that the sandbox makes itself. They would hide a mount of the same path.
const SANDBOX_DIRS: [&str; 4] = ["in", "out", "tmp", "cache"];
/// Directories with the host's own files or those of all users; a subdirectory may be shown.
const PRIVATE_DIRS: [&str; 6] = ["/home", "/root", "/etc", "/var", "/boot", "/run"];

/// Checks the name of a runtime or policy.
pub(crate) fn is_slug(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    (1..=32).contains(&name.len()) && name.bytes().all(allowed)
}

pub(crate) fn is_word(word: &str) -> bool {
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

/// Returns whether the path begins at the root and has only plain components.
pub(crate) fn is_plain_absolute(path: &Path) -> bool {
    let text = path.to_str().unwrap_or("");
    path.is_absolute()
        && !text.chars().any(char::is_control)
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// Returns whether a run may see this host directory at all. The root itself would show the whole
/// host, and a home directory would show the user's keys.
pub(super) fn may_be_shown(path: &Path) -> bool {
    let top = match path.components().nth(1) {
        Some(Component::Normal(top)) => top,
        _ => return false,
    };
    let is_home = path.parent() == Some(Path::new("/home"));
    !KERNEL_DIRS.iter().any(|name| top == *name)
        && !PRIVATE_DIRS.iter().any(|whole| path == Path::new(whole))
        && !is_home
}

/// Returns whether the directory may be mounted at its host path.
pub(super) fn is_mountable(path: &Path) -> bool {
    let made = |name: &str| path.starts_with(Path::new("/").join(name));
    may_be_shown(path) && !SANDBOX_DIRS.iter().any(|name| made(name))
}
