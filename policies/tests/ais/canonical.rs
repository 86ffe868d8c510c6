//! Tests of canonical bytes and signatures against published objects, byte for byte.

use std::path::PathBuf;

use policies::ais::{
    Apa, Apr, EVIDENCE_TOLERANCE, SigningKey, Uia, UnverifiedArtifact, canonical, entail,
    read_document, sign,
};
use serde_json::{Value, json};

fn vector(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ais/vectors").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn document(name: &str) -> Value {
    read_document(&vector(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn canonical_text(text: &str) -> String {
    let value = read_document(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    String::from_utf8(canonical(&value)).expect("UTF-8")
}

const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";

fn demo_key() -> SigningKey {
    let golden: Value = document("golden_hs256.json");
    SigningKey::from_secret(golden["secret"].as_str().unwrap_or_default().as_bytes())
        .expect("a key")
}

#[test]
fn published_payloads_and_signatures_come_out_byte_for_byte() {
    let golden = document("golden_hs256.json");
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let payload = case["payload"].as_str().expect("a payload");
        assert_eq!(canonical_text(payload), payload);
        let jws = sign(payload.as_bytes(), &demo_key(), None);
        let parts: Vec<&str> = jws.split('.').collect();
        assert_eq!(parts[0], HEADER);
        assert_eq!(parts[2], case["signature"], "{}", case["name"]);
    }
}

#[test]
fn the_demos_plan_and_proof_sign_as_computed_for_it() {
    let expected = [
        ("uia_minimal.json", "or5mgTnyIeav893KYm9li-hOlalQPq2zFpDzYgDIeJg"),
        ("apa_generate_step.json", "Tpvo9r7nOdsF4KE-NEUjyCyBQ8dIwgbQgW3OQOAy_A0"),
        ("apr_pass_semantic_entailment_v1.json", "oPCJUEaN7MM6HNjg993domG2E3NFzp-A8XZVF5s2HWs"),
    ];
    for (name, signature) in expected {
        let jws = sign(&canonical(&document(name)), &demo_key(), None);
        assert_eq!(jws.rsplit('.').next(), Some(signature), "{name}");
    }
}

/// Adds four fields that the seed requires and the demonstration omits. The procedure reads none.
fn completed(name: &str) -> Value {
    let mut document = document(name);
    if name.starts_with("uia") {
        assert!(UnverifiedArtifact::<Uia>::read(&document).is_err(), "without jurisdictions");
        document["constraints"]["jurisdictions"] = json!(["EU"]);
    } else {
        assert!(
            UnverifiedArtifact::<Apa>::read(&document).is_err(),
            "without vendor, version and why"
        );
        document["model"]["vendor"] = "ollama".into();
        document["model"]["version"] = "1".into();
        document["steps"][0]["alignment"]["why"] = "it summarizes".into();
    }
    document
}

#[test]
fn the_demos_conformance_checks_pass() {
    let uia: UnverifiedArtifact<Uia> =
        UnverifiedArtifact::read(&completed("uia_minimal.json")).expect("a UIA");
    let apa: UnverifiedArtifact<Apa> =
        UnverifiedArtifact::read(&completed("apa_generate_step.json")).expect("an APA");
    let found = entail(uia.content(), apa.content());
    let agrees = |name: &str| {
        let apr: UnverifiedArtifact<Apr> =
            UnverifiedArtifact::read(&document(name)).expect("an APr");
        let stated = &apr.content().evidence;
        (stated.coverage.get() - found.coverage).abs() <= EVIDENCE_TOLERANCE
            && (stated.risk.get() - found.risk).abs() <= EVIDENCE_TOLERANCE
    };
    assert!(agrees("apr_pass_semantic_entailment_v1.json"));
    assert!(!agrees("apr_fail_low_coverage.json"));
    // `guarded` tests the third, an expired envelope.
}

#[test]
fn numbers_and_ordinary_texts_are_those_of_rfc_8785() {
    for name in ["arrays", "french", "structures", "unicode", "values"] {
        let output = vector(&format!("jcs/{name}.output.json"));
        let made = canonical(&document(&format!("jcs/{name}.input.json")));
        assert_eq!(String::from_utf8(made), String::from_utf8(output), "{name}");
    }
}

#[test]
fn names_go_by_code_point_and_marks_of_html_are_escaped() {
    // In UTF-16 order the smiley would precede U+FB33.
    let made = String::from_utf8(canonical(&document("jcs/weird.input.json"))).expect("UTF-8");
    let at = |what: &str| made.find(what).unwrap_or_else(|| panic!("{what}: {made}"));
    assert!(at("Hebrew") < at("Smiley"), "{made}");
    assert!(made.contains(r#""\u003c/script\u003e":"Browser Challenge""#), "{made}");
    assert_eq!(
        canonical_text("\"<&>\u{2028}\u{2029}\u{7f}\u{e9}\""),
        "\"\\u003c\\u0026\\u003e\\u2028\\u2029\u{7f}\u{e9}\""
    );
    assert_eq!(canonical_text(r#""\b\f\n\r\t\u0001\/\"\\""#), r#""\b\f\n\r\t\u0001/\"\\""#);
}

#[test]
fn numbers_have_one_form() {
    let rows = [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e2", "100"),
        ("0.1", "0.1"),
        ("1E30", "1e+30"),
        ("1e21", "1e+21"),
        ("999999999999999900000.0", "999999999999999900000"),
        ("1e-6", "0.000001"),
        ("1e-7", "1e-7"),
        ("-1.5e-9", "-1.5e-9"),
        ("9007199254740991", "9007199254740991"),
        ("5e-324", "5e-324"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("-17", "-17"),
    ];
    for (text, expected) in rows {
        assert_eq!(canonical_text(text), expected, "{text}");
    }
}

#[test]
fn ambiguous_documents_are_refused() {
    let rows = [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"\u0061":2}"#,
        "9007199254740992",
        r#"{"x":[-9007199254740993]}"#,
        "123456789012345678901234567890",
        "1e400",
        "{",
        "",
        "1 2",
        "\"\\ud800\"",
        "NaN",
        "[1,]",
        "{'a':1}",
    ];
    for text in rows {
        assert!(read_document(text.as_bytes()).is_err(), "{text}");
    }
    assert!(read_document(b"\"\xff\"").is_err());
    assert!(read_document("[".repeat(200).as_bytes()).is_err());
    assert!(read_document(r#"{"9007199254740993":"\"9007199254740993"}"#.as_bytes()).is_ok());
}

#[test]
fn a_secret_is_its_files_bytes_less_one_line_end() {
    let signed = |file: &[u8]| {
        SigningKey::from_secret(file)
            .map(|key| sign(b"{}", &key, None))
            .map_err(|error| error.to_string())
    };
    assert_eq!(signed(b"word"), signed(b"word\n"));
    assert_ne!(signed(b"word\n"), signed(b"word\n\n"));
    assert_ne!(signed(b"word"), signed(b"word\r\n"));
    assert!(signed(b"\n").is_err() && signed(b"").is_err());
}
