//! The support of the declared authorization state by the evidence. Wording alone must never
//! support a state: it can neither lift an undeclared state nor keep a declared one. A reference
//! must never support more than its trust tier earns. Only a reference that is complete and
//! verified and that denies nothing can lift a state.

use serde::Serialize;

use super::call::{Call, Reference};
use super::integrity::ReferenceFindings;
use super::vocabulary::{
    AuthorizationState, EvidenceKind, Freshness, RedactionStatus, Route, ToolCategory, TrustTier,
};
use super::wording;

const TOOL_VALIDATED: [&str; 5] =
    ["validated", "ownership", "eligible", "policy validation", "verified target"];
const POLICY_VALIDATED: [&str; 3] = ["validated", "allowed", "eligible"];
/// Words that lift a state upstream, including `user-confirmed`, with that state.
const LIFTING_WORDS: [(&str, AuthorizationState); 4] = [
    ("user claimed", AuthorizationState::UserClaimed),
    ("authenticated", AuthorizationState::Authenticated),
    ("confirmed", AuthorizationState::Confirmed),
    ("explicitly confirm", AuthorizationState::Confirmed),
];

/// The comparison of the declared state with the evidence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuthorizationReport {
    /// The state that is judged: the declared state, or the state that it was lifted to before.
    pub declared_state: AuthorizationState,
    /// The strongest state that any reference supports, by its type and within its trust tier.
    pub evidence_supported_state: AuthorizationState,
    /// The state that decides.
    pub effective_state: AuthorizationState,
    /// Every state that a reference supports, weakest first.
    pub support: Vec<AuthorizationState>,
    /// True if the references do not earn the declared state. The gate blocks the action then.
    pub downgraded: bool,
    #[serde(skip)]
    pub(super) not_lifted: Option<LiftObjection>,
}

model::closed_set! {
    /// The reason why a state was not lifted.
    pub(super) enum LiftObjection {
        /// Only wording supports it.
        Wording = "authorization_state_not_lifted_from_wording",
        /// The reference of the right type denies something.
        Denial = "authorization_state_not_lifted_from_denial",
        /// The reference of the right type is not trusted, fresh, redacted or complete.
        Unproved = "authorization_state_not_lifted_from_unverified_evidence",
    }
}

/// The strongest states that references support, by different measures.
struct Support {
    /// By type and trust tier; a tool result or a rule must indicate a validation.
    each: Vec<AuthorizationState>,
    earned: AuthorizationState,
    /// By type alone.
    kind: AuthorizationState,
    /// By type alone, only references that deny nothing.
    undenied: AuthorizationState,
    /// By the type of references that may lift a state.
    lifting: AuthorizationState,
    /// By type or wording, as upstream counts.
    worded: AuthorizationState,
    /// The same without bare-text references, which lift nothing upstream either.
    worded_in_full: AuthorizationState,
}

impl Support {
    fn of(call: &Call<'_>, examined: &[ReferenceFindings]) -> Self {
        let none = AuthorizationState::None;
        let mut support = Self {
            each: Vec::new(),
            earned: none,
            kind: none,
            undenied: none,
            lifting: none,
            worded: none,
            worded_in_full: none,
        };
        for (reference, examined) in call.references.iter().zip(examined) {
            support.add(reference, examined);
        }
        support.each.sort_unstable();
        support.each.dedup();
        support.earned = support.each.last().copied().unwrap_or(none);
        support
    }

    fn add(&mut self, reference: &Reference<'_>, examined: &ReferenceFindings) {
        let kind = by_kind(reference);
        self.kind = self.kind.max(kind);
        if !examined.denies() {
            self.undenied = self.undenied.max(kind);
            if may_lift(reference) {
                self.lifting = self.lifting.max(kind);
            }
        }
        let spoken = indicates_validation(reference).then_some(AuthorizationState::Validated);
        let validated = spoken.filter(|_| !wording::denies_validation(reference));
        let claimed = is_claim(reference).then_some(AuthorizationState::UserClaimed);
        let most = earned_state(reference);
        let earned = [claimed, Some(kind), validated].into_iter().flatten().map(|it| it.min(most));
        self.each.extend(earned.filter(|it| *it != AuthorizationState::None));
        let worded = by_words(reference).max(kind).max(spoken.unwrap_or(kind));
        self.worded = self.worded.max(worded);
        if !reference.bare {
            self.worded_in_full = self.worded_in_full.max(worded);
        }
    }

    fn objection_to_lift(&self, wanted: AuthorizationState) -> Option<LiftObjection> {
        if self.lifting >= wanted {
            None
        } else if self.undenied >= wanted {
            Some(LiftObjection::Unproved)
        } else if self.kind >= wanted {
            Some(LiftObjection::Denial)
        } else {
            Some(LiftObjection::Wording)
        }
    }

