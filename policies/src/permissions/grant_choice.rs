//! The choice of the grant for each call. A use must never be counted for two calls, and a grant
//! must never be used for an input that it does not cover.

use model::{Sha256, UtcTime};

use super::call::{ToolCalls, digest};
use super::finding::ToolFinding;
use super::grant::{GrantId, PermissionGrant, ToolGrants};

/// Returns the inputs of the calls; without a known input, one call of unknown input.
fn inputs_of(calls: &ToolCalls) -> Vec<Option<Sha256>> {
    match calls.inputs.is_empty() {
        true => vec![None],
        false => calls.inputs.iter().map(|input| Some(digest(input))).collect(),
    }
}

/// Returns the grant that each call would use. Unlimited grants come first, then grants for these
/// inputs only, then those that expire soonest, so that the more general grants remain.
pub(super) fn choose_grants(
    tool_grants: &ToolGrants,
    calls: &ToolCalls,
    now: UtcTime,
) -> Result<Vec<GrantId>, ToolFinding> {
    if let Some(denial) = tool_grants.denied {
        return Err(ToolFinding::Denied(denial));
    }
    let mut live: Vec<&PermissionGrant> =
        tool_grants.grants.iter().filter(|it| it.is_live(now)).collect();
    if live.is_empty() {
        return Err(if tool_grants.grants.is_empty() {
            ToolFinding::Missing
        } else {
            ToolFinding::Expired
        });
    }
    live.sort_by_key(|it| {
        let end = it.expires.map_or(i64::MAX, UtcTime::unix);
        (it.uses_left.is_some(), it.inputs.is_none(), end, it.id)
    });
    let mut left: Vec<Option<u32>> = live.iter().map(|it| it.uses_left.map(|n| n.get())).collect();
    let mut used = Vec::new();
    for input in inputs_of(calls) {
        let fits = |grant: &PermissionGrant| match input {
            Some(digest) => grant.is_for(|| digest),
            None => grant.inputs.is_none(),
        };
        let at = (0..live.len()).find(|&at| left[at] != Some(0) && fits(live[at]));
        let at = at.ok_or(ToolFinding::NotCovered)?;
        left[at] = left[at].map(|uses| uses - 1);
        used.push(live[at].id);
    }
    Ok(used)
}
