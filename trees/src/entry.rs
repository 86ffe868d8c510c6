//! The rules for each entry of a tree, and its line in the format `toolexec-tree 1`. The walk that
//! digests a tree and the walk that copies it share them, so that both refuse the same entries and
//! hash the same bytes.

use std::ffi::CStr;

use model::Sha256;
use rustix::fs::{FileType, Stat};

use crate::error::TreeError;
use crate::links::LinkRule;

/// The first line of the text of the top directory.
pub(crate) const FIRST_LINE: &[u8] = b"toolexec-tree 1\n";

const EXECUTE_BITS: u32 = 0o111;
const SET_ID_BITS: u32 = 0o6000;

/// Returns a name or a target that can be part of a line.
pub(crate) fn plain(text: &CStr) -> Option<&str> {
    text.to_str().ok().filter(|text| !text.chars().any(char::is_control))
}

/// Returns the kind, with its article, of an object that cannot be part of a tree.
pub(crate) fn refused_kind(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

/// Returns the target of a link, `levels` directories below the top, if the tree may have it.
pub(crate) fn check_target<'t>(
    target: &'t CStr,
    rule: LinkRule,
    levels: u32,
    path: &str,
) -> Result<&'t str, TreeError> {
    let Some(target) = plain(target) else {
        return Err(TreeError::LinkTarget { path: path.to_owned() });
    };
    match rule.allows(target, levels) {
        true => Ok(target),
        false => Err(TreeError::LinkLeaves { path: path.to_owned(), target: target.to_owned() }),
    }
}

/// Returns the size of an open file that the tree may have.
pub(crate) fn check_file(stat: &Stat, path: &str) -> Result<u64, TreeError> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(TreeError::Changed { path: path.to_owned() });
    }
    if stat.st_mode & SET_ID_BITS != 0 {
        return Err(TreeError::SetId { path: path.to_owned() });
    }
    Ok(u64::try_from(stat.st_size).unwrap_or(u64::MAX))
}

/// Returns whether any execute bit is set.
pub(crate) fn is_executable(stat: &Stat) -> bool {
    stat.st_mode & EXECUTE_BITS != 0
}

/// Returns whether a write between the two can be excluded.
pub(crate) fn is_unchanged(before: &Stat, after: &Stat) -> bool {
    let version = |stat: &Stat| {
        (stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec)
    };
    version(before) == version(after)
}

pub(crate) fn file_line(executable: bool, bytes: u64, sha256: Sha256, name: &str) -> String {
    let kind = if executable { 'x' } else { 'f' };
    format!("{kind}\t{bytes}\t{sha256}\t{name}\n")
}

pub(crate) fn link_line(target: &str, name: &str) -> String {
    format!("l\t{target}\t{name}\n")
}

pub(crate) fn directory_line(sha256: Sha256, name: &str) -> String {
    format!("d\t{sha256}\t{name}\n")
}
