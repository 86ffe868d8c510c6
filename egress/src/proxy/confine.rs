//! What the program takes from itself before it reads a byte: everything that looking up names and
//! dialling do not need. It must run before any thread is started.

use caps::CapSet;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use egress::frame::Confinement;

use super::calls;

/// The newest rights that are asked for; what this kernel does not know is left out and said.
const NEWEST: ABI = ABI::V6;

/// Where the C library looks when it looks up a name, besides its configuration: what links in that lead
/// to, and its plug-ins.
const LOOKING_UP: [&str; 8] = [
    "/run/systemd/resolve",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/libc-bin",
];
/// Its configuration.
const CONFIGURATION: [&str; 6] = [
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
];
/// Where that is, for who lives long enough to see others replace a file by renaming.
const CONFIGURATIONS_PLACE: [&str; 1] = ["/etc"];

/// What looking up names needs to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    Nothing,
    /// For one run: the files as they are now.
    Files,
    /// For many: as they become, too.
    Directory,
}

/// Gives up what is not needed.
///
/// # Errors
/// `no_new_privs`, a capability's end or the list of system calls was refused, or a rule by a kernel that
/// has Landlock.
pub(super) fn confine(reads: Reads) -> Result<Confinement, String> {
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
    let confinement = landlock(reads).map_err(|error| format!("landlock: {error}"))?;
    drop_capabilities().map_err(|error| format!("capabilities: {error}"))?;
    // The last, because it allows none of the above.
    calls::restrict()?;
    Ok(confinement)
}

/// Root without capabilities is a user like others, but for the files that are root's.
fn drop_capabilities() -> Result<(), caps::errors::CapsError> {
    // Who may not narrow the bounding set has nothing that `no_new_privs` would let out of it.
    if caps::has_cap(None, CapSet::Effective, caps::Capability::CAP_SETPCAP)? {
        caps::clear(None, CapSet::Bounding)?;
    }
    for set in [CapSet::Ambient, CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        // A unit's list of system calls may lack those that are not needed where nothing is left.
        if !caps::read(None, set)?.is_empty() {
            caps::clear(None, set)?;
        }
    }
    Ok(())
}

fn landlock(reads: Reads) -> Result<Confinement, landlock::RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        // Listening only: what it may dial cannot be said by port.
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?;
    let (files, directories): (&[&str], &[&[&str]]) = match reads {
        Reads::Nothing => (&[], &[]),
        Reads::Files => (&CONFIGURATION, &[&LOOKING_UP]),
        Reads::Directory => (&[], &[&LOOKING_UP, &CONFIGURATIONS_PLACE]),
    };
    let beneath = AccessFs::ReadFile | AccessFs::ReadDir;
    let directories = directories.concat().into_iter().map(|path| (path, beneath));
    let files = files.iter().map(|path| (*path, AccessFs::ReadFile.into()));
    for (path, read) in files.chain(directories) {
        // What this host does not have is not needed on it.
        if let Ok(there) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(there, read))?;
        }
    }
    Ok(match rules.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => Confinement::Landlock,
        RulesetStatus::PartiallyEnforced => Confinement::LandlockPartly,
        RulesetStatus::NotEnforced => Confinement::NoNewPrivs,
    })
}

#[cfg(test)]
#[path = "confine_tests.rs"]
mod tests;
