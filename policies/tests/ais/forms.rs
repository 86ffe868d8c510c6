//! Tests of forms. The published schemas and the readers agree about good and bad artifacts, and a
//! value that is not a bundle is refused by its code.

use jsonschema::Validator;
use policies::ais::{
    AisArtifact, AisBundle, AisCode, Apa, Apr, BUNDLE_BYTES_MAX, Crl, Ibe, Sca, Tca, Uia,
    UnverifiedArtifact,
};
use serde_json::{Value, json};

use super::scene::{AisScene, PARTS};

fn schema(artifact: AisArtifact) -> Validator {
    let schema: Value = serde_json::from_str(artifact.schema()).expect("JSON");
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{}", artifact.as_str());
    jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema")
}

fn reads(artifact: AisArtifact, value: &Value) -> Result<(), String> {
    match artifact {
        AisArtifact::Uia => UnverifiedArtifact::<Uia>::read(value).map(drop),
        AisArtifact::Apa => UnverifiedArtifact::<Apa>::read(value).map(drop),
        AisArtifact::Apr => UnverifiedArtifact::<Apr>::read(value).map(drop),
        AisArtifact::Tca => UnverifiedArtifact::<Tca>::read(value).map(drop),
        AisArtifact::Ibe => UnverifiedArtifact::<Ibe>::read(value).map(drop),
        AisArtifact::Sca => UnverifiedArtifact::<Sca>::read(value).map(drop),
        AisArtifact::Crl => UnverifiedArtifact::<Crl>::read(value).map(drop),
    }
    .map_err(|error| error.to_string())
}

#[test]
fn schemas_and_readers_accept_the_same_good_artifacts() {
    let signed = AisScene::good().signed();
    for (name, artifact, _) in PARTS {
        reads(artifact, &signed[name]).unwrap_or_else(|error| panic!("{error}"));
        let schema = schema(artifact);
        let errors: Vec<String> =
            schema.iter_errors(&signed[name]).map(|it| it.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
    }
}

/// Collects variants of a value: each object member removed, retyped, or joined by another.
fn spoiled(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            found.push((path.to_owned(), "more".to_owned()));
            for (name, member) in members {
                spoiled(member, &format!("{path}/{name}"), found);
                found.push((path.to_owned(), name.clone()));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                spoiled(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn schemas_and_readers_refuse_the_same_bad_artifacts() {
    let signed = AisScene::good().signed();
    let others =
        [json!(null), json!(-1), json!(1.5), json!(""), json!("x"), json!({}), json!([]), json!(7)];
    let mut compared = 0;
    for (name, artifact, _) in PARTS {
        let (good, schema) = (&signed[name], schema(artifact));
        let mut places = Vec::new();
        spoiled(good, "", &mut places);
        for (above, member) in places {
            // Other rules judge arguments and JSON Schemas.
            if above.contains("/args") || above.contains("/argsSchema") || above.contains("/proof")
            {
                continue;
            }
            for other in others.iter().map(Some).chain([None]) {
                let mut bad = good.clone();
                let object =
                    bad.pointer_mut(&above).and_then(Value::as_object_mut).expect("object");
                match other {
                    Some(other) => object.insert(member.clone(), other.clone()),
                    None => object.remove(&member),
                };
                let read = reads(artifact, &bad);
                let valid = schema.is_valid(&bad);
                assert_eq!(read.is_ok(), valid, "{name} {above}/{member} {other:?}: {read:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

#[track_caller]
fn assert_code(bytes: &[u8], code: AisCode) {
    match AisBundle::read(bytes) {
        Ok(_) => panic!("read: {}", String::from_utf8_lossy(bytes)),
        Err(error) => assert_eq!(error.code(), code, "{error}"),
    }
}

#[test]
fn invalid_bundle_is_refused_by_its_code() {
    let good = AisScene::good().signed();
    assert!(AisBundle::read(good.to_string().as_bytes()).is_ok());
    for bytes in [&b""[..], b"{", b"\xff\xfe", b"{\"uia\":1,\"uia\":1}", b"nul"] {
        assert_code(bytes, AisCode::InputBadJson);
    }
    let deep = format!("{{\"uia\":{}1{}}}", "[".repeat(300), "]".repeat(300));
    assert_code(deep.as_bytes(), AisCode::InputBadJson);
    assert_code(&vec![b' '; BUNDLE_BYTES_MAX + 1], AisCode::InputBadJson);
    let big = good.to_string().replacen("\"maxRecords\":100", "\"maxRecords\":9007199254740993", 1);
    assert_code(big.as_bytes(), AisCode::InputBadJson);
    for value in [json!([]), json!({}), json!({ "uia": {} }), json!(null)] {
        assert_code(value.to_string().as_bytes(), AisCode::InputSchemaInvalid);
    }
    for name in ["uia", "apa", "apr", "tca", "ibe"] {
        let mut less = good.clone();
        less.as_object_mut().expect("an object").remove(name);
        assert_code(less.to_string().as_bytes(), AisCode::InputSchemaInvalid);
        let mut other = good.clone();
        other[name] = good["crl"].clone();
        assert_code(other.to_string().as_bytes(), AisCode::InputSchemaInvalid);
    }
    let mut more = good;
    more["vc"] = json!({});
    assert_code(more.to_string().as_bytes(), AisCode::InputSchemaInvalid);
}

#[test]
fn errors_beyond_the_schema_are_refused() {
    type FormChange = (&'static str, &'static str, Value);
    let rows: [FormChange; 9] = [
        ("apa", "/steps/0/id", json!("a#b")),
        ("tca", "/operations/0/effects/writes", json!([3, 1])),
        ("tca", "/operations/0/effects/writes", json!({ "min": 3, "max": 1 })),
        ("crl", "/expires", json!("2026-06-01T11:55:00Z")),
        ("ibe", "/exp", json!("2026-02-30T00:00:00Z")),
        ("ibe", "/exp", json!("2026-06-01T12:10:00+00:00")),
        ("ibe", "/nonce", json!("two words")),
        ("uia", "/purpose", json!("ab")),
        ("uia", "/id", json!("no uri")),
    ];
    for (part, pointer, value) in rows {
        let mut scene = AisScene::good();
        scene.set(part, pointer, value);
        let refusal = scene.outcome().expect_err(pointer);
        assert_eq!(refusal.code, AisCode::InputSchemaInvalid, "{refusal}");
    }
    let mut scene = AisScene::good();
    let step = scene.parts["apa"]["steps"][0].clone();
    scene.set("apa", "/steps", json!([step, step]));
    assert_eq!(scene.outcome().expect_err("two steps").code, AisCode::InputSchemaInvalid);
}
