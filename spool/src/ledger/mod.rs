//! Which requests were started: one line each, durable before exec, never removed.
//!
//! The line is the intent. Whoever has it may start the tool, once; whoever finds it there already may
//! not. Its digest and its id both use a request up, so that neither the same bytes nor another
//! request under the same id can run again. A replay of a record uses nothing up and is kept apart: its
//! line only says what recovery must tell if nobody is left to.
//!
//! Of a line that was read only its place is kept, by its keys: there are as many lines as there ever were
//! runs. Who asks for one has it read again.
//!
//! A ledger that was lost, cut or put back from an older copy would let requests run again. So each line has a
//! checksum over all lines above it, the length and checksum of what is durable are kept beside it, and results,
//! archived requests and claims are held against it at each start.

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
