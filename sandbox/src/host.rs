//! What the kernel of this host says of itself, for whoever looks at a host before anything is run on it.
//! It must never change anything, and no cell is built on what it says: a cell is tried, not guessed.

use std::io;

use crate::sys;

/// The version of Landlock that this kernel offers.
///
/// # Errors
/// There is none: the kernel was built without it (ENOSYS), or started without it (EOPNOTSUPP).
pub fn landlock_abi() -> io::Result<u32> {
    sys::landlock_version()
}

/// Whether somebody keeps the wall clock right, as the kernel was told.
///
/// # Errors
/// It may not be asked here.
pub fn clock_is_kept() -> io::Result<bool> {
    sys::clock_is_kept()
}
