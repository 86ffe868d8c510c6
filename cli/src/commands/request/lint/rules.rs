//! The rules that a document is checked against, and its violations.

use model::UtcTime;
use policies::Policy;
use validator::{
    Ceilings, DocumentKind, Draft, Expect, OwnerUid, Place, Request, Violation, fill_approval,
};

use crate::clock;

/// What a document is checked against.
pub(crate) struct LintRules<'a> {
    expect: Expect,
    beside: Beside<'a>,
}

/// What it is checked against beside its schema.
enum Beside<'a> {
    Nothing,
    /// Whether its limits are at the ceilings, or above.
    Ceilings(Ceilings),
    /// That, and what no approval mends.
    Policy(Ceilings, &'a Policy),
}

impl<'a> LintRules<'a> {
    pub(crate) fn of_schema(expect: Expect) -> Self {
        Self { expect, beside: Beside::Nothing }
    }

    /// With the ceilings of a policy that may not be the one that the request is for.
    pub(super) fn of_ceilings(expect: Expect, policy: &Policy) -> Self {
        Self { expect, beside: Beside::Ceilings(ceilings(policy)) }
    }

    /// With the bounds of the policy that the request is for.
    pub(crate) fn of(expect: Expect, policy: &'a Policy) -> Self {
        Self { expect, beside: Beside::Policy(ceilings(policy), policy) }
    }

    /// Every violation of a document of this name, by place.
    pub(crate) fn check(&self, bytes: &[u8], name: &str) -> (DocumentKind, Vec<Violation>) {
        let now = clock::now();
        let (kind, mut violations) = validator::lint(bytes, name, self.expect, now);
        if kind == DocumentKind::Request {
            violations.extend(match self.beside {
                Beside::Nothing => Vec::new(),
                Beside::Ceilings(ceilings) => validator::at_ceiling(bytes, ceilings),
                Beside::Policy(ceilings, policy) => {
                    let mut found = validator::at_ceiling(bytes, ceilings);
                    let request = as_approved(bytes, name, now);
                    found.extend(request.iter().flat_map(|it| policies::beyond(it, policy)));
                    found
                }
            });
            violations.sort_by_key(|row| (row.line, row.column));
        }
        (kind, violations)
    }
}

fn ceilings(policy: &Policy) -> Ceilings {
    let policies::Ceilings { cpu_milli, memory_mb, time_sec, .. } = *policy.ceilings();
    Ceilings { cpu_milli, memory_mb, time_sec }
}

/// The request that a text is when somebody approves it, for what no approval changes; nothing as long as
/// something else of it is wrong.
pub(crate) fn as_approved(bytes: &[u8], name: &str, at: UtcTime) -> Option<Request> {
    let filled = fill_approval(bytes, &"somebody".parse().ok()?, at).ok()?;
    let draft = Draft::new(filled.bytes, name, OwnerUid::new(0)).ok()?;
    draft.check(Place::Elsewhere, at).verdict.ok()
}
