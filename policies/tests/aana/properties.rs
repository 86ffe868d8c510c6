//! Properties of every event. The result is never looser than upstream's. An objection only makes
//! it stricter, removing support never makes it looser, and wording permits nothing.

use policies::aana::Route;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::events::{ROUTES, broken_event, event, reference};
use super::{algorithm, gate, strictness};

fn order(route: Route) -> usize {
    ROUTES.iter().position(|it| *it == route.as_str()).unwrap()
}

fn denial() -> impl Strategy<Value = Value> {
    let summaries = [
        "The record contradicts it; the user confirmed it.",
        "Evidence missing.",
        "Not available, authenticated.",
        "This is missing authorization.",
    ];
    let kinds = ["approval", "auth_event", "system_state", "policy", "other"];
    (select(summaries.to_vec()), select(kinds.to_vec()), any::<bool>()).prop_map(
        |(summary, kind, stale)| {
            json!({
                "source_id": "counterfactual.missing_authorization.x", "kind": kind,
                "trust_tier": "verified", "redaction_status": "redacted", "summary": summary,
                "freshness": { "status": if stale { "stale" } else { "fresh" } },
            })
        },
    )
}

fn references(event: &mut Value) -> &mut Vec<Value> {
    event["evidence_refs"].as_array_mut().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn never_looser_than_the_model_of_upstream(event in prop_oneof![event(), broken_event()]) {
        let result = gate(&event);
        if let Some(upstream) = algorithm::published_gate(&event) {
            let output = format!("{event}\n{upstream:?}\n{result:#?}");
            prop_assert!(order(result.recommended_action) >= upstream.route, "{}", output);
            prop_assert!(!result.passes() || upstream.passes, "{}", output);
        } else {
            prop_assert_eq!(result.recommended_action, Route::Refuse);
        }
    }

    #[test]
    fn the_runtimes_route_only_tightens(event in event(), route in select(&ROUTES[..])) {
        let result = gate(&event);
        let runtime = Route::named(event["recommended_route"].as_str().unwrap()).unwrap();
        prop_assert!(result.recommended_action >= runtime);
        if let Some(own) = result.aana_route {
            prop_assert_eq!(result.recommended_action, own.max(runtime));
        }
        // Another route of the runtime changes the gate's own route only for lifted states.
        let mut other = event.clone();
        other["recommended_route"] = route.into();
        let other = gate(&other);
        if result.authorization_state == other.authorization_state {
            prop_assert_eq!(result.aana_route, other.aana_route);
        }
    }

    #[test]
    fn a_denial_never_loosens(event in event(), denial in denial(), place in any::<Index>()) {
        let before = strictness(&gate(&event));
        let mut denied = event.clone();
        let at = place.index(references(&mut denied).len() + 1);
        references(&mut denied).insert(at, denial);
        let after = gate(&denied);
        prop_assert!(strictness(&after) >= before, "{}\n{:#?}", denied, after);
        prop_assert!(!after.passes() && after.recommended_action >= Route::Defer);
    }

    #[test]
    fn taking_evidence_away_never_loosens(
        event in event(),
        evidence in reference(true),
        place in any::<Index>(),
    ) {
        let mut with = event.clone();
        let at = place.index(references(&mut with).len() + 1);
        references(&mut with).insert(at, evidence);
        let (with_it, without) = (gate(&with), gate(&event));
        prop_assert!(strictness(&without) >= strictness(&with_it), "{}\n{:#?}\n{:#?}", with, with_it, without);
    }

    #[test]
    fn wording_permits_nothing(event in event()) {
        // The exceptions: words of a search, here as upstream, and words of a validation in a tool
        // result or a rule, which support the state of their type.
        let mut event = event;
        if event["tool_category"] == "public_read" {
            event["tool_category"] = "private_read".into();
        }
        for reference in references(&mut event) {
            let worded = ["tool_result", "policy"].iter().any(|it| reference["kind"] == *it);
            if worded {
                reference["kind"] = "other".into();
            }
        }
        let mut wordless = event.clone();
        for reference in references(&mut wordless) {
            if let Value::Object(members) = reference {
                members.insert("source_id".to_owned(), "s".into());
                members.remove("summary");
            } else {
                *reference = "s".into();
            }
        }
        let (worded, wordless) = (gate(&event), gate(&wordless));
        prop_assert!(strictness(&worded) >= strictness(&wordless), "{}\n{:#?}", event, worded);
    }

    #[test]
    fn the_answer_is_a_function_of_event_and_time(event in broken_event()) {
        prop_assert_eq!(gate(&event), gate(&event.clone()));
    }
}

#[test]
fn the_generated_events_reach_every_route() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut own, mut passed, mut lifted) = ([0_u32; 4], 0, 0);
    for _ in 0..2000 {
        let result = gate(&event().new_tree(&mut runner).unwrap().current());
        passed += u32::from(result.passes());
        if let Some(route) = result.aana_route {
            own[order(route)] += 1;
        }
        let is_lifted =
            result.reasons.iter().any(|it| it.starts_with("authorization_state_lifted_from"));
        lifted += u32::from(is_lifted);
    }
    assert!(
        own.iter().all(|it| *it > 50) && passed > 50 && lifted > 10,
        "{own:?} {passed} {lifted}"
    );
}
