//! How far the evidence supports the state that an event declares. Words alone must never speak for a
//! state: not to lift one that was not declared, nor to keep one that was. Nor may a reference speak for
//! more than its tier earns, and only one that is complete and verified, and denies nothing, lifts.

use serde::Serialize;

use super::call::{Call, Reference};
use super::integrity::Examined;
use super::vocabulary::{
    AuthorizationState, EvidenceKind, Freshness, RedactionStatus, Route, ToolCategory, TrustTier,
};
use super::wording;

/// Words in the answer of a tool that speak of a validation.
const TOOL_VALIDATED: [&str; 5] =
    ["validated", "ownership", "eligible", "policy validation", "verified target"];
/// The same in a rule.
const POLICY_VALIDATED: [&str; 3] = ["validated", "allowed", "eligible"];
/// Words that lift upstream, `user-confirmed` among them, and to which state.
const LIFTING_WORDS: [(&str, AuthorizationState); 4] = [
    ("user claimed", AuthorizationState::UserClaimed),
    ("authenticated", AuthorizationState::Authenticated),
    ("confirmed", AuthorizationState::Confirmed),
    ("explicitly confirm", AuthorizationState::Confirmed),
];

/// What the evidence says of the declared state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuthorizationReport {
    /// The state by which the event is judged: the declared one, or the one it was lifted to before.
    pub declared_state: AuthorizationState,
    /// The strongest state that any reference speaks for, by its type and as far as its tier earns.
    pub evidence_supported_state: AuthorizationState,
    /// The state that decides.
    pub effective_state: AuthorizationState,
    /// Every state that a reference speaks for, weakest first.
    pub support: Vec<AuthorizationState>,
    /// Whether the declared state was lowered.
    pub downgraded: bool,
    /// What stood against a state that upstream would have taken.
    #[serde(skip)]
    pub(super) not_lifted: Option<NotLifted>,
}

model::closed_set! {
    /// Why a state was not taken.
    pub(super) enum NotLifted {
        /// Only words speak for it.
        Wording = "authorization_state_not_lifted_from_wording",
        /// The reference that has the right type denies something.
        Denial = "authorization_state_not_lifted_from_denial",
        /// The reference that has the right type is not trusted, fresh, redacted or complete.
        Unproved = "authorization_state_not_lifted_from_unverified_evidence",
    }
}

/// The strongest states that references speak for.
struct Support {
    /// By type and tier, where an answer or a rule must speak of a validation.
    each: Vec<AuthorizationState>,
    earned: AuthorizationState,
    /// By type alone.
    kind: AuthorizationState,
    /// By the type alone of references that deny nothing.
    undenied: AuthorizationState,
    /// By the type of references that may lift a state.
    lifting: AuthorizationState,
    /// By type or words, as upstream counts.
    worded: AuthorizationState,
    /// The same without references that are a text alone, which lift nothing upstream either.
    worded_in_full: AuthorizationState,
}

