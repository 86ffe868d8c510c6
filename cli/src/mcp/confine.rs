//! What the server takes from itself before it reads a message: every right to files but for three
//! directories, and all TCP. It is no substitute for the code's own care, which does not lean on it: an old
//! kernel has none of it, and that is said.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::desk::Desk;
use crate::failure::Failure;
use crate::output;

/// The newest rights that are asked for; what this kernel does not know is left out.
const NEWEST: ABI = ABI::V6;

pub(super) fn confine(desk: &Desk) -> Result<(), Failure> {
    let status = restrict(desk).map_err(|error| Failure::Said(format!("landlock: {error}")))?;
    if status == RulesetStatus::NotEnforced {
        output::note(
            "mcp: this kernel has no Landlock; the server's own code is all that holds it",
        );
    }
    Ok(())
}

fn restrict(desk: &Desk) -> Result<RulesetStatus, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        .add_rule(PathBeneath::new(&desk.results, look))?
        .add_rule(PathBeneath::new(&desk.public, look))?
        .add_rule(PathBeneath::new(&desk.drafts, drafting()))?
        .restrict_self()?;
    Ok(restricted.ruleset)
}

/// Files and directories come, get their names and go; they are read to be made durable. Nothing else can
/// be made there.
fn drafting() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
}
