//! Classifies paths as text: below /in, /out or /tmp, a device, on the host. Must read no files.

mod argv;
mod code;
mod mention;

pub(crate) use argv::{absolute_in, check_word};
pub(crate) use code::{check_code, inputs_in};
pub(crate) use mention::find_mention;

use crate::code::Code;
use crate::table::WordTable;

/// The maximum number of path violations per line; more of them do not help a reader.
pub(crate) const REPORTED_PER_LINE_MAX: usize = 20;

const HINT: &str = "name files below /in, /out or /tmp";

const HARMLESS_DEVICES: [&str; 7] =
    ["null", "zero", "random", "urandom", "stdin", "stdout", "stderr"];

/// First components that identify a path of the host in texts where `/` may also be a division.
const HOST_ROOTS: WordTable = WordTable::new(&[
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "data",
    "dev",
    "etc",
    "home",
    "host",
    "lib",
    "lib32",
    "lib64",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "snap",
    "srv",
    "sys",
    "usr",
    "var",
    "workspace",
]);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathKind {
    Allowed,
    Device,
    Host,
    /// A path with a `..` component.
    Traversal,
}

impl PathKind {
    /// Returns the code and the message for such a path; None if the path is allowed.
    pub(crate) fn violation(self) -> Option<(Code, &'static str)> {
        match self {
            Self::Allowed => None,
            Self::Device => Some((Code::PathDevice, "is a device of the host")),
            Self::Host => Some((Code::PathHost, "is outside /in, /out and /tmp")),
            Self::Traversal => Some((Code::PathTraversal, "contains `..`")),
        }
    }

    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Device => "use only /dev/null, zero, random, urandom, stdin, stdout or stderr",
            Self::Traversal => "write the whole path, without `..`",
            Self::Host | Self::Allowed => HINT,
        }
    }
}

/// Returns the kind of an absolute path, ignoring `..` components.
fn kind_of_absolute(path: &str) -> PathKind {
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    match (parts.next(), parts.next(), parts.next()) {
        (Some("in" | "out" | "tmp"), _, _) => PathKind::Allowed,
        (Some("dev"), Some(name), None) if HARMLESS_DEVICES.contains(&name) => PathKind::Allowed,
        (Some("dev"), _, _) => PathKind::Device,
        _ => PathKind::Host,
    }
}

/// Returns the name below /in of an absolute path, empty for /in itself.
pub(crate) fn below_in(path: &str) -> Option<String> {
    let rest = path.strip_prefix('/')?;
    let mut parts = rest.split('/').filter(|part| !part.is_empty() && *part != ".");
    (parts.next() == Some("in")).then(|| joined(parts))
}

/// Returns the name of a relative path below the working directory /in.
pub(crate) fn relative(path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains("://") {
        return None;
    }
    Some(joined(path.split('/').filter(|part| !part.is_empty() && *part != ".")))
}

fn joined<'p>(parts: impl Iterator<Item = &'p str>) -> String {
    let mut path = String::new();
    for part in parts {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    path
}

/// Returns true for a home directory: `~`, `~/x`, `~root/x`, `$HOME/x`, `%USERPROFILE%\x`.
fn is_home(text: &str) -> bool {
    let user = text.strip_prefix('~').and_then(|rest| rest.split_once('/'));
    let hidden = |(user, rest): (&str, &str)| {
        let plain = user.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        user.is_empty() || user == "root" || (plain && rest.starts_with('.'))
    };
    let variable = ["$HOME/", "${HOME}/", "%USERPROFILE%\\", "%APPDATA%\\"];
    text == "~" || user.is_some_and(hidden) || variable.iter().any(|it| text.starts_with(it))
}

/// Returns true for `C:\Users` and `\\server\share`, but not for the backslashes of a pattern.
fn is_windows(text: &str) -> bool {
    let named = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    let rest = text.strip_prefix(|c: char| c.is_ascii_alphabetic());
    let drive = rest.and_then(|rest| rest.strip_prefix(":\\"));
    let share = text.strip_prefix("\\\\").and_then(|rest| rest.split_once('\\'));
    drive.is_some_and(named)
        || share.is_some_and(|(server, share)| {
            server.len() > 1 && server.bytes().all(|b| b.is_ascii_alphanumeric()) && named(share)
        })
}

/// Returns the end of a URL's scheme. Most words have no colon, and need no search.
fn scheme_end(text: &str) -> Option<usize> {
    if text.contains(':') { text.find("://") } else { None }
}

fn has_file_url(text: &str) -> bool {
    text.contains(':')
        && text.match_indices("file:").any(|(at, found)| {
            let before = text.get(..at).and_then(|head| head.chars().next_back());
            let after = text.get(at + found.len()..).unwrap_or("");
            after.starts_with('/') && !before.is_some_and(char::is_alphanumeric)
        })
}

fn has_traversal(word: &str) -> bool {
    word.contains('/') && word.split('/').any(|part| part == "..")
}

/// Returns the kind of a word of prose or code; only well-known locations of the host count.
fn host_kind(word: &str) -> Option<PathKind> {
    if is_home(word) && word != "~" && word != "~/" {
        return Some(PathKind::Host);
    }
    let root = word.strip_prefix('/')?.split('/').find(|part| !part.is_empty())?;
    // These roots can also be names in a request: they count only with components after them.
    if ["data", "host", "private", "run", "workspace"].contains(&root)
        && word.trim_end_matches('/').len() == root.len() + 1
    {
        return None;
    }
    let kind = kind_of_absolute(word);
    (HOST_ROOTS.has(root) && kind != PathKind::Allowed).then_some(kind)
}
