//! How far the evidence supports the state that an event declares. Wording may keep a declared state
//! from being lowered, as upstream has it; it must never lift one. Only the type of a reference lifts,
//! and only where the reference itself denies nothing.

use serde::Serialize;

use super::call::{Call, Reference};
use super::integrity::Examined;
use super::vocabulary::{AuthorizationState, EvidenceKind, Route, ToolCategory, TrustTier};

/// Words in the answer of a tool that speak of a validation.
const TOOL_VALIDATED: [&str; 5] =
    ["validated", "ownership", "eligible", "policy validation", "verified target"];
/// The same in a rule.
const POLICY_VALIDATED: [&str; 3] = ["validated", "allowed", "eligible"];
/// `user-confirmed` is among them.
const CONFIRMED: [&str; 2] = ["confirmed", "explicitly confirm"];

/// What the evidence says of the declared state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuthorizationReport {
    /// The state by which the event is judged: the declared one, or the one it was lifted to before.
    pub declared_state: AuthorizationState,
    /// The strongest state that any reference speaks for, in type or words.
    pub evidence_supported_state: AuthorizationState,
    /// The state that decides.
    pub effective_state: AuthorizationState,
    /// Every state that a reference speaks for, weakest first.
    pub support: Vec<AuthorizationState>,
    /// Whether the declared state was lowered.
    pub downgraded: bool,
    /// What stood against a lift that upstream would have made.
    #[serde(skip)]
    pub(super) not_lifted: Option<NotLifted>,
}

/// Why a state was not lifted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NotLifted {
    /// Only words speak for the higher state.
    Wording,
    /// The reference that has the right type denies something.
    Denial,
}

impl NotLifted {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Wording => "authorization_state_not_lifted_from_wording",
            Self::Denial => "authorization_state_not_lifted_from_denial",
        }
    }
}

/// The strongest states that references speak for: by type or wording, by type alone, and by the type
/// of references that deny nothing.
struct Support {
    each: Vec<AuthorizationState>,
    worded: AuthorizationState,
    /// The same without references that are a text alone, which lift nothing upstream either.
    worded_in_full: AuthorizationState,
    typed: AuthorizationState,
    lifting: AuthorizationState,
}

impl Support {
    fn of(call: &Call<'_>, examined: &[Examined]) -> Self {
        let none = AuthorizationState::None;
        let mut support = Self {
            each: Vec::new(),
            worded: none,
            worded_in_full: none,
            typed: none,
            lifting: none,
        };
        for (reference, examined) in call.references.iter().zip(examined) {
            let spoken = spoken_for(reference).max().unwrap_or(none);
            support.worded = support.worded.max(spoken);
            if !reference.bare {
                support.worded_in_full = support.worded_in_full.max(spoken);
            }
            support.each.extend(spoken_for(reference));
            let typed = by_type(reference);
            support.typed = support.typed.max(typed);
            if typed > support.lifting && !examined.denies() {
                support.lifting = typed;
            }
        }
        support.each.sort_unstable();
        support.each.dedup();
        support
    }

    /// What stands against a lift to a state that upstream would lift to.
    fn against(&self, wanted: AuthorizationState) -> Option<NotLifted> {
        match (self.lifting >= wanted, self.typed >= wanted) {
            (true, _) => None,
            (false, true) => Some(NotLifted::Denial),
            (false, false) => Some(NotLifted::Wording),
        }
    }
}

/// The state that a reference is of by its type.
fn by_type(reference: &Reference<'_>) -> AuthorizationState {
    match (reference.kind, reference.trust) {
        (EvidenceKind::Approval, _) => AuthorizationState::Confirmed,
        (EvidenceKind::AuthEvent, _) => AuthorizationState::Authenticated,
        (EvidenceKind::UserMessage, _) | (_, TrustTier::UserClaimed) => {
            AuthorizationState::UserClaimed
        }
        _ => AuthorizationState::None,
    }
}

/// Every state that a reference speaks for, in type or words.
fn spoken_for(reference: &Reference<'_>) -> impl Iterator<Item = AuthorizationState> {
    let (kind, text) = (reference.kind, reference.authority_text.as_str());
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let claimed = kind == EvidenceKind::UserMessage
        || reference.trust == TrustTier::UserClaimed
        || says(&["user claimed"]);
    let authenticated = kind == EvidenceKind::AuthEvent || says(&["authenticated"]);
    let validated = match kind {
        EvidenceKind::ToolResult => says(&TOOL_VALIDATED),
        EvidenceKind::Policy => says(&POLICY_VALIDATED),
        _ => false,
    };
    let confirmed = kind == EvidenceKind::Approval || says(&CONFIRMED);
    [
        (claimed, AuthorizationState::UserClaimed),
        (authenticated, AuthorizationState::Authenticated),
        (validated, AuthorizationState::Validated),
        (confirmed, AuthorizationState::Confirmed),
    ]
    .into_iter()
    .filter_map(|(speaks, state)| speaks.then_some(state))
}

/// Judges the declared state, and lifts it first where the event proposes more than it allows.
pub(super) fn judge(
    call: &mut Call<'_>,
    examined: &[Examined],
) -> (AuthorizationReport, Option<&'static str>) {
    let support = Support::of(call, examined);
    let (lifted, mut not_lifted) = lift(call, &support);
    let declared = call.declared;
    let has_evidence = !call.references.is_empty();
    // Without any evidence a consequential event is stopped for just that; a public read is not, and
    // its state must not be worth more than with evidence that does not support it.
    let judged = has_evidence || call.category == ToolCategory::PublicRead;
    let downgraded =
        judged && declared >= AuthorizationState::Authenticated && support.worded < declared;
    let effective = if downgraded {
        support.worded.max(AuthorizationState::UserClaimed)
    } else if declared == AuthorizationState::None {
        not_lifted = not_lifted.or(support.against(support.worded));
        support.lifting
    } else {
        declared
    };
    let report = AuthorizationReport {
        declared_state: declared,
        evidence_supported_state: support.worded,
        effective_state: effective,
        support: support.each,
        downgraded,
        not_lifted,
    };
    (report, lifted)
}

/// A typed reference may lift the state of an event that would else be none at all.
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
