//! What a process that holds a private key does so that its memory stays its own: it leaves no core
//! file, and no other process of its user may read or trace it. It must never be undone; a program
//! that is executed from here begins anew, as it should.

use std::io;

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};

/// From now on: not dumpable (prctl(2), `PR_SET_DUMPABLE`), so that `/proc/<pid>/mem` is root's and
/// ptrace(2) of the same user fails, and no core file.
pub(crate) fn keep_memory_private() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // The soft limit only: launchers inherit it, and raise it to 1, which is what stops a core file
    // that goes to a program (coredump.c); a process that is not dumpable has none of either kind.
    let Rlimit { maximum, .. } = getrlimit(Resource::Core);
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum })?;
    Ok(())
}
