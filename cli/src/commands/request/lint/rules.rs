//! The rules for linting a document.

use model::UtcTime;
use policies::Policy;
use validator::{
    ApprovalRequirement, DocumentKind, Draft, FileLocation, LimitCeilings, OwnerUid, Request,
    Violation, fill_placeholder_approval,
};

use crate::clock;

pub(crate) struct LintRules<'a> {
    expect: ApprovalRequirement,
    extra: ExtraRules<'a>,
}

enum ExtraRules<'a> {
    Nothing,
    /// Warn if a limit reaches or exceeds a ceiling.
    Ceilings(LimitCeilings),
    /// The same, and problems that no approval can change.
    Policy(LimitCeilings, &'a Policy),
}

impl<'a> LintRules<'a> {
    pub(crate) fn of_schema(expect: ApprovalRequirement) -> Self {
        Self { expect, extra: ExtraRules::Nothing }
    }

    /// Uses the ceilings of a policy that may not be the request's.
    pub(super) fn of_ceilings(expect: ApprovalRequirement, policy: &Policy) -> Self {
        Self { expect, extra: ExtraRules::Ceilings(ceilings(policy)) }
    }

    /// Uses the limits of the request's policy.
    pub(crate) fn of(expect: ApprovalRequirement, policy: &'a Policy) -> Self {
        Self { expect, extra: ExtraRules::Policy(ceilings(policy), policy) }
    }

    /// Returns every violation of a document, ordered by location.
    pub(crate) fn check(&self, bytes: &[u8], name: &str) -> (DocumentKind, Vec<Violation>) {
        let now = clock::now();
        let (kind, mut violations) = validator::lint(bytes, name, self.expect, now);
        if kind == DocumentKind::Request {
            violations.extend(match self.extra {
                ExtraRules::Nothing => Vec::new(),
                ExtraRules::Ceilings(ceilings) => validator::ceiling_warnings(bytes, ceilings),
                ExtraRules::Policy(ceilings, policy) => {
                    let mut found = validator::ceiling_warnings(bytes, ceilings);
                    let request = as_approved(bytes, name, now);
                    found.extend(
                        request.iter().flat_map(|it| policies::bound_violations(it, policy)),
                    );
                    found
                }
            });
            violations.sort_by_key(|row| (row.line, row.column));
        }
        (kind, violations)
    }
}

fn ceilings(policy: &Policy) -> LimitCeilings {
    let policies::Ceilings { cpu_milli, memory_mb, time_sec, .. } = *policy.ceilings();
    LimitCeilings { cpu_milli, memory_mb, time_sec }
}

/// Fills in a placeholder approval, for checks that do not depend on the approver.
pub(crate) fn as_approved(bytes: &[u8], name: &str, at: UtcTime) -> Option<Request> {
    let filled = fill_placeholder_approval(bytes, at).ok()?;
    let draft = Draft::new(filled.bytes, name, OwnerUid::new(0)).ok()?;
    draft.check(FileLocation::Elsewhere, at).verdict.ok()
}
