//! The ledger of started requests: one line each, durable before exec and never removed.
//!
//! The line is the intent. The process that writes it may start the tool, once; if the line already
//! exists, no process may. Both the digest and the id of a request are used up: neither the same
//! bytes nor another request with the same id can run again. A replay of a record uses nothing up:
//! its line is only the input of the record that recovery writes after a crash. Memory holds only
//! the position of each line, by its keys, because there is a line for every run ever made.
//!
//! A ledger that was lost, cut or restored from an older copy would let requests run again. So each
//! line has a checksum over all lines above it, a separate file has the length and checksum of the
//! durable part, and every start compares the ledger with results, archived requests and claims.

mod begin;
mod checksum;
mod completeness;
mod entry;
mod fault;
mod file;
mod head;
mod keys;
mod lines;
mod model;
mod rebuild;
mod scan;
mod standing;
mod use_marks;

pub use self::model::PriorRun;
pub use begin::{BeginError, Begun, UsedNonces};
pub use completeness::{WasBegun, check_ledger};
pub use fault::LedgerFault;
pub use rebuild::{LedgerOrder, RebuildSummary, RunFacts, rebuild_ledger};

pub(crate) use self::model::Intent;
pub(crate) use checksum::LineChecksum;
pub(crate) use entry::{LedgerEntry, LedgerNote};
pub(crate) use file::Ledger;
pub(crate) use head::{HEAD_FILE, HeadFile, LedgerHead};
pub(crate) use scan::{each_line, results_of};
pub(crate) use standing::{LATEST_USES_MAX, StandingNote};

#[cfg(test)]
mod rebuild_tests;
#[cfg(test)]
mod tests;
