//! The slowness of this host. Standard library only: a test of `sandbox` includes this file.

/// Returns the factor for all waits: `TOOLEXEC_PATIENCE` with an emulated processor, otherwise 1.
///
/// # Panics
/// Panics if `TOOLEXEC_PATIENCE` is not a number.
#[must_use]
pub fn time_factor() -> u32 {
    let factor = std::env::var("TOOLEXEC_PATIENCE").unwrap_or_else(|_| "1".to_owned());
    factor.parse().unwrap_or_else(|error| panic!("TOOLEXEC_PATIENCE={factor}: {error}"))
}
