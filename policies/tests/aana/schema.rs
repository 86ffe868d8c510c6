//! Tests that the published schema and the code accept the same events. Only a lifted state goes
//! beyond the schema.

use std::sync::LazyLock;

use jsonschema::Validator;
use policies::aana::EVENT_SCHEMA;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::events::broken_event;
use super::gate;

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(EVENT_SCHEMA).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).unwrap()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn schema_and_code_agree(event in broken_event()) {
        let result = gate(&event);
        let valid = result.validation_errors.is_empty();
        let lifted = result.reasons.iter().any(|it| it.starts_with("authorization_state_lifted_from"));
        let mut event = event;
        if lifted {
            prop_assert!(!SCHEMA.is_valid(&event), "lifted for nothing: {}", event);
            event["authorization_state"] = result.authorization_state.unwrap().as_str().into();
        }
        prop_assert_eq!(SCHEMA.is_valid(&event), valid, "{}\n{:#?}", event, result.validation_errors);
    }
}

#[test]
fn paths_and_messages_are_those_of_upstreams_validator() {
    let event = json!({
        "tool_name": "", "tool_category": 5, "authorization_state": null,
        "evidence_refs": [
            5, "", { "kind": "x", "zz": 1, "aa": 2, "source_id": "a" }, { "source_id": true },
        ],
        "risk_domain": [1, 2.5, true], "proposed_arguments": "x", "recommended_route": "accept",
        "b": 1, "authorization_subject": { "x": 1 }, "schema_version": "z",
    });
    let errors: Vec<_> = gate(&event)
        .validation_errors
        .into_iter()
        .map(|error| format!("{}: {}", error.path, error.message))
        .collect();
    let states = "['none', 'user_claimed', 'authenticated', 'validated', 'confirmed']";
    let kinds = "['user_message', 'assistant_message', 'tool_result', 'policy', 'auth_event', \
                 'approval', 'system_state', 'audit_record', 'other']";
    let domains = "['devops', 'finance', 'education', 'hr', 'legal', 'pharma', 'healthcare', \
                   'commerce', 'customer_support', 'security', 'research', \
                   'personal_productivity', 'public_information', 'unknown']";
    let categories = "['public_read', 'private_read', 'write', 'unknown']";
    let expected = [
        ": Additional properties are not allowed ('b' was unexpected)",
        "authorization_state: None is not of type 'string'",
        &format!("authorization_state: None is not one of {states}"),
        "authorization_subject: Additional properties are not allowed ('x' was unexpected)",
        "evidence_refs.0: 5 is not of type 'object'",
        "evidence_refs.1.source_id: '' should be non-empty",
        "evidence_refs.2: Additional properties are not allowed ('aa', 'zz' were unexpected)",
        &format!("evidence_refs.2.kind: 'x' is not one of {kinds}"),
        "evidence_refs.3.source_id: True is not of type 'string'",
        "proposed_arguments: 'x' is not of type 'object'",
        "risk_domain: [1, 2.5, True] is not of type 'string'",
        &format!("risk_domain: [1, 2.5, True] is not one of {domains}"),
        "schema_version: 'aana.agent_tool_precheck.v1' was expected",
        "tool_category: 5 is not of type 'string'",
        &format!("tool_category: 5 is not one of {categories}"),
        "tool_name: '' should be non-empty",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn forbidden_route_is_reported_as_upstream_does() {
    let event = json!({
        "tool_name": "send_email", "tool_category": "write", "authorization_state": "user_claimed",
        "evidence_refs": ["draft_id:123"], "risk_domain": "customer_support",
        "proposed_arguments": {}, "recommended_route": "accept",
    });
    let errors = gate(&event).validation_errors;
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].path, "authorization_state");
    assert_eq!(errors[0].message, "'user_claimed' is not one of ['validated', 'confirmed']");
}
