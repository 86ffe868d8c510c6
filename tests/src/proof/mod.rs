//! What the proofs of the spool stand on: a tool whose runs are counted from outside, a set of requests of
//! every kind, and what must hold on a spool after a crash and after recovery.
//!
//! Everything is judged by files, by the programs' own checks and by the kernel's word that a tool was
//! started. Must never take the daemon's log for a proof, or end a test in the middle of a table: what is
//! wrong comes back as a list.

mod aftermath;
mod counted;
mod door;
mod failpoints;
mod recovery;
mod scene;
mod traced;

pub use aftermath::{Tree, crashed, differences, rested, tree_of};
pub use counted::{Counted, Counts, Tool};
pub use door::Door;
pub use failpoints::{Failpoints, arrivals};
pub use recovery::{IDLE, recovered};
pub use scene::{Host, Kind, Member, Scene, settings};
pub use traced::{calls, calls_of_one_thread, signal_tracee, strace_works, traced, tracee};
