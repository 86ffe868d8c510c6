//! Copies a tree, and computes the digest of the bytes that it writes; or reads it only, in the
//! same walk. It must never follow a link, replace an existing entry, write a byte that is not part
//! of the digest, or sync the copy.

mod context;
mod file;
mod tree;

use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::AtomicUsize;

use self::context::{CopyContext, CopyTotals, DirectoryPair};
use self::tree::TreeCopy;
use crate::digest::TreeSummary;
use crate::error::TreeError;
use crate::limits::TreeLimits;
use crate::links::LinkRule;
use crate::walk::open_top;

/// Copies the content of the directory `from` into the empty directory `to`, and returns the digest
/// of the copy. Files get the mode 0444, or 0555 with any execute bit; directories get 0755. Links
/// stay as they are. Calls `on_bytes` with the number of bytes written since its last call.
///
/// # Errors
/// Returns an entry that is refused, is beyond a limit, changes, exists in `to`, or cannot be read
/// or written. The copy is incomplete then.
pub fn copy_tree(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    rule: LinkRule,
    limits: &TreeLimits,
    on_bytes: &mut dyn FnMut(u64),
) -> Result<TreeSummary, TreeError> {
    walk(from, Some(to), rule, limits, on_bytes)
}

/// Computes the digest of a directory in two threads: that of [`crate::digest_tree`], with the
/// refusals of [`copy_tree`]. Calls `on_bytes` with the number of bytes read since its last call.
///
/// # Errors
/// Returns an entry that is refused, is beyond a limit, changes, or cannot be read.
pub fn digest_as_copy(
    from: BorrowedFd<'_>,
    rule: LinkRule,
    limits: &TreeLimits,
    on_bytes: &mut dyn FnMut(u64),
) -> Result<TreeSummary, TreeError> {
    walk(from, None, rule, limits, on_bytes)
}

fn walk(
    from: BorrowedFd<'_>,
    to: Option<BorrowedFd<'_>>,
    rule: LinkRule,
    limits: &TreeLimits,
    on_bytes: &mut dyn FnMut(u64),
) -> Result<TreeSummary, TreeError> {
    let (totals, failed) = (CopyTotals::default(), AtomicUsize::new(usize::MAX));
    // The descriptor of the caller may have a position.
    let from = open_top(from).map_err(TreeError::failed("", "open"))?;
    let context = CopyContext { rule, limits, totals: &totals, failed: &failed, position: 0 };
    let top = DirectoryPair { from: from.as_fd(), to, depth: 1 };
    let sha256 = TreeCopy::new(context, on_bytes).split(top)?;
    Ok(totals.into_summary(sha256))
}
