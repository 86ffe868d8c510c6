//! The server confines itself before it reads a message: three directories, and no TCP except a
//! socket that listens already. The rest of the code must not rely on it: a kernel without Landlock
//! only causes a warning.

use confinement::restrict_access;
use landlock::{
    AccessFs, AccessNet, BitFlags, PathBeneath, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus,
};

use super::server_state::ServerState;
use crate::failure::Failure;
use crate::output;

pub(super) fn confine(state: &ServerState) -> Result<(), Failure> {
    let tcp = AccessNet::BindTcp | AccessNet::ConnectTcp;
    let status = restrict_access(tcp, |rules| allow_files(rules, state))
        .map_err(|error| Failure::Message(error.to_string()))?;
    if status == RulesetStatus::NotEnforced {
        output::note(
            "mcp: this kernel has no Landlock; the server runs without its restrictions; help: \
             boot a kernel with Landlock",
        );
    }
    Ok(())
}

fn allow_files(rules: RulesetCreated, state: &ServerState) -> Result<RulesetCreated, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    rules
        .add_rule(PathBeneath::new(&state.results, look))?
        .add_rule(PathBeneath::new(&state.public, look))?
        .add_rule(PathBeneath::new(&state.drafts, drafting()))
}

/// Returns the rights for `drafts/`. Only regular files and directories can be created.
fn drafting() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
}
