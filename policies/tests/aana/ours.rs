//! Tests of our own events. A request with all approvals is accepted regardless of its command and
//! of people's names, and one that lacks an approval is not.

use model::{Language, RequestId, Sha256};
use policies::aana::{
    AuthorizationState as State, Event, Fact, ProposedRun, RiskDomain, Route, ToolCategory,
};
use proptest::prelude::*;

use super::{algorithm, gate, now, strictness};

fn id() -> RequestId {
    "TR-20260209-160501Z-4111-1111-1111-1111".parse().unwrap()
}

fn digest() -> Sha256 {
    Sha256::of(b"text")
}

fn event(state: State, name: &str, argv: &[String], category: ToolCategory) -> Event {
    let verified = match state {
        State::Confirmed => Some(Fact::Approval { principal: name }),
        State::Validated => Some(Fact::Signature { principal: name }),
        State::Authenticated => Some(Fact::Owner { name }),
        State::UserClaimed => Some(Fact::Claim { name }),
        State::None => None,
    };
    let (policy, request, input) = (
        Fact::Policy { sha256: digest() },
        Fact::Request { sha256: digest() },
        Fact::Input { sha256: digest() },
    );
    let facts: Vec<Fact<'_>> = verified.into_iter().chain([policy, request, input]).collect();
    Event::of(&ProposedRun {
        request_id: &id(),
        language: Language::Python,
        category,
        domain: RiskDomain::Research,
        state,
        argv,
        inputs: &[(name, digest())],
        facts: &facts,
        now: now(),
    })
}

/// Words that the gate's rules look for, as arguments and as names of people and files.
const AWKWARD: [&str; 14] = [
    "delete",
    "unknown",
    "conflict.py",
    "user.not.confirmed",
    "no evidence",
    "bob@example.org",
    "1234567890123",
    "555-123-4567",
    "counterfactual.missing_authorization.1",
    "--account_id",
    "authenticated",
    "\u{202e}evil\n",
    concat!("s", "k-abcdefghijklmnop"),
    concat!("tok", "en=abcdefghij"),
];

#[test]
fn confirmed_request_is_accepted_regardless_of_its_words() {
    for word in AWKWARD {
        for &language in Language::ALL {
            let argv = [language.as_str().to_owned(), word.to_owned()];
            let event = event(State::Confirmed, word, &argv, ToolCategory::Write);
            let result = event.gate();
            assert!(result.passes(), "{word}: {result:#?}");
            assert_eq!(result.reasons, ["write_has_explicit_confirmation"], "{word}");
            // Any other gate of the contract passes it as well.
            assert!(
                algorithm::published_gate(&with_recent_times(&event)).unwrap().passes,
                "{word}"
            );
        }
    }
}

/// Replaces the times, because the model knows only a few.
fn with_recent_times(event: &Event) -> serde_json::Value {
    let text = event.as_value().to_string().replace(&now().to_string(), "2026-11-20T10:00:00Z");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn lesser_state_is_held_by_the_contract() {
    let argv = ["python3".to_owned()];
    let expected = [
        (State::Validated, Route::Ask, "write_validated_but_needs_explicit_confirmation"),
        (State::Authenticated, Route::Ask, "write_needs_validation_and_confirmation"),
        (State::UserClaimed, Route::Ask, "write_needs_validation_and_confirmation"),
        (State::None, Route::Defer, "write_missing_authorization_context"),
    ];
    for (state, route, reason) in expected {
        for name in AWKWARD.iter().chain(&["alice"]) {
            let result = event(state, name, &argv, ToolCategory::Write).gate();
            assert_eq!((result.aana_route, result.recommended_action), (Some(route), route));
            assert!(!result.passes());
            assert_eq!(result.reasons[0], reason, "{state:?} {name}");
            let report = result.authorization_report.unwrap();
            assert_eq!((report.effective_state, report.downgraded), (state, false));
        }
    }
}

#[test]
fn a_tool_of_no_known_category_is_deferred() {
    let argv = ["python3".to_owned()];
    let result = event(State::Confirmed, "alice", &argv, ToolCategory::Unknown).gate();
    assert_eq!(result.recommended_action, Route::Defer);
    assert!(result.validation_errors.is_empty());
}

#[test]
fn a_high_risk_domain_changes_nothing_for_what_is_confirmed() {
    for domain in RiskDomain::ALL {
        let confirmed = |state| {
            let facts = [Fact::Approval { principal: "alice" }];
            Event::of(&ProposedRun {
                request_id: &id(),
                language: Language::Go,
                category: ToolCategory::Write,
                domain: *domain,
                state,
                argv: &[],
                inputs: &[],
                facts: &facts,
                now: now(),
            })
        };
        assert!(confirmed(State::Confirmed).gate().passes(), "{domain:?}");
        assert!(!confirmed(State::Validated).gate().passes(), "{domain:?}");
    }
}

#[test]
fn more_than_the_facts_is_never_claimed() {
    let argv = ["python3".to_owned()];
    let mut claimed =
        event(State::UserClaimed, "alice", &argv, ToolCategory::Write).as_value().clone();
    for state in ["authenticated", "validated", "confirmed"] {
        claimed["authorization_state"] = state.into();
        claimed["recommended_route"] = "ask".into();
        let result = gate(&claimed);
        let blocker = "authorization_state_not_supported_by_evidence";
        assert_eq!(result.hard_blockers[0], blocker, "{state}");
    }
}

proptest! {
    #[test]
    fn names_and_commands_decide_nothing(
        name in ".{0,80}",
        argv in proptest::collection::vec(".{0,30}", 0..4),
        state in proptest::sample::select(State::ALL),
        category in proptest::sample::select(ToolCategory::ALL),
    ) {
        let plain = event(state, "alice", &["python3".to_owned()], category).gate();
        let other = event(state, &name, &argv, category).gate();
        prop_assert_eq!(strictness(&other), strictness(&plain), "{:?}", other);
        prop_assert_eq!(other.reasons, plain.reasons);
        prop_assert_eq!(other.hard_blockers, plain.hard_blockers);
    }
}
