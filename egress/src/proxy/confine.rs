//! What the program takes from itself before it reads a byte: everything that looking up names and
//! dialling do not need. It must run before any thread is started.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::frame::Confinement;

/// The newest rights that are asked for; what this kernel does not know is left out and said.
const NEWEST: ABI = ABI::V6;

/// Where the C library looks when it looks up a name: its configuration (which others replace by
/// renaming, so the directory and not the file), what links in it lead to, and its plug-ins.
const LOOKING_UP: [&str; 9] = [
    "/etc",
    "/run/systemd/resolve",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/libc-bin",
];

/// Gives up what is not needed. `system_resolver` keeps reading what the C library reads.
///
/// # Errors
/// `no_new_privs` or a rule was refused by a kernel that has Landlock.
pub(super) fn confine(system_resolver: bool) -> Result<Confinement, String> {
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
    landlock(system_resolver).map_err(|error| format!("landlock: {error}"))
}

fn landlock(system_resolver: bool) -> Result<Confinement, landlock::RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        // Listening only: what it may dial cannot be said by port.
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?;
    // Those that this host does not have are not needed on it.
    let present =
        LOOKING_UP.iter().filter(|_| system_resolver).filter_map(|it| PathFd::new(it).ok());
    for directory in present {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        rules = rules.add_rule(PathBeneath::new(directory, read))?;
    }
    Ok(match rules.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => Confinement::Landlock,
        RulesetStatus::PartiallyEnforced => Confinement::LandlockPartly,
        RulesetStatus::NotEnforced => Confinement::NoNewPrivs,
    })
}
