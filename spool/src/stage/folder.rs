//! Stages a folder: each file is copied while it is hashed, so that the digest is that of the copy.
//! No folder is taken from the store of inputs. The original must never be changed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use trees::{LinkRule, TreeError, TreeLimits, TreeSummary, copy_tree};
use validator::{Code, Violation};

use super::directories::{make_directory, seal};
use super::placement::{InputPlacement, StagedInput};
use crate::beneath::try_remove_tree;
use crate::error::{HELP_SEPARATOR, SpoolError};
use crate::shortage::Shortage;

/// The files, directories and links of a folder.
const ENTRIES_MAX: u64 = 100_000;
/// The components of the longest path in a folder.
const DEPTH_MAX: u32 = 64;

/// Returns the limits of a folder among the inputs of a request, with at most this many bytes.
#[must_use]
pub fn folder_limits(bytes_max: u64) -> TreeLimits {
    TreeLimits { entries_max: ENTRIES_MAX, bytes_max, depth_max: DEPTH_MAX }
}

/// Copies an open folder into the slot, whose directories exist. That of the folder is empty.
pub(super) fn stage(
    place: &InputPlacement<'_>,
    folder: &OwnedFd,
) -> Result<StagedInput, SpoolError> {
    let mut to = open_copy(place)?;
    let mut copied = copy(place, folder, &to);
    if copied.as_ref().is_err_and(is_disk_full) {
        // Stored inputs are the first files to be deleted when the disk is full.
        place.store.clear();
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
    Ok(Ok(summary.bytes))
}

fn open_copy(place: &InputPlacement<'_>) -> Result<OwnedFd, SpoolError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(&place.to, flags, Mode::empty()).map_err(SpoolError::errno(&place.to, "open"))
}

fn copy(
    place: &InputPlacement<'_>,
    from: &OwnedFd,
    to: &OwnedFd,
) -> Result<TreeSummary, TreeError> {
    let limits = folder_limits(place.bytes_left);
    let mut on_bytes = |bytes| place.hashed.add_uncounted(bytes);
    copy_tree(from.as_fd(), to.as_fd(), LinkRule::Inside, &limits, &mut on_bytes)
}

fn is_disk_full(error: &TreeError) -> bool {
    let TreeError::Io { error, .. } = error else { return false };
    Shortage::of(error) == Some(Shortage::DiskSpace)
}

/// Returns the violation of a folder that cannot be an input, or the failure of the copy.
fn refusal(place: &InputPlacement<'_>, error: TreeError) -> Result<Violation, SpoolError> {
    let error = match error {
        TreeError::Io { path, error, .. } if !is_of_original(&error) => {
            return Err(SpoolError::io(&place.shown.join(path), "copy the input")(error));
        }
        TreeError::TooManyBytes { .. } => return Ok(place.too_large()),
        error => error,
    };
    let code = match &error {
        TreeError::Io { .. } => Code::InputsMissing,
        TreeError::Changed { .. } => Code::InputsMismatch,
        TreeError::TooManyEntries { .. }
        | TreeError::TooManyBytes { .. }
        | TreeError::TooDeep { .. } => Code::LimitsOverPolicy,
        TreeError::FileKind { .. }
        | TreeError::SetId { .. }
        | TreeError::Name { .. }
        | TreeError::LinkTarget { .. }
        | TreeError::LinkLeaves { .. } => Code::SpoolFileKind,
    };
    let text = error.to_string();
    let (problem, help) = text
        .rsplit_once(HELP_SEPARATOR)
        .unwrap_or((text.as_str(), "put the whole folder there, readable to the daemon"));
    let message = format!("input {}: {problem}", place.input.name());
    Ok(Violation::error(code, message).hint(help))
}

/// Returns whether only the original can have caused the error: the copy belongs to this process.
fn is_of_original(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound)
}
