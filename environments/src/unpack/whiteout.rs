//! Whiteouts: names of a layer that hide entries of the layers before it.

use super::entry_path::EntryPath;
use super::made_paths::MadePaths;
use super::removal::{remove_children_except, remove_except};
use super::tree::{UnpackedTree, stat_at};
use crate::error::UnpackError;
use crate::fault::EntryFault;

const PREFIX: &str = ".wh.";
const OPAQUE: &str = ".wh..wh..opq";

/// The entries that a whiteout hides in its directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum HiddenPart {
    /// The entry of this path.
    One(EntryPath),
    /// All entries.
    All,
}

/// Returns the entries that the path hides, or None if it is not a whiteout.
pub(super) fn hidden_part(path: &EntryPath) -> Result<Option<HiddenPart>, UnpackError> {
    if path.parent().split('/').any(|part| part.starts_with(PREFIX)) {
        return Err(path.refused(EntryFault::Whiteout));
    }
    let Some(hidden) = path.last().strip_prefix(PREFIX) else { return Ok(None) };
    if path.last() == OPAQUE {
        return Ok(Some(HiddenPart::All));
    }
    match path.beside(hidden) {
        Some(hidden) if !hidden.last().starts_with(PREFIX) => Ok(Some(HiddenPart::One(hidden))),
        _ => Err(path.refused(EntryFault::Whiteout)),
    }
}

/// Removes what a whiteout hides. What does not exist is hidden already.
pub(super) fn hide(
    tree: &mut UnpackedTree<'_>,
    path: &EntryPath,
    part: &HiddenPart,
    made: &MadePaths,
) -> Result<(), UnpackError> {
    let Some(directory) = tree.existing_parent_of(path)? else { return Ok(()) };
    tree.forget();
    let removed = match part {
        HiddenPart::All => remove_children_except(&directory, path.parent(), made),
        HiddenPart::One(hidden) if stat_at(&directory, hidden)?.is_none() => return Ok(()),
        HiddenPart::One(hidden) => remove_except(&directory, hidden.last(), hidden.as_str(), made),
    };
    removed.map_err(UnpackError::errno(path.shown(), "remove what it hides"))
}
