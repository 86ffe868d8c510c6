//! Support for crash tests of the spool: a tool whose runs are counted from outside, requests of
//! every kind, and checks after a crash and after recovery. Evidence is files, the programs' own
//! checks, and the kernel's count of tool starts; the daemon's log must never be evidence. Faults
//! are returned as a list: must never abort a test in the middle of a table.

mod checks;
mod crash_scene;
mod failpoints;
mod recovery;
mod run_counter;
mod socket_launcher;
mod strace;

pub use checks::{SpoolTree, differences, faults_after_crash, faults_after_recovery, read_tree};
pub use crash_scene::{
    CrashFile, CrashFileKind, CrashScene, HostCondition, configure_for_crash_tests,
};
pub use failpoints::{FailpointDaemon, arrivals};
pub use recovery::{IDLE_TIME, recovery_faults};
pub use run_counter::{CountedTool, RunCounter, RunCounts};
pub use socket_launcher::SocketLauncher;
pub use strace::{
    count_calls, highest_thread_counts, signal_tracee, strace_command, strace_works, tracee,
};
