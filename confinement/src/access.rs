//! Landlock: denies files, TCP and signals, except what the program adds.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetError, RulesetStatus, Scope,
};

use crate::error::ConfinementError;

/// The newest Landlock ABI to ask for. The kernel's missing rights are left out.
const LANDLOCK_ABI: ABI = ABI::V6;

/// Denies every file, the given uses of TCP, abstract Unix sockets of other programs and signals to
/// them, except what `allow` adds. Executed programs can gain no rights afterwards.
///
/// A kernel without Landlock denies nothing, and an older one less: the result says so. Code must
/// not rely on the restriction.
///
/// # Errors
/// The kernel refused a restriction that it has.
pub fn restrict_access(
    tcp: BitFlags<AccessNet>,
    allow: impl FnOnce(RulesetCreated) -> Result<RulesetCreated, RulesetError>,
) -> Result<RulesetStatus, ConfinementError> {
    rustix::thread::set_no_new_privs(true).map_err(ConfinementError::NoNewPrivs)?;
    landlock(tcp, allow).map_err(ConfinementError::Landlock)
}

fn landlock(
    tcp: BitFlags<AccessNet>,
    allow: impl FnOnce(RulesetCreated) -> Result<RulesetCreated, RulesetError>,
) -> Result<RulesetStatus, RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(tcp)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?;
    Ok(allow(rules)?.restrict_self()?.ruleset)
}