    /// Returns the objection to a declared state that is not earned but that upstream would keep.
    fn objection_to_declared(&self) -> Option<LiftObjection> {
        let unproved = self.kind > self.earned;
        let by_words = self.worded > self.earned;
        by_words.then_some(if unproved { LiftObjection::Unproved } else { LiftObjection::Wording })
    }
}

fn is_claim(reference: &Reference<'_>) -> bool {
    reference.kind == EvidenceKind::UserMessage || reference.trust == TrustTier::UserClaimed
}

/// Returns the state that a reference may support. Stale or sensitive evidence blocks by itself.
fn earned_state(reference: &Reference<'_>) -> AuthorizationState {
    let known = reference.freshness != Freshness::Unknown
        && reference.redaction != RedactionStatus::Unknown;
    match reference.trust {
        TrustTier::Verified | TrustTier::Runtime if known => AuthorizationState::Confirmed,
        _ if is_claim(reference) => AuthorizationState::UserClaimed,
        _ => AuthorizationState::None,
    }
}

/// Returns whether a reference that denies nothing may lift a state to that of its kind.
fn may_lift(reference: &Reference<'_>) -> bool {
    reference.complete
        && reference.trust == TrustTier::Verified
        && reference.freshness == Freshness::Fresh
        && matches!(reference.redaction, RedactionStatus::Public | RedactionStatus::Redacted)
        && wording::affirms(reference)
}

fn by_kind(reference: &Reference<'_>) -> AuthorizationState {
    match reference.kind {
        EvidenceKind::Approval => AuthorizationState::Confirmed,
        EvidenceKind::AuthEvent => AuthorizationState::Authenticated,
        _ if is_claim(reference) => AuthorizationState::UserClaimed,
        _ => AuthorizationState::None,
    }
}

fn indicates_validation(reference: &Reference<'_>) -> bool {
    let has_any = |words: &[&str]| words.iter().any(|it| reference.authority_text.contains(it));
    match reference.kind {
        EvidenceKind::ToolResult => has_any(&TOOL_VALIDATED),
        EvidenceKind::Policy => has_any(&POLICY_VALIDATED),
        _ => false,
    }
}

fn by_words(reference: &Reference<'_>) -> AuthorizationState {
    let matching = LIFTING_WORDS.iter().filter(|(word, _)| reference.authority_text.contains(word));
    matching.map(|(_, state)| *state).max().unwrap_or(AuthorizationState::None)
}

/// Judges the declared state, lifted before if the event proposes more. Returns a lift's reason.
pub(super) fn judge(
    call: &mut Call<'_>,
    examined: &[ReferenceFindings],
) -> (AuthorizationReport, Option<&'static str>) {
    let support = Support::of(call, examined);
    let (lifted, mut not_lifted) = lift(call, &support);
    let declared = call.declared;
    // A consequential event without any evidence is stopped for that reason. A public read is not,
    // so its state must not be worth more than with evidence that does not support it.
    let judged = !call.references.is_empty() || call.category == ToolCategory::PublicRead;
    let downgraded =
        judged && declared >= AuthorizationState::Authenticated && support.earned < declared;
    let effective = if downgraded {
        not_lifted = not_lifted.or(support.objection_to_declared());
        support.earned.max(AuthorizationState::UserClaimed)
    } else if declared == AuthorizationState::None {
        not_lifted = not_lifted.or(support.objection_to_lift(support.worded));
        support.lifting
    } else {
        declared
    };
    let report = AuthorizationReport {
        declared_state: declared,
        evidence_supported_state: support.earned,
        effective_state: effective,
        support: support.each,
        downgraded,
        not_lifted,
    };
    (report, lifted)
}

/// Lifts the state by a proof if the event's route would otherwise be forbidden.
fn lift(call: &mut Call<'_>, support: &Support) -> (Option<&'static str>, Option<LiftObjection>) {
    type Suffices = fn(AuthorizationState) -> bool;
    let (suffices, reason): (Suffices, _) = match (call.route, call.category) {
        (Route::Accept, ToolCategory::PrivateRead) => (
            AuthorizationState::reads_private,
            "authorization_state_lifted_from_auth_evidence_for_schema",
        ),
        (Route::Accept, ToolCategory::Write) => (
            AuthorizationState::proposes_writes,
            "authorization_state_lifted_from_write_evidence_for_schema",
        ),
        _ => return (None, None),
    };
    if suffices(call.declared) || !suffices(support.worded_in_full) {
        return (None, None);
    }
    let against = support.objection_to_lift(support.worded_in_full);
    if !suffices(support.lifting) {
        return (None, against);
    }
    call.declared = support.lifting;
    (Some(reason), against)
}
