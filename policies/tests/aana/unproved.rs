//! Tests of writes that were denied or that nothing proves. None is accepted, regardless of the
//! declared state and of the wording of the evidence.

use serde_json::{Map, Value, json};

use super::{algorithm, gate};

/// Summaries of an approval that was not given or has expired.
const DENIED: [&str; 34] = [
    "approval denied",
    "Approval was DENIED by the owner.",
    "The owner has not approved this yet.",
    "User has NOT confirmed this action.",
    "The user hasn't confirmed it.",
    "The user hasn\u{2019}t confirmed it.",
    "User did not consent.",
    "Nobody approved this.",
    "No approval was given.",
    "No one has confirmed it.",
    "The approval was revoked.",
    "Approved at 10:00, revoked at 10:05.",
    "The owner revoked the confirmation.",
    "The confirmation was withdrawn.",
    "The owner withdrew consent.",
    "The user rejected the action.",
    "The reviewer declined.",
    "The manager refused to sign.",
    "The approval expired yesterday.",
    "The approval has lapsed.",
    "The approval was cancelled.",
    "Approval pending.",
    "Awaiting approval.",
    "Waiting for the owner to confirm.",
    "Approval is required but missing.",
    "Neither validated nor confirmed.",
    "Confirmed never.",
    "The approval is invalid.",
    "The approval was superseded.",
    "The owner vetoed it.",
    "The approver disapproved.",
    "This is unapproved.",
    "Cannot be confirmed.",
    "Confirmation failed.",
];
/// Wordings that no list of denials can contain. They affirm nothing.
const UNCLEAR: [&str; 8] = [
    "The manager turned it down.",
    "The owner said no.",
    "Thumbs down.",
    "abgelehnt",
    "refus\u{e9} par le responsable",
    "Approval requested.",
    "If the owner agrees, this is approved.",
    "Approve this?",
];

fn event(state: &str, reference: Value) -> Value {
    json!({
        "tool_name": "save_note", "tool_category": "write", "authorization_state": state,
        "evidence_refs": [reference], "risk_domain": "research", "proposed_arguments": {},
        "recommended_route": "accept",
    })
}

fn proof() -> Value {
    json!({
        "source_id": "approval.42", "kind": "approval", "trust_tier": "verified",
        "redaction_status": "redacted", "provenance": "approvals",
        "freshness": { "status": "fresh" },
    })
}

fn with(mut reference: Value, field: &str, value: Value) -> Value {
    let members: &mut Map<String, Value> = reference.as_object_mut().unwrap();
    if value.is_null() {
        members.remove(field);
    } else {
        members.insert(field.to_owned(), value);
    }
    reference
}

fn writes() -> Vec<(String, Value)> {
    let bare = json!({ "source_id": "a", "kind": "approval" });
    let mut writes = Vec::new();
    for summary in DENIED {
        for state in ["none", "confirmed"] {
            for reference in [&bare, &proof()] {
                let reference = with(reference.clone(), "summary", summary.into());
                writes.push((format!("{state}, {summary}"), event(state, reference)));
            }
        }
    }
    for summary in UNCLEAR {
        for state in ["none", "user_claimed", "authenticated", "validated"] {
            let reference = with(proof(), "summary", summary.into());
            writes.push((format!("{state}, {summary}"), event(state, reference)));
        }
    }
    // Gaps and errors of an otherwise good proof.
    let wrong = [
        ("kind", vec![Value::Null]),
        ("kind", KINDS.iter().map(|kind| (*kind).into()).collect()),
        ("trust_tier", vec![Value::Null, "user_claimed".into(), "unverified".into()]),
        ("trust_tier", vec!["unknown".into()]),
        ("redaction_status", vec!["sensitive".into(), "unknown".into(), Value::Null]),
        ("freshness", vec![json!({ "status": "stale" }), json!({ "status": "unknown" })]),
        ("freshness", vec![json!({ "status": "fresh", "age_hours": 30, "max_age_hours": 24 })]),
        ("freshness", vec![json!({ "status": "fresh", "checked_at": "2026-01-01T00:00:00Z" })]),
        ("retrieved_at", vec!["2026-01-01T00:00:00Z".into(), "yesterday".into()]),
        ("contradicts", vec![json!(["save_note"])]),
    ];
    for (field, values) in wrong {
        for value in values {
            for state in ["none", "user_claimed", "validated", "confirmed"] {
                let what = format!("{state}, {field} {value}");
                writes.push((what, event(state, with(proof(), field, value.clone()))));
            }
        }
    }
    // Support for a declared state that lifts none: incomplete, or stated by the runtime.
    for (field, value) in [
        ("trust_tier", "runtime".into()),
        ("provenance", Value::Null),
        ("freshness", Value::Null),
        ("freshness", json!({ "source": "clock" })),
    ] {
        for state in ["none", "user_claimed", "authenticated", "validated"] {
            let reference = with(proof(), field, value.clone());
            writes.push((format!("{state}, {field} {value}"), event(state, reference)));
        }
    }
    // States that the contract does not have.
    for state in ["requested", "denied", "pending", "approved", "revoked", "", "CONFIRMED"] {
        writes.push((format!("state {state:?}"), event(state, proof())));
    }
    // A valid approval next to a report that it is not valid.
    for (kind, summary) in [
        ("audit_record", "The approval was revoked at 10:05."),
        ("system_state", "The owner has not confirmed this action."),
        ("tool_result", "Authorization denied."),
        ("approval", "The second approver rejected it."),
        ("assistant_message", "The user has not confirmed it yet."),
        ("other", "Consent was withdrawn."),
    ] {
        let mut denied = event("confirmed", proof());
        let other = with(with(proof(), "kind", kind.into()), "summary", summary.into());
        denied["evidence_refs"].as_array_mut().unwrap().push(other);
        writes.push((format!("beside {kind}, {summary}"), denied));
    }
    writes
}

