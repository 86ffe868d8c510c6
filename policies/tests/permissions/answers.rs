//! Tests of answers: the accepted authors, and the valid bytes.

use std::collections::BTreeSet;

use model::UtcTime;
use policies::permissions::{AnswerEvidence, AnswerRules, Author, FileOwner, PERMISSION_NAMESPACE};
use policies::{APPROVE_NAMESPACE, AllowedSigners, RevokedKeys, SignatureFile};

use super::scene::{NOON, PermissionScene, answer_to, calls, source};
use soft::SoftKey;
use soft::passkey::SoftPasskey;

use crate::soft;

fn bytes() -> Vec<u8> {
    let filed = PermissionScene::new().add_request(&source("wf-1"), &calls(&["a"])).unwrap();
    answer_to(&filed, &["a"], &[]).bytes()
}

fn signers(line: &str) -> AllowedSigners {
    AllowedSigners::parse(line).unwrap()
}

fn count(
    rules: &AnswerRules,
    bytes: &[u8],
    signatures: &[SignatureFile],
) -> Result<Author, String> {
    let now: UtcTime = NOON.parse().unwrap();
    let evidence = AnswerEvidence { signatures, owner: None, now };
    let accepted = rules.accept(bytes, &evidence).map_err(|error| error.to_string())?;
    Ok(accepted.by().clone())
}

/// These rules have no list of origins.
#[test]
fn an_answer_signed_by_a_passkey_does_not_count() {
    let (key, bytes) = (SoftPasskey::new(5, "localhost"), bytes());
    let signed = key.sign(&key.asked(PERMISSION_NAMESPACE, &bytes, "http://localhost:8000"));
    let signers = Some(signers(&format!("alice {}", key.public())));
    let rules = AnswerRules { signers, uids: BTreeSet::new() };
    let why = count(&rules, &bytes, &[signed]).unwrap_err();
    assert!(why.contains("is a passkey, which does not count for this use"), "{why}");
}

#[test]
fn answer_signature_follows_the_rules_of_approval_signatures() {
    let key = SoftKey::ed25519(1);
    let bytes = bytes();
    let good = key.sign(PERMISSION_NAMESPACE, &bytes);
    let line = |options: &str| signers(&format!("alice {options}{}", key.public()));
    let rules = |signers| AnswerRules { signers: Some(signers), uids: BTreeSet::new() };
    let by = count(&rules(line("")), &bytes, std::slice::from_ref(&good)).unwrap();
    assert!(matches!(by, Author::Signed { principal, .. } if principal == "alice"));
    let only = line(&format!("namespaces=\"{PERMISSION_NAMESPACE}\" "));
    assert!(count(&rules(only), &bytes, std::slice::from_ref(&good)).is_ok());
    let stranger = SoftKey::ed25519(2).sign(PERMISSION_NAMESPACE, &bytes);
    let approval = key.sign(APPROVE_NAMESPACE, &bytes);
    let other = key.sign(PERMISSION_NAMESPACE, b"other bytes");
    let broken = SignatureFile { name: "x".into(), bytes: b"no signature".to_vec() };
    let wrong = [
        (line(""), stranger.clone(), "not in allowed_signers"),
        (line(""), approval, "namespace"),
        (line(""), other, ""),
        (line(""), broken.clone(), ""),
        (line(&format!("namespaces=\"{APPROVE_NAMESPACE}\" ")), good.clone(), "may not answer"),
        (line("valid-before=\"20260101Z\" "), good.clone(), "not valid now"),
        (
            line("").with_revoked(RevokedKeys::parse(key.public().as_bytes()).unwrap()),
            good.clone(),
            "revoked",
        ),
    ];
    for (signers, signature, expected) in wrong {
        let why = count(&rules(signers), &bytes, &[signature]).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
    // An unusable signature does not block a usable one.
    assert!(count(&rules(line("")), &bytes, &[broken, stranger, good.clone()]).is_ok());
    assert!(count(&rules(line("")), &bytes, &[]).is_err(), "unsigned");
    assert!(count(&AnswerRules::default(), &bytes, &[good]).is_err(), "nobody's counts by itself");
}

#[test]
fn an_unsigned_answer_counts_only_as_a_permitted_users_own_file() {
    let bytes = bytes();
    let rules = AnswerRules { signers: None, uids: BTreeSet::from([1000]) };
    let now: UtcTime = NOON.parse().unwrap();
    for (uid, mode, counts) in [
        (1000, 0o100_644, true),
        (1001, 0o100_644, false),
        (1000, 0o100_664, false),
        (1000, 0o100_646, false),
        (0, 0o100_600, false),
    ] {
        let owner = Some(FileOwner { uid, mode });
        let evidence = AnswerEvidence { signatures: &[], owner, now };
        assert_eq!(rules.accept(&bytes, &evidence).is_ok(), counts, "{uid} {mode:o}");
    }
}

#[test]
fn an_answer_is_read_strictly() {
    let text = String::from_utf8(bytes()).unwrap();
    let rules = AnswerRules { signers: None, uids: BTreeSet::from([1]) };
    let reads = |text: &str| {
        let owner = Some(FileOwner { uid: 1, mode: 0o600 });
        let now: UtcTime = NOON.parse().unwrap();
        let evidence = AnswerEvidence { signatures: &[], owner, now };
        rules.accept(text.as_bytes(), &evidence).is_ok()
    };
    assert!(reads(&text));
    let granted = "\"granted\": [\n      \"a\"\n    ]";
    for (from, to) in [
        (granted, "\"granted\": [\"a\", \"a\"]"),
        (granted, "\"granted\": [\"a\"], \"granted\": [\"b\"]"),
        (granted, "\"granted\": [\"a\"], \"more\": 1"),
        (granted, "\"granted\": \"a\""),
        (granted, "\"granted\": [1]"),
        ("\"denied\": []", "\"denied\": [], \"commentary\": null"),
        ("  \"denied\": []", "\"commentary\": \"\""),
        ("\"1.0.0\"", "\"1.0.1\""),
        (".success\"", ".error\""),
        ("\"answers\"", "\"limits\": {\"b\": {\"uses\": 1}}, \"answers\""),
        ("\"answers\"", "\"limits\": {\"a\": {\"uses\": 0}}, \"answers\""),
        ("\"answers\"", "\"limits\": {\"a\": {\"uses\": 1000001}}, \"answers\""),
        ("\"answers\"", "\"limits\": {\"a\": {\"uses\": null}}, \"answers\""),
        ("\"answers\"", "\"limits\": {\"a\": {\"expires_utc\": \"tomorrow\"}}, \"answers\""),
        ("\"answers\"", "\"limits\": {\"a\": {\"arguments\": \"some\"}}, \"answers\""),
        ("\"answers\"", "\"limits\": {\"a\": {\"usage\": 1}}, \"answers\""),
        ("\"answers\"", "\"limits\": null, \"answers\""),
        ("\"PR-", "\"PX-"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        assert!(!reads(&text.replace(from, to)), "{to}");
    }
    assert!(reads(&text.replace("\"answers\"", "\"limits\": {\"a\": {\"uses\": 1}}, \"answers\"")));
}
