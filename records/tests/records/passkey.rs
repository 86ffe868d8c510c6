//! Approvals by passkeys in records: the statement of the browser is in `touch`, and a record whose
//! statement is not that of the signature does not verify.

use std::fs;

use policies::{
    APPROVE_NAMESPACE, AllowedSigners, REJECT_NAMESPACE, SignerKey, SshSignature, Touch,
};
use records::{ApprovalProblem, Trust, VerifyError, attest, predicate_schema, verify};
use serde_json::{Value, json};

use crate::fixture::{REQUEST_ID, RecordCase, RecordScratch};
use crate::soft::passkey::{BACKED_UP, BACKUP_ELIGIBLE, SoftPasskey};
use crate::soft::{PRESENT, VERIFIED};

const ORIGIN: &str = "http://localhost:8000";
/// Touched, verified, and a passkey that may be copied.
const FLAGS: u8 = PRESENT | VERIFIED | BACKUP_ELIGIBLE;

fn passkey() -> SoftPasskey {
    SoftPasskey::new(5, "localhost")
}

fn fingerprint() -> String {
    SignerKey::from_blob(&passkey().blob()).expect("a key").fingerprint()
}

/// Returns the armoured signature that a page of this origin gets.
fn signature(
    namespace: &str,
    message: &[u8],
    (origin, flags, counter): (&str, u8, u32),
) -> Vec<u8> {
    let key = passkey();
    let mut asked = key.asked(namespace, message, origin);
    (asked.flags, asked.counter) = (flags, counter);
    key.sign(&asked).bytes
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
    let signers =
        AllowedSigners::parse(&format!("alice {}\n", passkey().public())).expect("a line");
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
        Some((ORIGIN, PRESENT, 0)),
        Some((ORIGIN, FLAGS | BACKED_UP, 0)),
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
