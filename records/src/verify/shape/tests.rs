//! The checker understands the whole schema and agrees with another validator.

use serde_json::json;

use super::*;

#[test]
fn every_word_of_the_schema_is_understood() {
    let shape = format!("{:?}", SchemaShape::of_schema(&predicate_schema()));
    assert!(!shape.contains("Nothing"), "{shape}");
    for text in ["[a-z]+", "^[a-z]+$", "^a|b$", "^[a]$", "^.$"] {
        assert!(SchemaPattern::read(text).is_none(), "{text}");
    }
}

fn passkey_approval(webauthn: &Value) -> Value {
    let touch = json!({ "counter": 0, "user_verified": true, "webauthn": webauthn });
    json!([{ "principal": "a", "key": "b", "touch": touch }])
}

#[test]
fn it_judges_as_another_reader_of_the_schema_does() {
    let schema = predicate_schema();
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(255),
        json!(256),
        json!(0.5),
        json!(-0.5),
        json!(9_007_199_254_740_991_u64),
        json!(9_007_199_254_740_992_u64),
        json!("unknown"),
        json!("9007199254740992"),
        json!("1"),
        json!("ok"),
        json!("none"),
        json!("tool_result"),
        json!("ab".repeat(32)),
        json!("AB".repeat(32)),
        json!("2026-11-21T12:10:30Z"),
        json!("2026-11-21T12:10:30Z\n"),
        json!([]),
        json!([""]),
        json!([{}]),
        json!({}),
        json!({ "name": "x", "sha256": "ab".repeat(32) }),
        json!({ "result_id": "x", "record_sha256": "ab".repeat(32) }),
        json!({ "result_id": "x", "record_sha256": "ab".repeat(32), "more": 1 }),
        json!([{ "principal": "a", "key": "b", "touch": null }]),
        json!([{ "principal": "a", "key": "b", "touch": { "counter": 1, "user_verified": true } }]),
        json!([{ "principal": "a", "key": "b", "touch": { "counter": 1 } }]),
        passkey_approval(&json!({
            "rp_id": "a.example",
            "origin": "https://a.example",
            "backup_eligible": true,
            "backed_up": false,
        })),
        passkey_approval(&json!({ "rp_id": "a.example", "origin": "https://a.example" })),
        passkey_approval(&json!(null)),
    ];
    for (key, part) in schema["properties"].as_object().unwrap() {
        let shape = SchemaShape::of(part, &schema["$defs"]);
        let mut other = part.clone();
        other["$defs"] = schema["$defs"].clone();
        let other = jsonschema::draft202012::new(&other).unwrap();
        for value in &values {
            let mut problems = Vec::new();
            shape.check(value, "", RecordAge::Stated, &mut problems);
            assert_eq!(problems.is_empty(), other.is_valid(value), "{key}: {value}: {problems:?}");
            assert_eq!(problems.is_empty(), shape.fits(value), "{key}: {value}");
        }
    }
}

#[test]
fn a_statement_has_every_key_and_an_older_record_may_have_fewer() {
    let messages = |facts: &Value, age| {
        faults("x", facts, age).iter().map(VerifyError::to_string).collect::<Vec<_>>()
    };
    let few = json!({ "exit_code": 0 });
    assert_eq!(messages(&few, RecordAge::Older), Vec::<String>::new());
    assert_eq!(messages(&few, RecordAge::Stated)[0], "x: accounting: missing");
    let wrong = json!({ "exit_code": "255", "started_utc": "2026-02-30T00:00:00Z" });
    let expected = [
        "x: exit_code: unexpected value \"255\"",
        "x: started_utc: unexpected value \"2026-02-30T00:00:00Z\"",
    ];
    assert_eq!(messages(&wrong, RecordAge::Older), expected);
    assert_eq!(messages(&json!([]), RecordAge::Older), ["x: : unexpected list"]);
}