impl Support {
    fn of(call: &Call<'_>, examined: &[Examined]) -> Self {
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
            support.take(reference, examined);
        }
        support.each.sort_unstable();
        support.each.dedup();
        support.earned = support.each.last().copied().unwrap_or(none);
        support
    }

    fn take(&mut self, reference: &Reference<'_>, examined: &Examined) {
        let kind = by_kind(reference);
        self.kind = self.kind.max(kind);
        if !examined.denies() {
            self.undenied = self.undenied.max(kind);
            if lifts(reference) {
                self.lifting = self.lifting.max(kind);
            }
        }
        let spoken = speaks_of_validation(reference).then_some(AuthorizationState::Validated);
        let validated = spoken.filter(|_| !wording::denies_validation(reference));
        let claimed = is_claim(reference).then_some(AuthorizationState::UserClaimed);
        let most = earns(reference);
        let earned = [claimed, Some(kind), validated].into_iter().flatten().map(|it| it.min(most));
        self.each.extend(earned.filter(|it| *it != AuthorizationState::None));
        let worded = by_words(reference).max(kind).max(spoken.unwrap_or(kind));
        self.worded = self.worded.max(worded);
        if !reference.bare {
            self.worded_in_full = self.worded_in_full.max(worded);
        }
    }

    /// What stands against a lift to a state that upstream would lift to.
    fn against(&self, wanted: AuthorizationState) -> Option<NotLifted> {
        if self.lifting >= wanted {
            None
        } else if self.undenied >= wanted {
            Some(NotLifted::Unproved)
        } else if self.kind >= wanted {
            Some(NotLifted::Denial)
        } else {
            Some(NotLifted::Wording)
        }
    }

    /// What stands against a declared state that is not earned, though upstream would keep it.
    fn against_declared(&self) -> Option<NotLifted> {
        let unproved = self.kind > self.earned;
        let by_words = self.worded > self.earned;
        by_words.then_some(if unproved { NotLifted::Unproved } else { NotLifted::Wording })
    }
}

fn is_claim(reference: &Reference<'_>) -> bool {
    reference.kind == EvidenceKind::UserMessage || reference.trust == TrustTier::UserClaimed
}

/// The strongest state that a reference may speak for at all. What is stale or sensitive blocks by
/// itself, and is not counted here a second time.
fn earns(reference: &Reference<'_>) -> AuthorizationState {
    let known = reference.freshness != Freshness::Unknown
        && reference.redaction != RedactionStatus::Unknown;
    match reference.trust {
        TrustTier::Verified | TrustTier::Runtime if known => AuthorizationState::Confirmed,
        _ if is_claim(reference) => AuthorizationState::UserClaimed,
        _ => AuthorizationState::None,
    }
}

/// Whether a reference that denies nothing may lift a state to what its kind says.
fn lifts(reference: &Reference<'_>) -> bool {
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

fn speaks_of_validation(reference: &Reference<'_>) -> bool {
    let says = |words: &[&str]| words.iter().any(|it| reference.authority_text.contains(it));
    match reference.kind {
        EvidenceKind::ToolResult => says(&TOOL_VALIDATED),
        EvidenceKind::Policy => says(&POLICY_VALIDATED),
        _ => false,
    }
}

fn by_words(reference: &Reference<'_>) -> AuthorizationState {
    let said = LIFTING_WORDS.iter().filter(|(word, _)| reference.authority_text.contains(word));
    said.map(|(_, state)| *state).max().unwrap_or(AuthorizationState::None)
}

/// Judges the declared state, and lifts it first where the event proposes more than it allows; with
/// the reason, if it was lifted.
pub(super) fn judge(
    call: &mut Call<'_>,
    examined: &[Examined],
) -> (AuthorizationReport, Option<&'static str>) {
    let support = Support::of(call, examined);
    let (lifted, mut not_lifted) = lift(call, &support);
    let declared = call.declared;
    // Without any evidence a consequential event is stopped for just that; a public read is not, and
    // its state must not be worth more than with evidence that does not support it.
    let judged = !call.references.is_empty() || call.category == ToolCategory::PublicRead;
    let downgraded =
        judged && declared >= AuthorizationState::Authenticated && support.earned < declared;
    let effective = if downgraded {
        not_lifted = not_lifted.or(support.against_declared());
        support.earned.max(AuthorizationState::UserClaimed)
    } else if declared == AuthorizationState::None {
        not_lifted = not_lifted.or(support.against(support.worded));
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

/// A proof may lift the state of an event whose route would else be forbidden to it.
fn lift(call: &mut Call<'_>, support: &Support) -> (Option<&'static str>, Option<NotLifted>) {
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
    let against = support.against(support.worded_in_full);
    if !suffices(support.lifting) {
        return (None, against);
    }
    call.declared = support.lifting;
    (Some(reason), against)
}
