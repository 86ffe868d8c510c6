//! Tests of required fields, and of identifiers with two spellings, which are equal.

use policies::ais::{AisCode, Uri};
use serde_json::json;

use super::scene::AisScene;

/// Every field that the seed lists without a `?`, by its path.
const REQUIRED: [(&str, &[&str]); 7] = [
    (
        "uia",
        &[
            "/id",
            "/subject",
            "/subject/id",
            "/purpose",
            "/constraints",
            "/constraints/dataClasses",
            "/constraints/jurisdictions",
            "/constraints/timeWindow",
            "/constraints/timeWindow/notAfter",
            "/riskBudget",
            "/riskBudget/level",
            "/riskBudget/maxWrites",
            "/riskBudget/maxRecords",
            "/policyProfile",
            "/proof",
        ],
    ),
    (
        "apa",
        &[
            "/id",
            "/uia",
            "/model",
            "/model/vendor",
            "/model/version",
            "/model/hash",
            "/steps",
            "/steps/0/id",
            "/steps/0/tool",
            "/steps/0/args",
            "/steps/0/expected",
            "/steps/0/expected/dataClasses",
            "/steps/0/expected/writes",
            "/steps/0/alignment",
            "/steps/0/alignment/score",
            "/steps/0/alignment/why",
            "/totals",
            "/totals/predictedWrites",
            "/totals/predictedRecords",
            "/proof",
        ],
    ),
    (
        "apr",
        &[
            "/id",
            "/uia",
            "/apa",
            "/method",
            "/evidence",
            "/evidence/coverage",
            "/evidence/risk",
            "/proof",
        ],
    ),
    (
        "tca",
        &[
            "/id",
            "/operations",
            "/operations/0/name",
            "/operations/0/argsSchema",
            "/operations/0/effects",
            "/operations/0/effects/writes",
            "/operations/0/effects/dataClasses",
            "/operator",
            "/proof",
        ],
    ),
    ("ibe", &["/id", "/uiaRef", "/apaStepRef", "/aprRef", "/tcaRef", "/nonce", "/exp", "/sig"]),
    ("crl", &["/issued", "/expires", "/revoked", "/revoked/0/type", "/revoked/0/id", "/proof"]),
    (
        "sca",
        &[
            "/components",
            "/components/0/type",
            "/components/0/name",
            "/components/0/version",
            "/components/0/hash",
            "/components/0/source",
            "/proof",
        ],
    ),
];

#[test]
fn a_bundle_that_lacks_a_field_of_the_seed_is_refused() {
    let whole = AisScene::good().signed();
    let mut accepted = Vec::new();
    for (part, places) in REQUIRED {
        for place in places {
            let mut bundle = whole.clone();
            let (above, name) = place.rsplit_once('/').expect("a pointer");
            let members = bundle.pointer_mut(&format!("/{part}{above}")).expect("a place");
            members.as_object_mut().expect("an object").remove(name).expect("a member");
            // Signing an artifact without the field does not help.
            let mut signed = AisScene::good();
            if !["proof", "sig"].contains(&name) {
                signed.take(part, place);
                bundle = signed.signed();
            }
            if signed.outcome_of(bundle.to_string().as_bytes()).is_ok() {
                accepted.push(format!("{part}{place}"));
            }
        }
    }
    assert_eq!(accepted, Vec::<String>::new(), "accepted without");
}

#[test]
fn empty_text_counts_as_a_missing_field() {
    for (part, place) in [
        ("apa", "/model/vendor"),
        ("apa", "/model/version"),
        ("apa", "/steps/0/alignment/why"),
        ("uia", "/constraints/jurisdictions/0"),
    ] {
        let mut scene = AisScene::good();
        scene.set(part, place, json!(""));
        let refusal = scene.outcome().expect_err(place);
        assert_eq!(refusal.code, AisCode::InputSchemaInvalid, "{place}: {refusal}");
    }
}

const INTENT: &str = "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001";

#[test]
fn revocation_counts_for_every_spelling_of_its_identifier() {
    for id in [
        "URN:UUID:0B6E1A52-4E0F-4C36-9D6A-000000000001",
        "Urn:Uuid:0b6e1a52-4E0F-4c36-9d6a-000000000001",
        "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001#s1",
        "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001?=a=b",
        "urn:uuid:0b6e1a52-4e0f-4c36-9d6a-000000000001?+a",
        INTENT,
    ] {
        let mut scene = AisScene::good();
        scene.set("crl", "/revoked/0", json!({ "type": "UIA", "id": id }));
        let refusal = scene.outcome().expect_err(id);
        assert_eq!(refusal.code, AisCode::UiaRevoked, "{id}: {refusal}");
    }
}

#[test]
fn plan_is_found_by_every_spelling_of_its_identifier() {
    let mut scene = AisScene::good();
    let capitals = "URN:UUID:0B6E1A52-4E0F-4C36-9D6A-000000000002";
    scene.set("ibe", "/apaStepRef", json!(format!("{capitals}#s1")));
    assert!(scene.outcome().is_ok(), "the step of the same plan");
    scene.set("apr", "/apa", json!(capitals));
    assert!(scene.outcome().is_ok(), "a reference to the same plan");
    scene.set("crl", "/revoked/0", json!({ "type": "APA", "id": capitals }));
    assert_eq!(scene.outcome().expect_err("revoked").code, AisCode::ApaRevoked);
}

#[test]
fn identifiers_are_equal_as_their_standards_say() {
    let uri = |text: &str| Uri::try_from(text.to_owned()).unwrap_or_else(|why| panic!("{why}"));
    // RFC 8141, section 3.2, and RFC 3986, section 6.2.2.
    for (one, two) in [
        ("urn:example:a123,z456", "URN:EXAMPLE:a123,z456"),
        ("urn:example:a123,z456", "urn:example:a123,z456?+abc"),
        ("urn:example:a123,z456", "urn:example:a123,z456?=xyz"),
        ("urn:example:a123,z456", "urn:example:a123,z456#789"),
        ("urn:example:a123%2cz456", "URN:EXAMPLE:a123%2Cz456"),
        (
            "urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        ),
        ("did:example:a%2fb", "DID:example:a%2Fb"),
        ("https://Example.ORG/a%7eb", "HTTPS://example.org/a~b"),
    ] {
        assert_eq!(uri(one), uri(two), "{one} {two}");
    }
    for (one, two) in [
        ("urn:example:a123,z456", "urn:example:A123,z456"),
        ("urn:example:a123,z456", "urn:example:a123,z456/foo"),
        ("urn:example:a123,z456", "urn:example:a123%2Cz456"),
        ("urn:uia:Test", "urn:uia:test"),
        ("did:example:Alice", "did:example:alice"),
        ("did:example:alice#1", "did:example:alice#2"),
        ("https://example.org/A", "https://example.org/a"),
    ] {
        assert_ne!(uri(one), uri(two), "{one} {two}");
    }
}

#[test]
fn two_principals_cannot_share_an_identifier_by_writing_it_differently() {
    let mut scene = AisScene::good();
    scene.trust["principals"]["host"] = json!(["DID:example:user"]);
    let error = policies::ais::AisTrustStore::read(scene.trust.to_string().as_bytes());
    assert!(error.is_err_and(|error| error.to_string().contains("two principals")));
}
