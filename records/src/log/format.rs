//! The names, versions and bounds of a log, which its files share.

/// No more entries are appended at once: of so many a log that is opened again still knows which it
/// has.
pub const BATCH_MAX: usize = 512;
/// At least so many of the latest entries are known again: two whole bundles.
pub(crate) const REMEMBERED: u64 = 512;

/// The file with the newest checkpoint.
pub(crate) const CHECKPOINT: &str = "checkpoint";

/// The entry of a signed statement.
pub(crate) const ENTRY_KIND: &str = "hashedrekord";
pub(crate) const ENTRY_VERSION: &str = "0.0.2";
/// Of the entries that are the log's own.
pub(crate) const OWN_VERSION: &str = "0.1.0";
