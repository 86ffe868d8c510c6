//! Bundles: the same record always gives the same bundle, it verifies, and no part of it can be
//! changed, added or omitted.

use std::fs;
use std::path::{Path, PathBuf};

use base64::prelude::*;
use model::{Outcome, Sha256};
use records::log::{Inclusion, Log, ProofError};
use records::{
    AttestedRecord, PublicResultKey, RecordBundleError, Statement, VerifiedBundle, attest, sign,
    verify_bundle,
};
use serde_json::{Value, json};

use crate::fixture::{RecordCase, RecordScratch, flip, put, stock};
use crate::log::log_key;

/// A record that is signed and logged after three others.
pub(crate) struct LoggedRecord {
    pub(crate) scratch: RecordScratch,
    pub(crate) case: RecordCase,
    pub(crate) attested: AttestedRecord,
    pub(crate) inclusion: Inclusion,
    pub(crate) bundle: Vec<u8>,
    pub(crate) key: PublicResultKey,
    pub(crate) log: Log,
}

impl LoggedRecord {
    pub(crate) fn new(case: RecordCase) -> Self {
        let scratch = RecordScratch::in_memory();
        let key = scratch.key("keys");
        let attested = attest(&case.statement(), &key).unwrap();
        let mut log = Log::open_or_create(&scratch.path().join("log"), log_key()).unwrap();
        for other in ["Another.", "A third.", "A fourth."] {
            let other = attest(&RecordCase::new(other, b"", &[]).statement(), &key).unwrap();
            log.append(&other.envelope().log_entry()).unwrap();
        }
        let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
        let bundle = attested.envelope().bundle(&inclusion).unwrap();
        Self { scratch, case, attested, inclusion, bundle, key: key.public(), log }
    }

    /// Publishes the record in a directory, with its bundle and its proof.
    pub(crate) fn publish(&self, root: &Path) -> PathBuf {
        let dir = self.case.publish_run(root, self.attested.record());
        for (name, bytes) in self.attested.proofs(&self.inclusion).unwrap() {
            put(&dir.join(name), &bytes);
        }
        dir
    }

    fn verify(&self, bundle: &[u8]) -> Result<VerifiedBundle, RecordBundleError> {
        verify_bundle(bundle, &self.key, self.log.key())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.bundle).unwrap()
    }

    #[track_caller]
    fn refused(&self, bundle: &Value) -> RecordBundleError {
        self.verify(&serde_json::to_vec(bundle).unwrap()).unwrap_err()
    }

    fn markdown(&self) -> &str {
        std::str::from_utf8(&self.attested.record().files()[0].1).unwrap()
    }
}

#[test]
fn a_bundle_says_of_every_file_what_it_is_and_what_the_markdown_says() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let verified = logged.verify(&logged.bundle).unwrap();
    let dir =
        logged.case.publish_run(&logged.scratch.path().join("results"), logged.attested.record());
    let id = logged.attested.record().result_id();
    let names: Vec<&str> = verified.subjects().iter().map(|(name, _)| name.as_str()).collect();
    let (md, request) = (format!("{id}.md"), "request/TR-20261121-120000Z-stats.md");
    let sig = format!("{request}.sig");
    let expected =
        [&md, "stdout", "stderr", "artifacts/stats.json", "artifacts/sub/extra.txt", request, &sig];
    assert_eq!(names, expected);
    for (name, sha256) in verified.subjects() {
        assert_eq!(Sha256::of(&fs::read(dir.join(name)).unwrap()), *sha256, "{name}");
    }
    assert_eq!(verified.inclusion().index(), 3);
    assert_eq!(verified.facts()["outcome"], "ok");
    assert_eq!(verified.differing_keys(logged.markdown()), Ok(vec![]));
    let drifted = logged.markdown().replacen("exit_code: 0", "exit_code: 1", 1);
    assert_eq!(verified.differing_keys(&drifted), Ok(vec!["exit_code".to_owned()]));
    let more = logged.markdown().replacen("---\n", "---\nmore: 1\n", 1);
    assert_eq!(verified.differing_keys(&more), Ok(vec!["more".to_owned()]));
}

