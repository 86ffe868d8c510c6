//! Kernel properties of this host, for checks before a run. It must never change anything. No
//! sandbox is built on these answers: the launcher tries each layer instead.

use std::io;

use crate::sys;

/// Returns the Landlock ABI version of this kernel.
///
/// # Errors
/// Landlock is not available: not built into the kernel (ENOSYS) or disabled at boot (EOPNOTSUPP).
pub fn landlock_abi() -> io::Result<u32> {
    sys::landlock_version()
}

/// Returns whether the kernel considers the wall clock synchronized (`STA_UNSYNC` is not set).
///
/// # Errors
/// adjtimex(2) is not allowed here.
pub fn clock_is_synchronized() -> io::Result<bool> {
    sys::clock_is_synchronized()
}
