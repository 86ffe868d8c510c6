//! Stages a folder. Each file is copied while it is hashed, so that the digest is that of the copy.
//! If the tree of the approved digest is stored, the original is only hashed, and the stored tree
//! is moved into the slot. A folder that differs from the approved one must be refused in both
//! cases, and the original must never be changed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use trees::{LinkRule, TreeError, TreeLimits, TreeSummary, copy_tree, digest_as_copy};
use validator::{Code, Violation};

use super::directories::{make_directory, seal};
use super::placement::{ENTRIES_MAX, InputPlacement, StagedCopy, StagedInput, StagedTotals};
use crate::beneath::try_remove_tree;
use crate::error::{HELP_SEPARATOR, SpoolError};
use crate::shortage::Shortage;

/// The components of the longest path in a folder.
const DEPTH_MAX: u32 = 64;

/// Returns the limits of a folder among the inputs of a request, with at most this many bytes.
#[must_use]
pub fn folder_limits(bytes_max: u64) -> TreeLimits {
    TreeLimits { entries_max: ENTRIES_MAX, bytes_max, depth_max: DEPTH_MAX }
}

/// Puts an open folder into the slot, whose directories exist. That of the folder is empty.
pub(super) fn stage(
    place: &InputPlacement<'_>,
    folder: &OwnedFd,
) -> Result<StagedInput, SpoolError> {
    let sha256 = *place.input.sha256();
    if !place.trees.holds(sha256) {
        return stage_copy(place, folder);
    }
    let found = match digest(place, folder) {
        Ok(summary) => summary.sha256,
        Err(error) => return refusal(place, error).map(Err),
    };
    if found != sha256 {
        return Ok(Err(place.mismatch(found)));
    }
    let Some(tree) = place.trees.take(sha256, &place.to, place.claim, &limits_of(place)) else {
        return stage_copy(place, folder);
    };
    let totals = StagedTotals { bytes: tree.bytes(), entries: tree.entries() };
    Ok(Ok(StagedCopy { totals, tree: Some(tree) }))
}

fn stage_copy(place: &InputPlacement<'_>, folder: &OwnedFd) -> Result<StagedInput, SpoolError> {
    let mut to = open_copy(place)?;
    let mut copied = copy(place, folder, &to);
    if copied.as_ref().is_err_and(is_disk_full) {
        place.free_disk_space();
        try_remove_tree(&place.to).map_err(SpoolError::io(&place.to, "remove"))?;
        make_directory(&place.to)?;
        to = open_copy(place)?;
        copied = copy(place, folder, &to);
    }
    let summary = match copied {
        Ok(summary) => summary,
        Err(error) => return refusal(place, error).map(Err),
    };
    if summary.sha256 != *place.input.sha256() {
        return Ok(Err(place.mismatch(summary.sha256)));
    }
    seal(to.as_fd()).map_err(SpoolError::errno(&place.to, "set the mode of"))?;
    let entries = summary.files.saturating_add(summary.directories).saturating_add(summary.links);
    let bytes = summary.bytes;
    let opened = (place.to.as_path(), to.as_fd());
    let tree = place.trees.examine_new(summary.sha256, opened, (bytes, entries));
    Ok(Ok(StagedCopy { totals: StagedTotals { bytes, entries }, tree }))
}

fn open_copy(place: &InputPlacement<'_>) -> Result<OwnedFd, SpoolError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(&place.to, flags, Mode::empty()).map_err(SpoolError::errno(&place.to, "open"))
}

fn digest(place: &InputPlacement<'_>, from: &OwnedFd) -> Result<TreeSummary, TreeError> {
    let mut on_bytes = |bytes| place.hashed.add_uncounted(bytes);
    digest_as_copy(from.as_fd(), LinkRule::Inside, &limits_of(place), &mut on_bytes)
}

fn copy(
    place: &InputPlacement<'_>,
    from: &OwnedFd,
    to: &OwnedFd,
) -> Result<TreeSummary, TreeError> {
    let mut on_bytes = |bytes| place.hashed.add_uncounted(bytes);
    copy_tree(from.as_fd(), to.as_fd(), LinkRule::Inside, &limits_of(place), &mut on_bytes)
}

fn limits_of(place: &InputPlacement<'_>) -> TreeLimits {
    TreeLimits { entries_max: place.entries_left, ..folder_limits(place.bytes_left) }
}

fn is_disk_full(error: &TreeError) -> bool {
    let TreeError::Io { error, .. } = error else { return false };
    Shortage::of(error) == Some(Shortage::DiskSpace)
}

/// Returns the violation of a folder that cannot be an input, or the failure of the host.
fn refusal(place: &InputPlacement<'_>, error: TreeError) -> Result<Violation, SpoolError> {
    match error {
        TreeError::Io { path, act, error } if is_of_host(act, &error) => {
            Err(SpoolError::io(&place.shown.join(path), "copy the input")(error))
        }
        TreeError::TooManyBytes { .. } => Ok(place.too_large()),
        TreeError::TooManyEntries { .. } => Ok(place.too_many_entries()),
        error => Ok(folder_violation(place.input.name(), &error)),
    }
}

/// Returns whether the host caused the error, in the copy or by a shortage. The submitter can cause
/// any other error by the original.
fn is_of_host(act: &str, error: &io::Error) -> bool {
    matches!(act, "create" | "write") || Shortage::of(error).is_some()
}

/// Returns the violation of an input folder that cannot be read, or that no input can be. The error
/// names a path below the folder.
#[must_use]
pub fn folder_violation(name: &str, error: &TreeError) -> Violation {
    let code = match error {
        TreeError::Io { .. } => Code::InputsMissing,
        TreeError::Changed { .. } => Code::InputsMismatch,
        TreeError::TooManyEntries { .. }
        | TreeError::TooManyBytes { .. }
        | TreeError::TooDeep { .. } => Code::LimitsOverPolicy,
        TreeError::FileKind { .. }
        | TreeError::SetId { .. }
        | TreeError::Name { .. }
        | TreeError::LinkTarget { .. }
        | TreeError::LinkLeaves { .. }
        | TreeError::OtherMount { .. } => Code::SpoolFileKind,
    };
    let text = error.to_string();
    let (problem, help) = text
        .rsplit_once(HELP_SEPARATOR)
        .unwrap_or((text.as_str(), "put the whole folder there, readable to the daemon"));
    Violation::error(code, format!("input {name}: {problem}")).hint(help)
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn errors_of_the_copy_and_shortages_are_of_the_host() {
        let cases = [
            ("create", Errno::ACCESS, true),
            ("write", Errno::IO, true),
            ("open", Errno::MFILE, true),
            ("open", Errno::ACCESS, false),
            ("open", Errno::NAMETOOLONG, false),
            ("read", Errno::IO, false),
            ("list", Errno::NOENT, false),
        ];
        for (act, errno, wanted) in cases {
            assert_eq!(is_of_host(act, &errno.into()), wanted, "{act}: {errno}");
        }
    }
}
