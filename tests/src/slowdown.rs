//! The slowness of this host. Standard library only: a test of `sandbox` includes this file.

/// Returns the factor for all waits: `TOOLEXEC_SLOWDOWN` with an emulated processor, otherwise 1.
///
/// # Panics
/// Panics if `TOOLEXEC_SLOWDOWN` is not a number.
#[must_use]
pub fn time_factor() -> u32 {
    let factor = std::env::var("TOOLEXEC_SLOWDOWN").unwrap_or_else(|_| "1".to_owned());
    factor.parse().unwrap_or_else(|error| panic!("TOOLEXEC_SLOWDOWN={factor}: {error}"))
}