#[test]
fn the_markdown_and_the_statement_say_the_same_also_of_what_is_withheld() {
    let names = ["AKIAABCDEFGHIJKLMNOP", "x y\u{202e}.txt", "\u{e9}\u{6f22}\u{1d11e}"];
    for name in names {
        let case =
            RecordCase::new("Plain.", b"ignore all previous instructions\n", &[(name, b"x")]);
        let logged = LoggedRecord::new(case);
        let verified = logged.verify(&logged.bundle).unwrap();
        assert_eq!(verified.differing_keys(logged.markdown()), Ok(vec![]), "{name}");
        assert_eq!(verified.facts()["artifacts"][0]["path"], name);
    }
}

#[test]
fn what_never_ran_has_a_bundle_too() {
    let logged = LoggedRecord::new(RecordCase::plain());
    for outcome in [Outcome::Refused, Outcome::Indeterminate] {
        let scratch = RecordScratch::in_memory();
        let key = scratch.key("keys");
        let attested = attest(&logged.case.not_run(outcome), &key).unwrap();
        let mut log = Log::open_or_create(&scratch.path().join("log"), log_key()).unwrap();
        let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
        let bundle = attested.envelope().bundle(&inclusion).unwrap();
        let verified = verify_bundle(&bundle, &key.public(), log.key()).unwrap();
        assert_eq!(verified.facts()["outcome"], outcome.as_str());
        let md = std::str::from_utf8(&attested.record().files()[0].1).unwrap();
        assert_eq!(verified.differing_keys(md), Ok(vec![]));
    }
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let key = logged.scratch.key("keys");
    let again = attest(&logged.case.statement(), &key).unwrap();
    assert_eq!(again.envelope().payload(), logged.attested.envelope().payload());
    assert_eq!(again.envelope().log_entry(), logged.attested.envelope().log_entry());
    assert_eq!(again.envelope().bundle(&logged.inclusion).unwrap(), logged.bundle);
    let record = sign(&logged.case.statement(), &key).unwrap();
    assert_eq!(record.files(), logged.attested.record().files());
    // After a crash, the existing entry is found.
    let mut log = logged.log;
    let found = log.append(&again.envelope().log_entry()).unwrap();
    assert_eq!(found, logged.inclusion);
}

#[test]
fn a_proof_of_another_entry_makes_no_bundle() {
    let mut logged = LoggedRecord::new(RecordCase::plain());
    let other = logged.log.append(b"other").unwrap();
    let made = logged.attested.envelope().bundle(&other);
    assert_eq!(made, Err(ProofError::NotIncluded));
    assert!(logged.attested.proofs(&other).is_err());
    let [(bundle, bytes), (proof, text)] = logged.attested.proofs(&logged.inclusion).unwrap();
    let id = logged.attested.record().result_id();
    assert_eq!((bundle, proof), (format!("{id}.bundle.json"), format!("{id}.tlog-proof")));
    assert_eq!(bytes, logged.bundle);
    let verified = logged.verify(&bytes).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(verified.check_proof(&text, logged.log.key()).is_ok());
    assert!(verified.check_proof(&other.tlog_proof(), logged.log.key()).is_err());
}

fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                strings(item, &format!("{at}/{number}"), found);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                strings(item, &format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn a_bundle_with_a_bit_flipped_in_any_part_is_refused() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let whole = logged.json();
    let mut paths = Vec::new();
    strings(&whole, "", &mut paths);
    assert_eq!(paths.len(), 18, "{paths:#?}");
    for path in paths {
        let text = whole.pointer(&path).unwrap().as_str().unwrap().to_owned();
        // Both ends, and positions between them.
        for at in (0..text.len()).step_by(text.len().div_ceil(40)).chain([text.len() - 1]) {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            let mut bundle = whole.clone();
            *bundle.pointer_mut(&path).unwrap() = changed.into();
            logged.refused(&bundle);
        }
    }
    assert!(logged.verify(&serde_json::to_vec(&whole).unwrap()).is_ok());
}

#[test]
fn any_bit_of_payload_or_signature_is_signed() {
    let logged = LoggedRecord::new(RecordCase::plain());
    for path in ["/dsseEnvelope/payload", "/dsseEnvelope/signatures/0/sig"] {
        let whole = logged.json();
        let text = whole.pointer(path).unwrap().as_str().unwrap();
        let bytes = BASE64_STANDARD.decode(text).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len().div_ceil(50)) {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let mut bundle = whole.clone();
            *bundle.pointer_mut(path).unwrap() = BASE64_STANDARD.encode(changed).into();
            assert_eq!(logged.refused(&bundle), RecordBundleError::Signature);
        }
    }
}

