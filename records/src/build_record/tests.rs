//! A record of a build verifies as it was signed, and never after a change.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use model::{Sha256, UtcTime};
use serde_json::{Value, json};
use ssh_key::private::Ed25519Keypair;
use ssh_key::{LineEnding, PrivateKey};

use super::sign::envelope;
use super::*;
use crate::base64;
use crate::result_key::ResultKey;

fn digest() -> Sha256 {
    Sha256::of(b"tree")
}

fn stated() -> BuildStatement {
    BuildStatement {
        environment: format!("charts@sha256:{}", digest()).parse().unwrap(),
        source: StatedSource {
            kind: "requirements".to_owned(),
            file: "requirements.txt".to_owned(),
            sha256: Sha256::of(b"lock file").to_string(),
        },
        installer: Some(StatedInstaller { name: "uv".to_owned(), version: "0.5.1".to_owned() }),
        platform: "linux/x86_64".to_owned(),
        tool_version: "0.1.0".to_owned(),
        started: UtcTime::from_unix(1_700_000_000),
        ended: UtcTime::from_unix(1_700_000_009),
        uid: 1000,
        totals: BuildTotals { files: 3, directories: 1, links: 0, bytes: 40 },
    }
}

fn p256() -> BuilderKey {
    BuilderKey::of_result_key(ResultKey::generate().unwrap(), Path::new("result")).unwrap()
}

/// Returns a key from a file of its own, which is removed at once.
fn ed25519(test: &str) -> BuilderKey {
    let unique = format!("toolexec-builder-{test}-{}", std::process::id());
    let directory = std::env::temp_dir().join(unique);
    std::fs::DirBuilder::new().mode(0o700).create(&directory).unwrap();
    let pair = Ed25519Keypair::random(&mut rand_core::OsRng);
    let path = directory.join("builder");
    PrivateKey::from(pair).write_openssh_file(&path, LineEnding::LF).unwrap();
    let key = BuilderKey::of_file(&path);
    std::fs::remove_dir_all(&directory).unwrap();
    key.unwrap()
}

fn verify(record: &[u8]) -> Result<BuildRecord, BuildRecordError> {
    verify_build_record(record, digest())
}

/// Changes the envelope and the statement in it; the signature stays.
fn changed(record: &[u8], change: impl FnOnce(&mut Value, &mut Value)) -> Vec<u8> {
    let mut envelope: Value = serde_json::from_slice(record).unwrap();
    let payload = base64::decode(envelope["payload"].as_str().unwrap()).unwrap();
    let text = String::from_utf8(payload).unwrap();
    let mut statement: Value = serde_json::from_str(&text).unwrap();
    let before = statement.clone();
    change(&mut envelope, &mut statement);
    if statement != before {
        // `Value` sorts the keys, so the changed value is written over the old text.
        let mut text = text;
        for (old, new) in leaves(&before).into_iter().zip(leaves(&statement)) {
            text = text.replacen(&old, &new, 1);
        }
        envelope["payload"] = base64::encode(text.as_bytes()).into();
    }
    serde_json::to_vec(&envelope).unwrap()
}

/// Returns each key with its value, if that is a text or a number.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value {
                Value::Object(_) | Value::Array(_) => leaves(value),
                leaf => vec![format!("\"{key}\":{leaf}")],
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_record_verifies_as_it_was_signed() {
    for key in [p256(), ed25519("signed")] {
        let record = sign_build(&stated(), &key).unwrap();
        let verified = verify(&record).unwrap();
        assert_eq!((verified.stated(), verified.key()), (&stated(), key.public()));
    }
    let none = BuildStatement { installer: None, ..stated() };
    let record = sign_build(&none, &p256()).unwrap();
    assert_eq!(verify(&record).unwrap().stated(), &none);
}

#[test]
fn a_changed_statement_is_refused() {
    for key in [p256(), ed25519("changed")] {
        let record = sign_build(&stated(), &key).unwrap();
        for (field, value) in [("bytes", json!(41)), ("platform", json!("linux/aarch64"))] {
            let other = changed(&record, |_, it| it["predicate"][field] = value);
            assert_eq!(verify(&other), Err(BuildRecordError::Signature), "{field}");
        }
        let later = changed(&record, |_, it| it["predicate"]["started_utc"] = "x".into());
        assert_eq!(verify(&later), Err(BuildRecordError::Field("started_utc")));
        let kind = changed(&record, |_, it| it["predicateType"] = crate::PREDICATE_TYPE.into());
        assert_eq!(verify(&kind), Err(BuildRecordError::Form));
    }
}

#[test]
fn another_subject_or_key_is_refused() {
    let (key, other) = (p256(), ed25519("other"));
    let record = sign_build(&stated(), &key).unwrap();
    let elsewhere = verify_build_record(&record, Sha256::of(b"another tree"));
    assert_eq!(elsewhere, Err(BuildRecordError::OtherEnvironment));

    // The statement names the one key, and the other key signed it.
    let payload = super::form::render(&stated(), key.public());
    let pae = crate::dsse::pae(crate::dsse::PAYLOAD_TYPE, &payload);
    let foreign = other.sign_pae(&pae).unwrap();
    let forged = envelope(&payload, &foreign, key.public());
    assert_eq!(verify(&forged), Err(BuildRecordError::Signature));
    let forged = envelope(&payload, &foreign, other.public());
    assert_eq!(verify(&forged), Err(BuildRecordError::OtherKey));
}

#[test]
fn other_forms_are_refused() {
    let record = sign_build(&stated(), &p256()).unwrap();
    for (bytes, error) in [
        (vec![b' '; 65 * 1024], BuildRecordError::TooLarge),
        (Vec::new(), BuildRecordError::Form),
        (b"{}".to_vec(), BuildRecordError::Form),
        (changed(&record, |it, _| it["more"] = 1.into()), BuildRecordError::Form),
        (changed(&record, |it, _| it["signatures"] = json!([])), BuildRecordError::Form),
        (
            changed(&record, |it, _| it["payloadType"] = "text/plain".into()),
            BuildRecordError::Field("payloadType"),
        ),
        (changed(&record, |it, _| it["payload"] = "e30=".into()), BuildRecordError::Form),
        (
            changed(&record, |it, _| it["payload"] = "e30".into()),
            BuildRecordError::Field("payload"),
        ),
    ] {
        assert_eq!(verify(&bytes), Err(error), "{error}");
    }
    let mut stated = stated();
    stated.source.file = "a\u{202e}b".to_owned();
    let deceptive = sign_build(&stated, &p256()).unwrap();
    assert_eq!(verify(&deceptive), Err(BuildRecordError::Field("source")));
}

#[test]
fn every_cut_of_a_record_is_refused() {
    let record = sign_build(&stated(), &p256()).unwrap();
    let end = record.len() - 1;
    for at in 0..end {
        assert!(verify(&record[..at]).is_err(), "{at}");
    }
    assert!(verify(&record[..end]).is_ok());
}
