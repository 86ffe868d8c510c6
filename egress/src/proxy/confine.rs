//! What the program takes from itself before it reads a byte: everything that looking up names and
//! dialling do not need. It must run before any thread is started.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use egress::frame::Confinement;

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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind::PermissionDenied;
    use std::net::TcpListener;

    use super::*;

    /// Landlock holds for the thread that asks for it, so each test has one of its own.
    fn confined(system_resolver: bool, check: fn()) {
        let held = std::thread::spawn(move || {
            let confinement = confine(system_resolver).expect("confined");
            if confinement == Confinement::NoNewPrivs {
                return eprintln!("SKIPPED confine: this kernel has no Landlock");
            }
            check();
            if confinement == Confinement::Landlock {
                let bound = TcpListener::bind("127.0.0.1:0").map_err(|error| error.kind());
                assert_eq!(bound.map(drop), Err(PermissionDenied));
            }
        });
        held.join().expect("holds");
    }

    fn opened(path: &str) -> Result<(), std::io::ErrorKind> {
        File::open(path).map(drop).map_err(|error| error.kind())
    }

    #[test]
    fn without_the_systems_resolver_there_is_no_file() {
        confined(false, || {
            for path in ["/etc/hosts", "/", "/proc/self/status", "/dev/null"] {
                assert_eq!(opened(path), Err(PermissionDenied), "{path}");
            }
            assert!(File::create("/tmp/toolexec-egress-confined").is_err());
        });
    }

    #[test]
    fn with_it_there_is_what_it_reads_and_nothing_to_write() {
        confined(true, || {
            assert_eq!(opened("/etc/passwd"), Ok(()));
            for path in ["/proc/self/status", "/var", "/usr/bin", "/root"] {
                assert_eq!(opened(path), Err(PermissionDenied), "{path}");
            }
            assert!(File::create("/etc/toolexec-egress-confined").is_err());
        });
    }
}
