//! Tests of trust stores and private keys: the accepted forms, and entries that would trust too
//! much.

use policies::ais::{AisTrustStore, Algorithm, SigningKey, sign};
use serde_json::{Value, json};

use super::scene::{AisScene, private_pem, public_pem, trust_value};

fn refused(value: &Value) -> String {
    match AisTrustStore::read(value.to_string().as_bytes()) {
        Ok(_) => panic!("read: {value}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn assert_refused(change: impl Fn(&mut Value), word: &str) {
    let mut store = trust_value();
    change(&mut store);
    let output = refused(&store);
    assert!(output.contains(word), "{word}: {output}");
}

#[test]
fn stores_that_trust_too_much_are_refused() {
    assert_refused(|s| s["version"] = json!(2), "version 2");
    assert_refused(|s| s["more"] = json!(2), "more");
    assert_refused(|s| s["keys"][0]["more"] = json!(2), "more");
    assert_refused(|s| s["keys"][0]["roles"] = json!(["root"]), "root");
    assert_refused(|s| s["keys"][0]["roles"] = json!([]), "roles");
    assert_refused(|s| s["keys"][0]["principal"] = json!("nobody"), "not listed");
    assert_refused(|s| s["keys"][0]["algorithm"] = json!("ES256"), "algorithm");
    assert_refused(|s| s["keys"][0]["algorithm"] = json!("none"), "none");
    assert_refused(|s| s["keys"][0]["kid"] = json!("agent"), "two keys");
    assert_refused(|s| s["keys"][0]["key"] = s["keys"][2]["key"].clone(), "again");
    assert_refused(|s| s["keys"][2]["roles"] = json!(["verifier", "agent-runtime"]), "both roles");
    assert_refused(|s| s["keys"][0]["valid_until"] = json!("2026-01-01T00:00:00Z"), "valid_until");
    assert_refused(|s| s["keys"][0]["valid_until"] = json!("tomorrow"), "tomorrow");
    assert_refused(
        |s| s["principals"]["agent"] = s["principals"]["user"].clone(),
        "two principals",
    );
    assert_refused(|s| s["keys"][0]["key"] = json!("ssh-rsa AAAA"), "no key");
    assert_refused(|s| s["keys"][0]["key"] = json!(private_pem("user")), "no key");
    let twice =
        trust_value().to_string().replacen("\"version\":1", "\"version\":1,\"version\":1", 1);
    assert!(AisTrustStore::read(twice.as_bytes()).is_err());
    for bytes in [&b""[..], b"[]", b"{", b"\xff", b"version: 1\nversion: 1\n", b"a: &x 1\nb: *x\n"]
    {
        assert!(AisTrustStore::read(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn keys_that_are_no_sound_points_are_refused() {
    let jwk = |jwk: Value| move |s: &mut Value| s["keys"][0]["key"] = jwk.clone();
    // The neutral element, and one of order 8.
    let one = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    assert_refused(jwk(json!({ "kty": "OKP", "crv": "Ed25519", "x": one })), "valid point");
    let zero = "A".repeat(43);
    assert_refused(jwk(json!({ "kty": "OKP", "crv": "Ed25519", "x": zero })), "valid point");
    assert_refused(
        jwk(json!({ "kty": "EC", "crv": "P-256", "x": zero, "y": zero })),
        "valid point",
    );
    assert_refused(jwk(json!({ "kty": "EC", "crv": "P-384", "x": zero, "y": zero })), "neither");
    assert_refused(jwk(json!({ "kty": "OKP", "crv": "X25519", "x": zero })), "neither");
    assert_refused(jwk(json!({ "kty": "RSA", "n": zero, "e": "AQAB" })), "kty");
    assert_refused(jwk(json!({ "kty": "oct", "k": "" })), "`k`");
    assert_refused(jwk(json!({ "kty": "OKP", "crv": "Ed25519", "x": "AQ" })), "`x`");
}

#[test]
fn one_key_is_read_in_every_form() {
    let openssh = |role: &str| {
        let private = if role == "agent" {
            let secret = p256_secret(role);
            ssh_key::PrivateKey::from(ssh_key::private::EcdsaKeypair::NistP256 {
                public: secret.public_key().into(),
                private: secret.into(),
            })
        } else {
            let seed = model::Sha256::of(role.as_bytes());
            let pair = ssh_key::private::Ed25519Keypair::from_seed(seed.as_bytes());
            ssh_key::PrivateKey::from(pair)
        };
        let line = private.public_key().to_openssh().expect("a line");
        (line, private.to_openssh(ssh_key::LineEnding::LF).expect("a file").to_string())
    };
    for (role, at) in [("user", 0), ("agent", 1)] {
        let (line, file) = openssh(role);
        for key in [json!(line), json!(public_pem(role)), json!(format!("{line} a comment\n"))] {
            let mut scene = AisScene::good();
            scene.trust["keys"][at]["key"] = key;
            scene.outcome().unwrap_or_else(|refusal| panic!("{role}: {refusal}"));
        }
        let one = SigningKey::from_private(&file).expect("OpenSSH's format");
        let two = SigningKey::from_private(&private_pem(role)).expect("PKCS#8");
        assert_eq!(sign(b"{}", &one, None), sign(b"{}", &two, None));
    }
    let yaml = format!(
        "version: 1\nprincipals:\n  user: [\"did:example:user\"]\nkeys:\n  - kid: user\n    \
         principal: user\n    algorithm: EdDSA\n    roles: [user]\n    key: {}\n",
        openssh("user").0
    );
    assert!(AisTrustStore::read(yaml.as_bytes()).is_ok());
}

fn p256_secret(role: &str) -> p256::SecretKey {
    let seed = model::Sha256::of(role.as_bytes());
    p256::SecretKey::from_slice(seed.as_bytes()).expect("a scalar")
}

#[test]
fn a_key_takes_the_place_of_another_while_both_count() {
    let mut scene = AisScene::good();
    let mut successor = scene.trust["keys"][0].clone();
    successor["kid"] = json!("user-2");
    successor["key"] = json!(public_pem("user-2"));
    scene.trust["keys"].as_array_mut().expect("keys").push(successor);
    scene.outcome().unwrap_or_else(|refusal| panic!("{refusal}"));
    scene.signers.insert("uia", "user-2");
    scene.outcome().unwrap_or_else(|refusal| panic!("{refusal}"));
    scene.trust["keys"][7]["principal"] = json!("operator");
    assert!(scene.outcome().is_err());
}

#[test]
fn invalid_private_keys_are_refused() {
    for text in ["", "-----BEGIN PUBLIC KEY-----", &public_pem("user"), "word"] {
        assert!(SigningKey::from_private(text).is_err(), "{text}");
    }
    // In two parts, so that no file of the repository looks like a key.
    let cut = ["-----BEGIN OPENSSH PRIVATE", "KEY-----\n"].join(" ");
    let Err(error) = SigningKey::from_private(&cut) else { panic!("a cut key signs") };
    assert!(error.to_string().contains("ssh-keygen -p -N '' -m PKCS8"), "{error}");
    let key = SigningKey::from_private(&private_pem("user")).expect("a key");
    assert!(key.for_algorithm(Algorithm::ES256).is_err());
    let key = SigningKey::from_private(&private_pem("agent")).expect("a key");
    assert!(key.for_algorithm(Algorithm::HS256).is_err());
}
