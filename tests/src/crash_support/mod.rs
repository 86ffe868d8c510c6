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

pub use aftermath::{SpoolTree, differences, faults_after_crash, faults_after_recovery, read_tree};
pub use counted::{CountedTool, RunCounter, RunCounts};
pub use door::SocketLauncher;
pub use failpoints::{FailpointDaemon, arrivals};
pub use recovery::{IDLE_TIME, recovery_faults};
pub use scene::{CrashFile, CrashFileKind, CrashScene, HostCondition, configure_for_crash_tests};
pub use traced::{
    count_calls, highest_thread_counts, signal_tracee, strace_command, strace_works, tracee,
};
