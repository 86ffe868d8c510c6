//! Confines the program before it reads a byte: drops what name look-ups and connections do not
//! need. It must run before any thread is started.

use caps::CapSet;
use confinement::{ConfinementError, NAME_LOOKUP_DIRECTORIES, restrict_access};
use landlock::{
    AccessFs, AccessNet, PathBeneath, PathFd, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus,
};

use egress::frame::EgressConfinement;

use super::syscalls;

const CONFIGURATION_FILES: [&str; 6] = [
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
];
/// A service must notice when a file is replaced by a rename.
const CONFIGURATION_DIRECTORIES: [&str; 1] = ["/etc"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadableFiles {
    Nothing,
    /// For one run: the current files.
    Files,
    /// For many runs: the directory, because files may be replaced.
    Directory,
}

/// Drops all unneeded rights.
///
/// # Errors
/// The kernel refused `no_new_privs`, the removal of a capability, the system call filter, or a
/// Landlock rule although it has Landlock.
pub(super) fn confine(reads: ReadableFiles) -> Result<EgressConfinement, String> {
    let confinement = landlock(reads).map_err(|error| error.to_string())?;
    drop_capabilities().map_err(|error| format!("capabilities: {error}"))?;
    // Last, because it allows none of the calls above.
    syscalls::allowed().apply().map_err(|error| error.to_string())?;
    Ok(confinement)
}

/// Root without capabilities is like any other user, except for files that root owns.
fn drop_capabilities() -> Result<(), caps::errors::CapsError> {
    // Without CAP_SETPCAP the bounding set stays, which `no_new_privs` makes harmless.
    if caps::has_cap(None, CapSet::Effective, caps::Capability::CAP_SETPCAP)? {
        caps::clear(None, CapSet::Bounding)?;
    }
    for set in [CapSet::Ambient, CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        // A unit's system call filter may lack these calls, which are not needed for an empty set.
        if !caps::read(None, set)?.is_empty() {
            caps::clear(None, set)?;
        }
    }
    Ok(())
}

fn landlock(reads: ReadableFiles) -> Result<EgressConfinement, ConfinementError> {
    // Only listening: Landlock cannot limit the addresses of outgoing connections.
    let status = restrict_access(AccessNet::BindTcp.into(), |rules| allow_files(rules, reads))?;
    Ok(match status {
        RulesetStatus::FullyEnforced => EgressConfinement::Landlock,
        RulesetStatus::PartiallyEnforced => EgressConfinement::LandlockPartly,
        RulesetStatus::NotEnforced => EgressConfinement::NoNewPrivs,
    })
}

fn allow_files(
    mut rules: RulesetCreated,
    reads: ReadableFiles,
) -> Result<RulesetCreated, RulesetError> {
    let (files, directories): (&[&str], &[&[&str]]) = match reads {
        ReadableFiles::Nothing => (&[], &[]),
        ReadableFiles::Files => (&CONFIGURATION_FILES, &[&NAME_LOOKUP_DIRECTORIES]),
        ReadableFiles::Directory => (&[], &[&NAME_LOOKUP_DIRECTORIES, &CONFIGURATION_DIRECTORIES]),
    };
    let beneath = AccessFs::ReadFile | AccessFs::ReadDir;
    let directories = directories.concat().into_iter().map(|path| (path, beneath));
    let files = files.iter().map(|path| (*path, AccessFs::ReadFile.into()));
    for (path, read) in files.chain(directories) {
        // A path that does not exist on this host is not needed.
        if let Ok(there) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(there, read))?;
        }
    }
    Ok(rules)
}

#[cfg(test)]
#[path = "confine_tests.rs"]
mod tests;
