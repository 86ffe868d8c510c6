//! The server confines itself before it reads a message: three directories, and no TCP except a
//! socket that listens already. The rest of the code must not rely on it: a kernel without Landlock
//! only causes a warning.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::server_state::ServerState;
use crate::failure::Failure;
use crate::output;

/// The newest Landlock ABI to ask for. The kernel's missing rights are left out.
const LANDLOCK_ABI: ABI = ABI::V6;

pub(super) fn confine(state: &ServerState) -> Result<(), Failure> {
    let status = restrict(state).map_err(|error| {
        Failure::Message(format!("landlock: {error}; help: check what confines this process"))
    })?;
    if status == RulesetStatus::NotEnforced {
        output::note(
            "mcp: this kernel has no Landlock; the server runs without its restrictions; help: \
             boot a kernel with Landlock",
        );
    }
    Ok(())
}

fn restrict(state: &ServerState) -> Result<RulesetStatus, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        .add_rule(PathBeneath::new(&state.results, look))?
        .add_rule(PathBeneath::new(&state.public, look))?
        .add_rule(PathBeneath::new(&state.drafts, drafting()))?
        .restrict_self()?;
    Ok(restricted.ruleset)
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
