//! The program restricts itself before it serves: the directories of the spool that it shows, the
//! file of approvers, and new files in `signed/` only. The rest of the code must not rely on it: a
//! kernel without Landlock only causes a warning.

use confinement::{ConfinementError, restrict_access};
use landlock::{
    AccessFs, AccessNet, BitFlags, PathBeneath, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, path_beneath_rules,
};

use crate::state::ConsoleState;
use crate::syscalls;

/// The parts of a spool that the pages show.
const SHOWN_PARTS: [&str; 4] = ["drafts", "public", "results", "log"];

/// Gives up all rights that serving does not need. It must run before any thread is started.
///
/// # Errors
/// The kernel refused a restriction that it has.
pub(crate) fn confine(console: &ConsoleState) -> Result<(), ConfinementError> {
    let tcp = AccessNet::BindTcp | AccessNet::ConnectTcp;
    let status = restrict_access(tcp, |rules| allow_files(rules, console))?;
    if status == RulesetStatus::NotEnforced {
        eprintln!(
            "toolexec-console: this kernel has no Landlock; files are not restricted; help: boot a \
             kernel with Landlock"
        );
    }
    // Last, because it allows none of the calls above.
    syscalls::allowed().apply()
}

fn allow_files(
    rules: RulesetCreated,
    console: &ConsoleState,
) -> Result<RulesetCreated, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let parts = SHOWN_PARTS.map(|part| console.part(part));
    let signers = console.passkeys.directory();
    let rules = rules
        .add_rules(path_beneath_rules(parts, look))?
        // The file may be replaced by a rename.
        .add_rules(path_beneath_rules(signers, AccessFs::ReadFile))?;
    match &console.signed {
        Some(signed) => rules.add_rule(PathBeneath::new(signed, delivering())),
        None => Ok(rules),
    }
}

/// Returns the rights to place a file in a directory, and to read the answer.
fn delivering() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
}
