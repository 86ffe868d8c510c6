//! Finds the results at a path: a result directory, a single bundle, or a tree of results. A
//! directory that looks like a result must never be skipped because a part of it is missing.

use std::fs;
use std::path::{Path, PathBuf};

use model::ResultId;

use crate::failure::Failure;

/// Results are not expected below this depth.
const DEPTH_MAX: usize = 8;
const BUNDLE: &str = ".bundle.json";

pub(super) enum VerifyTarget {
    Result(PathBuf),
    Bundle(PathBuf),
    Tree(PathBuf),
    Nothing,
}

pub(super) fn at(path: &Path) -> Result<VerifyTarget, Failure> {
    let mut real = fs::canonicalize(path).map_err(Failure::io(path))?;
    if !real.is_file() {
        return Ok(if is_result(&real) {
            VerifyTarget::Result(real)
        } else {
            VerifyTarget::Tree(real)
        });
    }
    if real.to_string_lossy().ends_with(BUNDLE) {
        return Ok(VerifyTarget::Bundle(real));
    }
    real.pop();
    Ok(if is_result(&real) { VerifyTarget::Result(real) } else { VerifyTarget::Nothing })
}

pub(super) enum TreeEntry<'a> {
    Result(&'a Path),
    /// A bundle outside a result directory.
    Bundle(&'a Path),
    /// A file with the name of a result directory.
    NotADirectory(&'a Path),
    /// A directory that was skipped, and the reason.
    Skipped(&'a Path, &'static str),
}

/// Calls `act` for everything in a tree that is, or looks like, a result, ordered by name. A link
/// to a directory is followed only if it leads to a result.
pub(super) fn each_result(
    root: &Path,
    act: &mut impl FnMut(TreeEntry<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    descend(root, 0, act)
}

fn descend(
    directory: &Path,
    depth: usize,
    act: &mut impl FnMut(TreeEntry<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(Failure::io(directory))? {
        names.push(entry.map_err(Failure::io(directory))?.file_name());
    }
    names.sort();
    for name in names {
        let path = directory.join(&name);
        if is_hidden(&path) {
            continue;
        }
        let linked = path.is_symlink();
        if is_result(&path) {
            act(TreeEntry::Result(&path))?;
        } else if !path.is_dir() {
            let name = name.to_string_lossy();
            if name.parse::<ResultId>().is_ok() {
                act(TreeEntry::NotADirectory(&path))?;
            } else if name.ends_with(BUNDLE) && path.is_file() {
                act(TreeEntry::Bundle(&path))?;
            }
        } else if linked {
            act(TreeEntry::Skipped(&path, "a link to a directory"))?;
        } else if depth == DEPTH_MAX {
            act(TreeEntry::Skipped(&path, "more than eight directories deep"))?;
        } else {
            descend(&path, depth + 1, act)?;
        }
    }
    Ok(())
}

/// A hidden directory is a result that is still being collected; it does not count.
fn is_hidden(path: &Path) -> bool {
    path.file_name().unwrap_or_default().to_string_lossy().starts_with('.')
}

/// A directory is a result by its name, even without a record, or by a part of a record in it. A
/// bundle may also exist alone, so it makes a result only beside another part.
fn is_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if is_hidden(path) || path.is_file() {
        return false;
    }
    let names_result = |name: &str| name.parse::<ResultId>().is_ok();
    if names_result(&name) || path.join(format!("{name}.md")).exists() {
        return true;
    }
    let beside_bundle = path.join("stdout").exists() || path.join("request").exists();
    fs::read_dir(path).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let file = entry.file_name();
            let id_before = |ending: &str| {
                file.to_str().and_then(|file| file.strip_suffix(ending)).is_some_and(names_result)
            };
            [".md", ".md.sig", ".tlog-proof"].into_iter().any(id_before)
                || (beside_bundle && id_before(BUNDLE))
        })
    })
}
