//! What a path means: a result, a bundle alone, or a tree with results below it. Nothing that looks like
//! a result may be passed over because a part of it is missing.

use std::fs;
use std::path::{Path, PathBuf};

use validator::ResultId;

use crate::failure::Failure;

/// Below that nobody keeps results.
const DEPTH_MAX: usize = 8;

pub(super) enum Found {
    Result(PathBuf),
    Bundle(PathBuf),
    Tree(PathBuf),
    Nothing,
}

pub(super) fn at(path: &Path) -> Result<Found, Failure> {
    let mut real = fs::canonicalize(path).map_err(Failure::io(path))?;
    if !real.is_file() {
        return Ok(if is_result(&real) { Found::Result(real) } else { Found::Tree(real) });
    }
    if real.to_string_lossy().ends_with(".bundle.json") {
        return Ok(Found::Bundle(real));
    }
    real.pop();
    Ok(if is_result(&real) { Found::Result(real) } else { Found::Nothing })
}

/// Calls for every result below a directory, in the order of their names; links to directories are
/// followed only where they have a result's name.
pub(super) fn each_result(
    root: &Path,
    act: &mut impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    descend(root, 0, act)
}

fn descend(
    directory: &Path,
    depth: usize,
    act: &mut impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(Failure::io(directory))? {
        let entry = entry.map_err(Failure::io(directory))?;
        let kind = entry.file_type().map_err(Failure::io(directory))?;
        if !kind.is_file() {
            names.push((entry.file_name(), kind.is_dir()));
        }
    }
    names.sort();
    for (name, is_directory) in names {
        let path = directory.join(&name);
        if is_result(&path) {
            act(&path)?;
        } else if is_directory && depth < DEPTH_MAX && !is_hidden(&path) {
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
/// is told of, or by a record in it, so that one with another name is.
fn is_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if is_hidden(path) || path.is_file() {
        return false;
    }
    let names_result = |name: &str| name.parse::<ResultId>().is_ok();
    if names_result(&name) || path.join(format!("{name}.md")).exists() {
        return true;
    }
    fs::read_dir(path).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let file = entry.file_name();
            let stem = file.to_str().and_then(|file| file.strip_suffix(".md"));
            stem.is_some_and(names_result)
        })
    })
}
