//! The names, versions and bounds of a log.

/// The maximum number of entries in a batch. A log that is opened again still remembers this many.
pub const BATCH_MAX: usize = 512;
/// The minimum number of remembered latest entries: two whole bundles.
pub(crate) const REMEMBERED_MIN: u64 = 512;

pub(crate) const CHECKPOINT: &str = "checkpoint";

pub(crate) const ENTRY_KIND: &str = "hashedrekord";
pub(crate) const ENTRY_VERSION: &str = "0.0.2";
pub(crate) const OWN_VERSION: &str = "0.1.0";
