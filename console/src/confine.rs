//! The program restricts itself before it serves: the directories of the spool that it shows, the
//! file of approvers, and new files in `signed/` only. The rest of the code must not rely on it: a
//! kernel without Landlock only causes a warning.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::state::ConsoleState;
use crate::syscalls;

/// The newest Landlock ABI to ask for. The kernel's missing rights are left out.
const LANDLOCK_ABI: ABI = ABI::V6;

/// The parts of a spool that the pages show.
const SHOWN_PARTS: [&str; 4] = ["drafts", "public", "results", "log"];

/// Gives up all rights that serving does not need. It must run before any thread is started.
///
/// # Errors
/// The kernel refused a restriction that it has.
pub(crate) fn confine(console: &ConsoleState) -> Result<(), String> {
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
    let status = restrict(console)
        .map_err(|error| format!("landlock: {error}; help: check what confines this process"))?;
    if status == RulesetStatus::NotEnforced {
        eprintln!(
            "toolexec-console: this kernel has no Landlock; files are not restricted; help: boot a \
             kernel with Landlock"
        );
    }
    // Last, because it allows none of the calls above.
    syscalls::restrict()
}

fn restrict(console: &ConsoleState) -> Result<RulesetStatus, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let parts = SHOWN_PARTS.map(|part| console.part(part));
    let signers = console.passkeys.directory();
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(parts, look))?
        // The file may be replaced by a rename.
        .add_rules(path_beneath_rules(signers, AccessFs::ReadFile))?;
    if let Some(signed) = &console.signed {
        rules = rules.add_rule(PathBeneath::new(signed, delivering()))?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// Returns the rights to place a file in a directory, and to read the answer.
fn delivering() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
}
