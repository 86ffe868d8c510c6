//! How slow this host is. Must never need more than the standard library: the cell's own leak test has this
//! file too.

/// How many times as long as elsewhere everything may take on this host: 1, or what `TOOLEXEC_PATIENCE`
/// says where the processor itself is emulated. Waits are multiplied by it, and nothing else.
///
/// # Panics
/// It says no number.
#[must_use]
pub fn patience() -> u32 {
    let said = std::env::var("TOOLEXEC_PATIENCE").unwrap_or_else(|_| "1".to_owned());
    said.parse().unwrap_or_else(|error| panic!("TOOLEXEC_PATIENCE={said}: {error}"))
}
