//! What a path means: a result, a bundle alone, or a tree with results below it. Nothing that looks like
//! a result may be passed over because a part of it is missing.

use std::fs;
use std::path::{Path, PathBuf};

use model::ResultId;

use crate::failure::Failure;

/// Below that nobody keeps results.
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

/// Something below a directory that has to be told of.
pub(super) enum TreeEntry<'a> {
    Result(&'a Path),
    /// A bundle that lies in no result.
    Bundle(&'a Path),
    /// A file where a result's directory should be.
    NoDirectory(&'a Path),
    /// A directory that was not looked into, and why.
    PassedOver(&'a Path, &'static str),
}

/// Calls for everything below a directory that is, or looks like, a result, in the order of their
/// names; links to directories are followed only where they are results themselves.
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
                act(TreeEntry::NoDirectory(&path))?;
            } else if name.ends_with(BUNDLE) && path.is_file() {
                act(TreeEntry::Bundle(&path))?;
            }
        } else if linked {
            act(TreeEntry::PassedOver(&path, "a link to a directory"))?;
        } else if depth == DEPTH_MAX {
            act(TreeEntry::PassedOver(&path, "more than eight directories deep"))?;
        } else {
            descend(&path, depth + 1, act)?;
        }
    }
    Ok(())
}

/// A result that is still being gathered has a hidden name and is none.
fn is_hidden(path: &Path) -> bool {
    path.file_name().unwrap_or_default().to_string_lossy().starts_with('.')
}

/// Whether a directory is to be looked at as a result: by its name, so that one whose record is gone
/// is told of, or by a part of a record in it, so that one with another name is. A bundle may also lie
/// alone somewhere; it is part of a result where there is something else of one.
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
