//! The slowness of this host. Must use only the standard library: the leak test of `sandbox`
//! includes this file.

/// Returns the factor by which all waits are multiplied: `TOOLEXEC_PATIENCE` on a host with an
/// emulated processor, otherwise 1. Nothing else is scaled.
///
/// # Panics
/// Panics if `TOOLEXEC_PATIENCE` is not a number.
#[must_use]
pub fn time_factor() -> u32 {
    let said = std::env::var("TOOLEXEC_PATIENCE").unwrap_or_else(|_| "1".to_owned());
    said.parse().unwrap_or_else(|error| panic!("TOOLEXEC_PATIENCE={said}: {error}"))
}
