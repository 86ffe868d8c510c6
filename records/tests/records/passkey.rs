//! Approvals by passkeys in records: the statement of the browser is in `touch`, and a record whose
//! statement is not that of the signature does not verify. The signature is written out here from
//! the protocols.

use std::fs;

use base64::prelude::*;
use model::Sha256;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use policies::{
    APPROVE_NAMESPACE, AllowedSigners, REJECT_NAMESPACE, SignerKey, SshSignature, Touch,
};
use records::{ApprovalProblem, Trust, VerifyError, attest, predicate_schema, verify};
use serde_json::{Value, json};

use crate::fixture::{REQUEST_ID, RecordCase, RecordScratch};

const ORIGIN: &str = "http://localhost:8000";
const KEY_TYPE: &[u8] = b"sk-ecdsa-sha2-nistp256@openssh.com";
const SIGNATURE_TYPE: &[u8] = b"webauthn-sk-ecdsa-sha2-nistp256@openssh.com";
/// Touched, verified, and a passkey that may be copied.
const FLAGS: u8 = 0x0d;

fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("short");
    [&length.to_be_bytes()[..], bytes].concat()
}

fn mpint(bytes: &[u8]) -> Vec<u8> {
    let from = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let bytes = &bytes[from..];
    let sign: &[u8] = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { &[0] } else { &[] };
    string(&[sign, bytes].concat())
}

fn secret() -> SigningKey {
    SigningKey::from_slice(&[5; 32]).expect("a scalar")
}

fn public() -> Vec<u8> {
    let point = secret().verifying_key().to_encoded_point(false);
    let parts = [KEY_TYPE, b"nistp256", point.as_bytes(), b"localhost"];
    parts.iter().flat_map(|part| string(part)).collect()
}

fn line() -> String {
    format!("sk-ecdsa-sha2-nistp256@openssh.com {}", BASE64_STANDARD.encode(public()))
}

fn fingerprint() -> String {
    SignerKey::from_blob(&public()).expect("a key").fingerprint()
}

/// Returns the armoured signature that a page of this origin gets.
fn signature(
    namespace: &str,
    message: &[u8],
    (origin, flags, counter): (&str, u8, u32),
) -> Vec<u8> {
    let digest = Sha256::of(message);
    let common = [string(namespace.as_bytes()), string(b""), string(b"sha256")].concat();
    let challenge = [b"SSHSIG", &common[..], &string(digest.as_bytes())].concat();
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(challenge);
    let client = format!(
        "{{\"type\":\"webauthn.get\",\"challenge\":\"{challenge}\",\"origin\":\"{origin}\"}}"
    );
    let device = [&[flags][..], &counter.to_be_bytes()].concat();
    let signed = [
        &Sha256::of(b"localhost").as_bytes()[..],
        &device,
        Sha256::of(client.as_bytes()).as_bytes(),
    ]
    .concat();
    let made: Signature = secret().sign(&signed);
    let (r, s) = made.split_bytes();
    let numbers = [mpint(r.as_slice()), mpint(s.as_slice())].concat();
    let seal = [
        string(SIGNATURE_TYPE),
        string(&numbers),
        device,
        string(origin.as_bytes()),
        string(client.as_bytes()),
        string(b""),
    ]
    .concat();
    let blob = [b"SSHSIG\0\0\0\x01".to_vec(), string(&public()), common, string(&seal)].concat();
    let text = BASE64_STANDARD.encode(blob);
    format!("-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----\n").into_bytes()
}

fn touch_of(signature: &[u8], message: &[u8]) -> Touch {
    let signature = SshSignature::parse(signature).expect("a signature");
    let verified = signature.verify_with_passkeys(message).expect("it verifies");
    verified.touch().expect("a touch").clone()
}

/// Returns a record with this approval, which states these touches.
fn case(signature: Vec<u8>, touches: Vec<(String, Touch)>) -> RecordCase {
    let approvals = vec![("alice".to_owned(), fingerprint())];
    let files = vec![(format!("{REQUEST_ID}.md.alice.sig"), signature)];
    RecordCase::plain().approved(approvals, files).touched(touches)
}

fn verified(case: &RecordCase) -> Result<usize, Vec<VerifyError>> {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let root = scratch.path().join("results");
    fs::create_dir_all(&root).expect("a directory");
    let dir = case.publish(&root, &key);
    let signers = AllowedSigners::parse(&format!("alice {}\n", line())).expect("a line");
    let known = Trust::from_key(&key.public()).with_approvers(signers);
    verify(&dir, &known).map(|verified| verified.approvals_checked())
}

#[test]
fn a_record_states_the_passkey_that_approved_and_verifies_offline() {
    let request = RecordCase::plain().request;
    let made = signature(APPROVE_NAMESPACE, request.bytes(), (ORIGIN, FLAGS, 0));
    let touch = touch_of(&made, request.bytes());
    let case = case(made, vec![(fingerprint(), touch)]);
    assert_eq!(verified(&case), Ok(1));
    let scratch = RecordScratch::in_memory();
    let attested = attest(&case.statement(), &scratch.key("keys")).unwrap();
    let statement: Value = serde_json::from_slice(attested.envelope().payload()).unwrap();
    let stated = &statement["predicate"]["approvals"][0]["touch"];
    let webauthn = json!({
        "rp_id": "localhost", "origin": ORIGIN, "backup_eligible": true, "backed_up": false,
    });
    assert_eq!(*stated, json!({"user_verified": true, "counter": 0, "webauthn": webauthn}));
    let schema = jsonschema::draft202012::new(&predicate_schema()).unwrap();
    assert!(schema.is_valid(&statement["predicate"]));
}

#[test]
fn a_record_with_another_statement_than_the_signature_does_not_verify() {
    let request = RecordCase::plain().request;
    let made = |asked| signature(APPROVE_NAMESPACE, request.bytes(), asked);
    let good = || made((ORIGIN, FLAGS, 0));
    for other in [
        Some(("http://localhost:8001", FLAGS, 0)),
        Some((ORIGIN, 0x01, 0)),
        Some((ORIGIN, 0x1d, 0)),
        Some((ORIGIN, FLAGS, 1)),
        None,
    ] {
        let touches = other.map(|asked| (fingerprint(), touch_of(&made(asked), request.bytes())));
        let faults = verified(&case(good(), touches.into_iter().collect())).unwrap_err();
        let [VerifyError::Approval { problem: ApprovalProblem::Passkey, .. }] = &faults[..] else {
            panic!("{other:?}: {faults:?}");
        };
    }
}

#[test]
fn a_rejection_by_a_passkey_is_found() {
    let request = RecordCase::plain().request;
    let made = signature(APPROVE_NAMESPACE, request.bytes(), (ORIGIN, FLAGS, 0));
    let rejection = signature(REJECT_NAMESPACE, request.bytes(), (ORIGIN, FLAGS, 0));
    let touch = touch_of(&made, request.bytes());
    let files = vec![
        (format!("{REQUEST_ID}.md.alice.sig"), made),
        (format!("{REQUEST_ID}.md.reject.sig"), rejection),
    ];
    let approvals = vec![("alice".to_owned(), fingerprint())];
    let case = RecordCase::plain().approved(approvals, files);
    let faults = verified(&case.touched(vec![(fingerprint(), touch)])).unwrap_err();
    let [VerifyError::Approval { problem: ApprovalProblem::Rejected, .. }] = &faults[..] else {
        panic!("{faults:?}");
    };
}
