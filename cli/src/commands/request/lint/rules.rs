//! The rules for linting a document.

use model::UtcTime;
use policies::Policy;
use validator::{
    Ceilings, DocumentKind, Draft, Expect, OwnerUid, Place, Request, Violation, fill_approval,
};

use crate::clock;

/// The rules for a document.
pub(crate) struct LintRules<'a> {
    expect: Expect,
    beside: Beside<'a>,
}

/// The rules beyond the schema.
enum Beside<'a> {
    Nothing,
    /// Warn if a limit reaches or exceeds a ceiling.
    Ceilings(Ceilings),
    /// The same, and problems that no approval can change.
    Policy(Ceilings, &'a Policy),
}

impl<'a> LintRules<'a> {
    pub(crate) fn of_schema(expect: Expect) -> Self {
        Self { expect, beside: Beside::Nothing }
    }

    /// Uses the ceilings of a policy that may not be the request's.
    pub(super) fn of_ceilings(expect: Expect, policy: &Policy) -> Self {
        Self { expect, beside: Beside::Ceilings(ceilings(policy)) }
    }

    /// Uses the limits of the request's policy.
    pub(crate) fn of(expect: Expect, policy: &'a Policy) -> Self {
        Self { expect, beside: Beside::Policy(ceilings(policy), policy) }
    }

    /// Returns every violation of a document, ordered by location.
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

/// Returns the request with a placeholder approval, for checks that do not depend on the approver.
/// `None` if it has other errors.
pub(crate) fn as_approved(bytes: &[u8], name: &str, at: UtcTime) -> Option<Request> {
    let filled = fill_approval(bytes, &"somebody".parse().ok()?, at).ok()?;
    let draft = Draft::new(filled.bytes, name, OwnerUid::new(0)).ok()?;
    draft.check(Place::Elsewhere, at).verdict.ok()
}
