//! The daemon's side of a run: `Launcher` → `PreparedCell` → `ReadyCell` → `RunningCell` → `Finished`,
//! each consumed by the next.
//!
//! A cell can be prepared before there is anything to run in it. A [`ReadyCell`] is confined and waiting; nothing of the tool's has run. The caller makes its intent
//! durable and only then calls [`ReadyCell::start`]. Everything read here was written by a tool or a
//! process with the tool's uid: it is bounded, kept, hashed and believed in nothing.

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
