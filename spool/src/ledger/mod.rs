//! The ledger of started requests: one line each, durable before exec and never removed.
//!
//! The line is the intent. The process that writes it may start the tool, once; if the line already
//! exists, no process may. Both the digest and the id of a request are used up: neither the same
//! bytes nor another request with the same id can run again. A replay of a record uses nothing up
//! and is kept apart: its line is only the input of the record that recovery writes after a crash.
//!
//! Only the position of each line is kept in memory, by its keys, because there is a line for every
//! run ever made. A look-up reads the line again.
//!
//! A ledger that was lost, cut or restored from an older copy would let requests run again. So each
//! line has a checksum over all lines above it, the length and checksum of the durable part are
//! kept in a separate file, and every start compares the ledger with the results, archived requests
//! and claims.

mod account;
mod begin;
mod entry;
mod fault;
mod file;
mod head;
mod keys;
mod lines;
mod model;
mod rebuild;
mod scan;
mod seal;

pub use self::model::Seen;
pub use account::{WasBegun, check_ledger};
pub use begin::{BeginError, Begun, NoncesUsed};
pub use fault::LedgerFault;
pub use rebuild::{LedgerOrder, Rebuilt, RunFacts, rebuild_ledger};

pub(crate) use self::model::Intent;
pub(crate) use entry::Entry;
pub(crate) use file::Ledger;
pub(crate) use head::{HEAD, Head, HeadFile};
pub(crate) use scan::{each_line, results_of};
pub(crate) use seal::Sum;

#[cfg(test)]
mod tests;
