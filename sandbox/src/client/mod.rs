//! The daemon's side of a run: `Launcher` → `PreparedSandbox` → `ReadySandbox` → `RunningSandbox` →
//! `FinishedRun`, each consumed by the next.
//!
//! A [`ReadySandbox`] is confined and waiting, and no code of the tool has run: the caller makes
//! its intent durable and only then calls [`ReadySandbox::start`]. All that is read here comes from
//! a process with the tool's uid: it is bounded, kept and hashed, and must never be trusted.

mod child;
mod error;
mod launcher;
mod pending;
mod prepared;
mod run;
mod session;
mod start;

pub use child::LauncherProgram;
pub use error::{BuildError, StallReport};
pub use launcher::{Launcher, LauncherAddress};
pub use pending::PendingSandbox;
pub use prepared::{PreparedSandbox, ReadySandbox};
pub use run::{RunEvent, RunningSandbox};
pub use start::{StartLimit, StartWait, WaitDecision};
