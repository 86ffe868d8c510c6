//! Fuzzes the reader of SSH signatures with those of passkeys, and the check of statements that a
//! passkey has signed. They must never panic. A signature that verifies must be for the request,
//! and by other readers its statement must be the one that was checked.

#![no_main]

use fuzz::passkey::{MESSAGE, ORIGIN, RP_ID, armour, signed_statement};
use libfuzzer_sys::fuzz_target;
use policies::{APPROVE_NAMESPACE, SIGNATURE_BYTES_MAX, SshSignature, VerifiedSshSignature};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| match bytes {
    // An armour, the bytes inside one, or the flags and the end of a statement.
    [b'-', ..] => read(bytes),
    [b'S', ..] => read(&armour(bytes)),
    [flags, end @ ..] => check_statement(*flags, end),
    [] => {}
});

fn read(armoured: &[u8]) {
    let Ok(signature) = SshSignature::parse(armoured) else { return };
    // A passkey counts only for callers that judge its statement.
    let is_passkey = signature.key().rp_id().is_some();
    assert!(!is_passkey || signature.clone().verify(MESSAGE).is_err());
    if let Ok(verified) = signature.verify_with_passkeys(MESSAGE) {
        assert_eq!(verified.webauthn().is_some(), is_passkey);
        assert_verified(&verified);
    }
}

fn check_statement(flags: u8, end: &[u8]) {
    let (client_data, armoured) = signed_statement(flags, end);
    let Ok(signature) = SshSignature::parse(&armoured) else {
        return assert!(armoured.len() > SIGNATURE_BYTES_MAX);
    };
    let Ok(verified) = signature.verify_with_passkeys(MESSAGE) else { return };
    assert_verified(&verified);
    assert!(verified.webauthn().is_some() && flags & 1 == 1);
    let members: Value = serde_json::from_slice(&client_data).expect("it is JSON for others");
    assert_eq!(members["type"], "webauthn.get");
    assert_eq!(members["origin"], ORIGIN);
    assert!(matches!(members.get("crossOrigin"), None | Some(Value::Bool(false))));
    assert!(members.get("topOrigin").is_none());
}

/// The fuzzer has no key: a signature that verifies is of the corpus or of `signed_statement`.
fn assert_verified(verified: &VerifiedSshSignature) {
    assert_eq!(verified.namespace(), APPROVE_NAMESPACE);
    if let Some(facts) = verified.webauthn() {
        assert_eq!((facts.rp_id(), facts.origin()), (RP_ID, ORIGIN));
        assert!(facts.backup_eligible() || !facts.backed_up());
    }
}
