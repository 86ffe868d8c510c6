//! Tests of signatures that must not count, in the manner of Wycheproof. Each differs by one change
//! from a good signature over the user's intent.

use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::Signer as _;
use model::Sha256;
use p256::elliptic_curve::PrimeField;
use policies::ais::{AisCode, SigningKey, canonical, sign};
use serde_json::{Value, json};

use super::scene::{AisScene, key};

/// Returns the verdict about this signature of the plan, whose key is on P-256, or of the intent.
fn verdict_of(part: &str, jws: &str) -> Result<(), (AisCode, String)> {
    let scene = AisScene::good();
    let mut bundle = scene.signed();
    bundle[part]["proof"] = json!({ "jws": jws });
    let outcome = scene.outcome_of(bundle.to_string().as_bytes());
    outcome.map(drop).map_err(|refusal| (refusal.code, refusal.message))
}

#[track_caller]
fn assert_forged(part: &str, jws: &str, word: &str) {
    let expected = if part == "uia" { AisCode::UiaSigInvalid } else { AisCode::ApaSigInvalid };
    let (code, message) = verdict_of(part, jws).expect_err(word);
    assert_eq!(code, expected, "{message}");
    assert!(message.contains(word), "{word}: {message}");
}

fn payload(part: &str) -> Vec<u8> {
    let mut object = AisScene::good().parts[part].clone();
    object["proof"] = json!({});
    canonical(&object)
}

fn good(part: &str) -> String {
    let signer = AisScene::good().signers[part];
    sign(&payload(part), &key(signer), Some(signer))
}

