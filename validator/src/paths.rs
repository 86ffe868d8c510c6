//! Paths in words and in prose: which lie below /in, /out or /tmp, which are devices, and which
//! are the host's. Paths are judged as text; nothing here may look at a file system.

use crate::code::Code;
use crate::report::{Report, Spot};
use crate::text::{Line, quote};

const HARMLESS_DEVICES: [&str; 7] =
    ["null", "zero", "random", "urandom", "stdin", "stdout", "stderr"];

const HOST_ROOTS: [&str; 20] = [
    "etc", "usr", "bin", "sbin", "lib", "lib64", "home", "root", "var", "proc", "sys", "dev",
    "boot", "opt", "mnt", "media", "srv", "run", "host", "Users",
];

/// What an absolute path is.
#[derive(PartialEq, Eq)]
enum Kind {
    Allowed,
    Device,
    Host,
}

fn kind(path: &str) -> Kind {
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    match (parts.next(), parts.next(), parts.next()) {
        (Some("in" | "out" | "tmp"), _, _) => Kind::Allowed,
        (Some("dev"), Some(name), None) if HARMLESS_DEVICES.contains(&name) => Kind::Allowed,
        (Some("dev"), _, _) => Kind::Device,
        _ => Kind::Host,
    }
}

/// The name below /in that an absolute path means, empty for /in itself.
pub(crate) fn below_in(path: &str) -> Option<String> {
    let rest = path.strip_prefix('/')?;
    let mut parts = rest.split('/').filter(|part| !part.is_empty() && *part != ".");
    (parts.next() == Some("in")).then(|| parts.collect::<Vec<_>>().join("/"))
}

/// The name below the working directory /in that a relative path means.
pub(crate) fn relative(path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains("://") {
        return None;
    }
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    Some(parts.collect::<Vec<_>>().join("/"))
}

/// The absolute paths of a word: the word itself, or what follows `=`, `:`, `,`, `@` or an
/// attached short option. What follows `scheme://` is a URL.
pub(crate) fn absolute_in(word: &str) -> Vec<&str> {
    let end = word.find("://").map_or(word.len(), |at| at + 1);
    let mut found = Vec::new();
    let mut start = 0;
    for piece in word.get(..end).unwrap_or(word).split_inclusive(['=', ':', ',', '@']) {
        let text = piece.trim_end_matches(['=', ':', ',', '@']);
        let attached = text.strip_prefix('-').filter(|_| start == 0).and_then(|rest| {
            let mut chars = rest.chars();
            let letter = chars.next()?;
            letter.is_ascii_alphabetic().then_some(chars.as_str())
        });
        let path = attached.unwrap_or(text);
        if path.starts_with('/') {
            found.push(path);
        }
        start += piece.len();
    }
    found
}

/// Checks a word that is no code.
pub(crate) fn check_word(word: &str, spot: Spot, report: &mut Report) {
    for path in absolute_in(word) {
        tell(kind(path), path, spot, report);
    }
    if word.split(['/', '=', ':', ',']).any(|part| part == "..") {
        let message = format!("command: {} climbs with `..`", quote(word));
        report.error(Code::PathTraversal, spot, message);
    }
    let value = word.split(['=', ':', ',']).any(is_home);
    if value || has_file_url(word) {
        tell(Kind::Host, word, spot, report);
    }
}

fn tell(kind: Kind, path: &str, spot: Spot, report: &mut Report) {
    let (code, what) = match kind {
        Kind::Allowed => return,
        Kind::Device => (Code::PathDevice, "is a device of the host"),
        Kind::Host => (Code::PathHost, "lies outside /in, /out and /tmp"),
    };
    report.error(code, spot, format!("command: {} {what}", quote(path)));
}

fn is_home(part: &str) -> bool {
    part == "~" || part.starts_with("~/")
}

fn has_file_url(text: &str) -> bool {
    text.match_indices("file:").any(|(at, found)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + found.len()..).unwrap_or("");
        after.starts_with('/') && !before.is_some_and(char::is_alphanumeric)
    })
}

/// Checks program text: only well-known host paths count, for `/` may be a division there.
pub(crate) fn check_code(code: &str, spot: Spot, report: &mut Report) {
    let in_path = |c: char| c.is_ascii_alphanumeric() || "._-/~".contains(c);
    for word in code.split(|c: char| !in_path(c)) {
        if let Some(kind) = known_host(word) {
            tell(kind, word, spot, report);
        }
        if word.contains('/') && word.split('/').any(|part| part == "..") {
            let message = format!("command: {} climbs with `..`", quote(word));
            report.error(Code::PathTraversal, spot, message);
        }
    }
    if has_file_url(code) {
        tell(Kind::Host, "file:", spot, report);
    }
}

/// Whether a word of prose or code names a place on the host.
fn known_host(word: &str) -> Option<Kind> {
    if word.starts_with("~/") {
        return Some(Kind::Host);
    }
    let root = word.strip_prefix('/')?.split('/').find(|part| !part.is_empty())?;
    let kind = kind(word);
    (HOST_ROOTS.contains(&root) && kind != Kind::Allowed).then_some(kind)
}

/// Checks a line of prose. Where files are listed (`strict`) a host path is an error; elsewhere
/// it is only talked about.
pub(crate) fn check_prose(line: &Line<'_>, strict: bool, report: &mut Report) {
    const TOLD_PER_LINE: usize = 20;
    let decoration = |c: char| "`*_\"'()[]<>|,;:.!?".contains(c);
    let mut from = 0;
    let mut told = 0;
    for word in line.text.split_whitespace() {
        if told == TOLD_PER_LINE {
            break;
        }
        let at = line.text.get(from..).and_then(|rest| rest.find(word)).unwrap_or(0) + from;
        from = at + word.len();
        let bare = word.trim_start_matches(decoration).trim_end_matches(decoration);
        let Some(kind) = known_host(bare).or(has_file_url(word).then_some(Kind::Host)) else {
            continue;
        };
        told += 1;
        let code = if kind == Kind::Device { Code::PathDevice } else { Code::PathHost };
        let message = format!("text: {} is a path on the host", quote(bare));
        if strict {
            report.error(code, line.spot(at), message);
        } else {
            report.warning(code, line.spot(at), message);
        }
    }
}
