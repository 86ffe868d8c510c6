//! The daemon's side of a run: `Launcher` → `PreparedCell` → `ReadyCell` → `RunningCell` →
//! `Finished`, each consumed by the next.
//!
//! A sandbox can be prepared before its command is known. A [`ReadyCell`] is confined and waiting,
//! and no code of the tool has run. The caller makes its intent durable and only then calls
//! [`ReadyCell::start`]. A tool or a process with the tool's uid wrote everything that is read
//! here: it is bounded, kept and hashed, and must never be trusted.

mod asked;
mod conversation;
mod error;
mod launcher;
mod own;
mod prepared;
mod run;
mod start;

pub use asked::AskedCell;
pub use error::{BuildError, Standstill};
pub use launcher::{Launcher, Reach};
pub use prepared::{PreparedCell, ReadyCell};
pub use run::{RunNews, RunningCell};
pub use start::{StartLimit, Wait, Waiting};