fn encode(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn decode(part: &str) -> Vec<u8> {
    Base64UrlUnpadded::decode_vec(part).expect("base64url")
}

/// Signs the same payload with another header, by the user's key or a secret.
fn under(header: &str, signature: &dyn Fn(&[u8]) -> Vec<u8>) -> String {
    let input = format!("{}.{}", encode(header.as_bytes()), encode(&payload("uia")));
    format!("{input}.{}", encode(&signature(input.as_bytes())))
}

fn by_user(input: &[u8]) -> Vec<u8> {
    let seed = Sha256::of(b"user");
    ed25519_dalek::SigningKey::from_bytes(seed.as_bytes()).sign(input).to_bytes().to_vec()
}

#[test]
fn a_good_signature_counts_with_and_without_the_name_of_its_key() {
    for part in ["uia", "apa"] {
        assert_eq!(verdict_of(part, &good(part)), Ok(()));
        let signer = AisScene::good().signers[part];
        assert_eq!(verdict_of(part, &sign(&payload(part), &key(signer), None)), Ok(()));
    }
    assert_eq!(verdict_of("uia", &under(r#"{"typ":"JWT","alg":"EdDSA"}"#, &by_user)), Ok(()));
}

#[test]
fn the_header_chooses_nothing() {
    let rows = [
        (r#"{"alg":"none","typ":"JWT"}"#, "not accepted"),
        (r#"{"alg":"None","typ":"JWT"}"#, "not accepted"),
        (r#"{"alg":"ES384","typ":"JWT"}"#, "not accepted"),
        (r#"{"alg":"RS256","typ":"JWT"}"#, "not accepted"),
        (r#"{"alg":"eddsa","typ":"JWT"}"#, "not accepted"),
        (r#"{"alg":"ES256","typ":"JWT","kid":"user"}"#, "does not match the key"),
        (r#"{"alg":"EdDSA"}"#, "typ"),
        (r#"{"alg":"EdDSA","typ":"jwt"}"#, "typ"),
        (r#"{"typ":"JWT"}"#, "alg"),
        (r#"{"alg":1,"typ":"JWT"}"#, "alg"),
        (r#"{"alg":"EdDSA","alg":"EdDSA","typ":"JWT"}"#, "twice"),
        (r#"{"alg":"EdDSA","typ":"JWT","kid":1}"#, "kid"),
        (r#"{"alg":"EdDSA","typ":"JWT","kid":"operator"}"#, "does not have the role"),
        (r#"{"alg":"EdDSA","typ":"JWT","kid":"nobody"}"#, "no key"),
        (r#"{"alg":"EdDSA","typ":"JWT","kid":"revocation"}"#, "does not have the role"),
        (r#"{"alg":"EdDSA","typ":"JWT","crit":["b64"]}"#, "crit"),
        (r#"{"alg":"EdDSA","typ":"JWT","jwk":{}}"#, "jwk"),
        (r#"{"alg":"EdDSA","typ":"JWT","jku":"https://example.org/keys"}"#, "jku"),
        ("[]", "not an object"),
        ("{", "line 1"),
        ("", "line 1"),
    ];
    for (header, word) in rows {
        assert_forged("uia", &under(header, &by_user), word);
    }
    assert_forged("uia", &under(r#"{"alg":"none","typ":"JWT"}"#, &|_| Vec::new()), "not accepted");
}

#[test]
fn public_key_is_not_a_secret() {
    let seed = Sha256::of(b"user");
    let public = ed25519_dalek::SigningKey::from_bytes(seed.as_bytes()).verifying_key().to_bytes();
    let pem = super::scene::public_pem("user");
    for secret in [&public[..], pem.as_bytes()] {
        let shared = SigningKey::from_secret(secret).expect("a secret");
        assert_forged("uia", &sign(&payload("uia"), &shared, Some("user")), "HS256");
        let mut scene = AisScene::good();
        scene.rules.hs256 = policies::ais::SecretKeys::Demo;
        let mut bundle = scene.signed();
        bundle["uia"]["proof"]["jws"] = json!(sign(&payload("uia"), &shared, Some("user")));
        let refusal = scene.outcome_of(bundle.to_string().as_bytes()).expect_err("confused");
        assert_eq!(refusal.code, AisCode::UiaSigInvalid);
    }
}

#[test]
fn a_signature_has_one_encoding() {
    let jws = good("uia");
    let parts: Vec<&str> = jws.split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!("{jws}") };
    // The last letter of 64 bytes has four unused bits.
    let last = signature.chars().last().expect("a letter");
    let next = char::from_u32(u32::from(last) + 1).expect("a letter");
    let rows = [
        format!("{jws}="),
        format!("{jws}=="),
        format!("{jws}."),
        format!(".{jws}"),
        format!("{header}.{payload}"),
        format!("{header}..{signature}"),
        format!("{jws}\n"),
        format!(" {jws}"),
        format!("{header}.{payload}.{}{next}", &signature[..signature.len() - 1]),
        jws.replace('-', "+").replace('_', "/") + "+",
        String::new(),
        "..".to_owned(),
        format!("{header}.{payload}."),
        format!("{jws}.{signature}"),
    ];
    for jws in rows {
        let (code, message) = verdict_of("uia", &jws).expect_err(&jws);
        assert_eq!(code, AisCode::UiaSigInvalid, "{jws}: {message}");
    }
}

#[test]
fn signature_covers_the_present_content() {
    let user = key("user");
    let text = String::from_utf8(payload("uia")).expect("UTF-8");
    let rows = [
        text.replacen(':', ": ", 1),
        format!("{text}\n"),
        text.replace("\"level\":3", "\"level\":3.0"),
        text.replace("\"level\":3", "\"level\":5"),
        text.replace(",\"proof\":{}", ""),
        text.replace("Summarize", "\\u0053ummarize"),
        "{}".to_owned(),
        String::new(),
    ];
    for payload in rows {
        assert_ne!(payload, text);
        assert_forged("uia", &sign(payload.as_bytes(), &user, None), "canonical bytes");
    }
    // A good signature next to a completely different statement.
    assert_forged("uia", &good("apa"), "canonical bytes");
}

#[test]
fn proofs_of_other_kinds_are_refused() {
    let jws = good("uia");
    let rows = [
        json!({}),
        json!({ "jws": jws, "type": "JsonWebSignature2020" }),
        json!({ "type": "DataIntegrityProof", "proofValue": "z3u2" }),
        json!({ "sd-jwt": format!("{jws}~") }),
        json!({ "jws": 1 }),
        json!({ "jws": format!("{jws}~") }),
    ];
    for proof in rows {
        let scene = AisScene::good();
        let mut bundle = scene.signed();
        bundle["uia"]["proof"] = proof.clone();
        let refusal = scene.outcome_of(bundle.to_string().as_bytes()).expect_err("a proof");
        assert_eq!(refusal.code, AisCode::UiaSigInvalid, "{proof}: {refusal}");
    }
    for proof in [json!(jws), Value::Null, json!([])] {
        let scene = AisScene::good();
        let mut bundle = scene.signed();
        bundle["uia"]["proof"] = proof;
        let refusal = scene.outcome_of(bundle.to_string().as_bytes()).expect_err("a proof");
        assert_eq!(refusal.code, AisCode::InputSchemaInvalid, "{refusal}");
    }
}

#[test]
fn ed25519_is_verified_strictly() {
    let jws = good("uia");
    let (input, signature) = jws.rsplit_once('.').expect("three parts");
    let signature = decode(signature);
    // S + L is the same to readers that do not compare S with the order.
    let order: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut beyond = signature.clone();
    let mut carry = 0_u16;
    for (byte, more) in beyond[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(more) + carry;
        [*byte, _] = sum.to_le_bytes();
        carry = sum >> 8;
    }
    // R of low order verifies without the cofactored check of R.
    let mut low = signature.clone();
    low[..32].fill(0);
    low[0] = 1;
    let zeros = vec![0; 64];
    let (short, long) = (signature[..63].to_vec(), [&signature[..], &[0]].concat());
    let mut flipped = signature;
    flipped[5] ^= 1;
    for forged in [beyond, low, zeros, short, long, flipped] {
        assert_forged("uia", &format!("{input}.{}", encode(&forged)), "not made by the key");
    }
}

#[test]
fn p256_has_one_signature_of_64_bytes() {
    let jws = good("apa");
    let (input, signature) = jws.rsplit_once('.').expect("three parts");
    let bytes = decode(signature);
    let parsed = p256::ecdsa::Signature::from_slice(&bytes).expect("a signature");
    let (r, s) = (parsed.r().to_bytes(), parsed.s().to_bytes());
    let high = (-*parsed.s()).to_bytes();
    let order = p256::Scalar::MODULUS.trim_start_matches("0x");
    let byte = |at: usize| u8::from_str_radix(&order[2 * at..2 * at + 2], 16).expect("hex");
    let n: Vec<u8> = (0..32).map(byte).collect();
    let zero = [0; 32];
    let rows: Vec<Vec<u8>> = vec![
        [&r[..], &high[..]].concat(),
        [&zero[..], &s[..]].concat(),
        [&r[..], &zero[..]].concat(),
        [&zero[..], &zero[..]].concat(),
        [&n[..], &s[..]].concat(),
        [&r[..], &n[..]].concat(),
        [&s[..], &r[..]].concat(),
        [&[0][..], &r[..], &[0][..], &s[..]].concat(),
        [&bytes[..], &[0][..]].concat(),
        bytes[..63].to_vec(),
        parsed.to_der().as_bytes().to_vec(),
        vec![0xff; 64],
        Vec::new(),
    ];
    for (index, forged) in rows.into_iter().enumerate() {
        assert_ne!(forged, bytes, "{index}");
        let (code, _) =
            verdict_of("apa", &format!("{input}.{}", encode(&forged))).expect_err("forged");
        assert_eq!(code, AisCode::ApaSigInvalid, "{index}");
    }
}
