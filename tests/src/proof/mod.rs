//! Support for crash tests of the spool: a tool whose runs are counted from outside, requests of
//! every kind, and checks of a spool after a crash and after recovery.
//!
//! Evidence is files, the programs' own checks, and the kernel's count of tool starts. Must never
//! accept the daemon's log as evidence. Must never abort a test in the middle of a table: faults
//! are returned as a list.

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
