//! Memory protection for a process that holds a private key: no core file, and no read or trace by
//! other processes of its user. It must never be undone; executed programs start without it.

use std::io;

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};

/// Makes the process not dumpable (prctl(2), `PR_SET_DUMPABLE`) and disables core files. Only root
/// can then read `/proc/<pid>/mem`, and ptrace(2) by the same user fails.
pub(crate) fn keep_memory_private() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // Only the soft limit: launchers inherit it and raise it to 1, the value that stops a core file
    // that is piped to a program (coredump.c). A process that is not dumpable writes neither kind.
    let Rlimit { maximum, .. } = getrlimit(Resource::Core);
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum })?;
    Ok(())
}