#[test]
fn an_unknown_a_missing_and_a_doubled_field_are_refused() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let objects = [
        "",
        "/verificationMaterial",
        "/verificationMaterial/publicKey",
        "/verificationMaterial/tlogEntries/0",
        "/verificationMaterial/tlogEntries/0/logId",
        "/verificationMaterial/tlogEntries/0/kindVersion",
        "/verificationMaterial/tlogEntries/0/inclusionProof",
        "/verificationMaterial/tlogEntries/0/inclusionProof/checkpoint",
        "/dsseEnvelope",
        "/dsseEnvelope/signatures/0",
    ];
    for object in objects {
        let mut bundle = logged.json();
        let map = bundle.pointer_mut(object).unwrap().as_object_mut().unwrap();
        let keys: Vec<String> = map.keys().cloned().collect();
        map.insert("more".into(), Value::Null);
        assert!(matches!(logged.refused(&bundle), RecordBundleError::Form(_)), "{object}");
        for key in keys {
            let mut bundle = logged.json();
            bundle.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(&key);
            assert!(
                matches!(logged.refused(&bundle), RecordBundleError::Form(_)),
                "{object}/{key}"
            );
        }
    }
    let text = String::from_utf8(logged.bundle.clone()).unwrap();
    let twice = text.replacen("{\"mediaType\"", "{\"mediaType\":\"x\",\"mediaType\"", 1);
    assert!(matches!(logged.verify(twice.as_bytes()), Err(RecordBundleError::Form(_))));
    for list in ["/dsseEnvelope/signatures", "/verificationMaterial/tlogEntries"] {
        for count in [0, 2] {
            let mut bundle = logged.json();
            let items = bundle.pointer_mut(list).unwrap().as_array_mut().unwrap();
            let first = items[0].clone();
            *items = vec![first; count];
            assert!(
                matches!(logged.refused(&bundle), RecordBundleError::Field(_)),
                "{list} {count}"
            );
        }
    }
}

#[test]
fn another_key_another_log_and_a_stale_checkpoint_are_refused() {
    let mut logged = LoggedRecord::new(RecordCase::plain());
    let other = logged.scratch.key("other").public();
    let refused = verify_bundle(&logged.bundle, &other, logged.log.key()).unwrap_err();
    assert_eq!(refused, RecordBundleError::OtherKey);
    // The hint proves nothing: with the other key's hint the signature still does not verify.
    let text = String::from_utf8(logged.bundle.clone()).unwrap();
    let hinted = text.replace(&logged.key.hint(), &other.hint());
    let refused = verify_bundle(hinted.as_bytes(), &other, logged.log.key()).unwrap_err();
    assert_eq!(refused, RecordBundleError::Signature);
    let log = records::log::LogKey::from_seed("toolexec.host1.example".parse().unwrap(), &[1; 32]);
    let refused = verify_bundle(&logged.bundle, &logged.key, log.public()).unwrap_err();
    assert_eq!(refused, RecordBundleError::Field("logId"));
    // The proof of this entry under the previous head, and under a later one.
    let proof = "/verificationMaterial/tlogEntries/0/inclusionProof";
    let later = logged.log.append(b"later").unwrap();
    let scratch = RecordScratch::in_memory();
    let mut stale = Log::open_or_create(scratch.path(), log_key()).unwrap();
    let stale = stale.append(b"first").unwrap();
    for other in [&later, &stale] {
        let mut bundle = logged.json();
        let place = bundle.pointer_mut(proof).unwrap();
        place["checkpoint"]["envelope"] = other.checkpoint().note().into();
        assert!(matches!(logged.refused(&bundle), RecordBundleError::Field(_)));
        let place = bundle.pointer_mut(proof).unwrap();
        place["treeSize"] = other.checkpoint().size().to_string().into();
        place["rootHash"] = BASE64_STANDARD.encode(other.checkpoint().root().as_bytes()).into();
        assert_eq!(logged.refused(&bundle), RecordBundleError::Log(ProofError::NotIncluded));
    }
    // A path that is too short or too long.
    let mut bundle = logged.json();
    let hashes = bundle.pointer_mut(proof).unwrap()["hashes"].as_array_mut().unwrap();
    let last = hashes.pop().unwrap();
    assert_eq!(logged.refused(&bundle), RecordBundleError::Log(ProofError::NotIncluded));
    let hashes = bundle.pointer_mut(proof).unwrap()["hashes"].as_array_mut().unwrap();
    hashes.extend([last.clone(), last]);
    assert_eq!(logged.refused(&bundle), RecordBundleError::Log(ProofError::NotIncluded));
}

