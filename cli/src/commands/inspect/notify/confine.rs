//! The program confines itself before it reads the spool: it reads the spool's directories and what
//! name look-ups need, and writes only beside its state file. It may connect, but not listen. The
//! rest of the code must not rely on it: a kernel without Landlock only causes a warning.

use std::path::{Path, PathBuf};

use confinement::{NAME_LOOKUP_DIRECTORIES, restrict_access};
use landlock::{
    AccessFs, AccessNet, BitFlags, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
    path_beneath_rules,
};

use crate::failure::Failure;
use crate::output;

/// The parts of a spool. Those that do not exist at the start stay unreadable.
const SPOOL_PARTS: [&str; 5] = ["drafts", "approved", "public", "results", ".lock"];
/// They show if the daemon is alive.
const KERNEL_FILES: [&str; 2] = ["/proc/locks", "/proc/sys/kernel/random/boot_id"];
/// With the configuration of name look-ups, in which files are replaced by renames.
const CONFIGURATION: [&str; 1] = ["/etc"];

pub(super) fn confine(place: &Path, state: Option<&Path>) -> Result<(), Failure> {
    let status =
        restrict_access(AccessNet::BindTcp.into(), |rules| allow_files(rules, place, state))
            .map_err(|error| Failure::Message(error.to_string()))?;
    if status == RulesetStatus::NotEnforced {
        output::note(
            "notify: this kernel has no Landlock; the program runs without its restrictions; \
             help: boot a kernel with Landlock",
        );
    }
    Ok(())
}

fn allow_files(
    rules: RulesetCreated,
    place: &Path,
    state: Option<&Path>,
) -> Result<RulesetCreated, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let parts = SPOOL_PARTS.map(|part| place.join(part));
    rules
        .add_rules(path_beneath_rules(parts, look))?
        .add_rules(path_beneath_rules(KERNEL_FILES, look))?
        .add_rules(path_beneath_rules(CONFIGURATION, look))?
        .add_rules(path_beneath_rules(NAME_LOOKUP_DIRECTORIES, look))?
        .add_rules(path_beneath_rules(state.map(directory_of), replacing()))
}

/// Returns the directory of a file.
fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Returns the rights to replace a file in a directory.
fn replacing() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::MakeReg | AccessFs::RemoveFile
}