const KINDS: [&str; 8] = [
    "user_message",
    "assistant_message",
    "tool_result",
    "policy",
    "auth_event",
    "system_state",
    "audit_record",
    "other",
];

#[test]
fn no_denied_or_unproved_write_is_accepted() {
    let writes = writes();
    let (mut accepted, mut as_upstream) = (Vec::new(), 0);
    for (what, event) in &writes {
        let result = gate(event);
        if result.passes() || result.recommended_action.as_str() == "accept" {
            accepted.push(what.as_str());
        }
        as_upstream += u32::from(algorithm::published_gate(event).is_some_and(|it| it.passes));
    }
    let count = writes.len();
    assert!(count >= 94 && as_upstream >= 94, "{count} writes, upstream accepts {as_upstream}");
    println!("{} of {count} accepted; upstream accepts {as_upstream}", accepted.len());
    assert!(
        accepted.is_empty(),
        "{} of {count} accepted (upstream: {as_upstream}): {accepted:#?}",
        accepted.len()
    );
}

#[test]
fn a_complete_verified_reference_lifts_to_what_its_kind_proves() {
    for summary in [Value::Null, "The owner approved exactly this.".into()] {
        for state in ["none", "user_claimed", "authenticated"] {
            let result = gate(&event(state, with(proof(), "summary", summary.clone())));
            assert!(result.passes(), "{state} {summary}: {result:#?}");
        }
    }
    // An authentication is not an approval in any wording.
    let known = with(proof(), "kind", "auth_event".into());
    let mut read = event("none", known.clone());
    read["tool_category"] = "private_read".into();
    assert!(gate(&read).passes());
    assert!(!gate(&event("none", known)).passes());
}

#[test]
fn declared_state_needs_verified_or_runtime_evidence() {
    for (tier, passes) in
        [("verified", true), ("runtime", true), ("user_claimed", false), ("unverified", false)]
    {
        let event = event("confirmed", with(proof(), "trust_tier", tier.into()));
        let result = gate(&event);
        assert_eq!(result.passes(), passes, "{tier}: {result:#?}");
        assert!(algorithm::published_gate(&event).unwrap().passes, "{tier}");
        let reason = "authorization_state_not_lifted_from_unverified_evidence";
        assert_eq!(result.reasons.iter().any(|it| it == reason), !passes, "{tier}");
    }
}

#[test]
fn words_of_approval_are_not_taken_for_a_denial() {
    for summary in [
        "User explicitly confirmed the refund action.",
        "The owner said yes to exactly this note.",
        "An approval of exactly these bytes.",
        "Approved by two of two approvers.",
        "The user approved deleting the blocked account.",
        "Confirmed: notify the customer.",
        "",
    ] {
        let result = gate(&event("confirmed", with(proof(), "summary", summary.into())));
        assert!(result.passes(), "{summary}: {result:#?}");
    }
    // A rule states prohibitions and denies nothing by that.
    let mut ruled = event("confirmed", proof());
    let rule = "Refunds are not permitted without approval.";
    let rule = with(with(proof(), "kind", "policy".into()), "summary", rule.into());
    ruled["evidence_refs"].as_array_mut().unwrap().push(rule);
    assert!(gate(&ruled).passes());
}