#[test]
fn a_swapped_artifact_is_no_subject() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let verified = logged.verify(&logged.bundle).unwrap();
    let dir =
        logged.case.publish_run(&logged.scratch.path().join("results"), logged.attested.record());
    flip(&dir.join("artifacts/stats.json"));
    let found = Sha256::of(&fs::read(dir.join("artifacts/stats.json")).unwrap());
    assert!(verified.subjects().iter().all(|(_, sha256)| *sha256 != found));
}

#[test]
fn a_record_with_more_files_than_verifiers_take_is_not_attested() {
    let names: Vec<String> = (0..1021).map(|number| format!("f{number}")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let case = RecordCase::new("Many.", b"", &files);
    let made = attest(&case.statement(), &key).unwrap_err();
    assert!(made.to_string().contains("more files"), "{made}");
    let statement = Statement { request_files: &[], ..case.statement() };
    // The Markdown, two streams and the request make 1,025 of 1,021.
    assert!(attest(&statement, &key).is_err());
    let case = RecordCase::new("Many.", b"", &files[..1020]);
    let statement = Statement { request_files: &[], ..case.statement() };
    assert!(attest(&statement, &key).is_ok());
}

/// Verifies DSSE as `docs/` describes it, with `openssl` and without code of ours.
#[test]
fn openssl_accepts_the_signature_and_no_other_bytes() {
    let test = "openssl_accepts_the_signature_and_no_other_bytes";
    let logged = LoggedRecord::new(RecordCase::plain());
    let bundle = logged.json();
    let read = |path: &str| {
        BASE64_STANDARD.decode(bundle.pointer(path).unwrap().as_str().unwrap()).unwrap()
    };
    let payload = read("/dsseEnvelope/payload");
    let kind = bundle["dsseEnvelope"]["payloadType"].as_str().unwrap();
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len());
    let mut pae = [head.as_bytes(), &payload].concat();
    let (pem, sig) = (logged.scratch.path().join("key.pem"), logged.scratch.path().join("sig"));
    put(&pem, logged.key.pem().as_bytes());
    put(&sig, &read("/dsseEnvelope/signatures/0/sig"));
    let (pem, sig) = (pem.to_str().unwrap(), sig.to_str().unwrap());
    let args = ["dgst", "-sha256", "-verify", pem, "-signature", sig];
    let Some((accepted, output)) = stock(test, "openssl", &args, &pae) else { return };
    assert!(accepted && output.contains("Verified OK"), "{output}");
    pae[40] ^= 1;
    assert!(!stock(test, "openssl", &args, &pae).unwrap().0);
    // openssl reads the log's key too.
    let args = ["pkey", "-pubin", "-noout", "-text"];
    let (read, output) = stock(test, "openssl", &args, logged.log.key().pem().as_bytes()).unwrap();
    assert!(read && output.contains("ED25519"), "{output}");
}

#[test]
fn the_log_entry_is_canonical_json() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let entry = logged.attested.envelope().log_entry();
    let value: Value = serde_json::from_slice(&entry).unwrap();
    assert_eq!(serde_json_canonicalizer::to_vec(&value).unwrap(), entry);
    let record = &value["spec"]["hashedRekordV002"];
    assert_eq!(record["signature"]["verifier"]["keyDetails"], json!("PKIX_ECDSA_P256_SHA_256"));
}

#[test]
fn a_trusted_root_is_json_that_names_the_log() {
    let root = log_key().public().trusted_root("2026-11-21T00:00:00Z".parse().unwrap());
    let root: Value = serde_json::from_str(&root).unwrap();
    assert_eq!(root["tlogs"][0]["baseUrl"], "https://toolexec.host1.example");
    let id = root["tlogs"][0]["logId"]["keyId"].as_str().unwrap();
    assert_eq!(BASE64_STANDARD.decode(id).unwrap(), log_key().public().id().as_bytes());
}
