//! Fuzzes every AIS parser with arbitrary bytes. No parser may panic, canonical bytes must stay
//! canonical, and a bundle must not be accepted under an empty trust store.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::UtcTime;
use policies::ais::{
    AisBundle, AisRules, AisTrustStore, EnvironmentDigests, GuardInput, SigningKey, canonical,
    judge, read_document,
};

const EMPTY_TRUST: &[u8] = b"{\"version\":1,\"principals\":{},\"keys\":[]}";

fuzz_target!(|bytes: &[u8]| {
    let now = UtcTime::from_unix(1_780_000_000);
    if let Ok(value) = read_document(bytes) {
        let once = canonical(&value);
        // Integers beyond 2^53 may be written with an exponent and parsed to a value without one.
        if let Ok(again) = read_document(&once) {
            assert_eq!(canonical(&again), once);
        }
    }
    drop(AisRules::read(bytes));
    drop(AisTrustStore::read(bytes));
    drop(SigningKey::from_private(&String::from_utf8_lossy(bytes)));
    let (Ok(bundle), Ok(trust)) = (AisBundle::read(bytes), AisTrustStore::read(EMPTY_TRUST)) else {
        return;
    };
    let judgement = judge(&GuardInput {
        bundle: &bundle,
        trust: &trust,
        rules: &AisRules::default(),
        request: None,
        supply: &EnvironmentDigests::default(),
        now,
        nonce_used: &|_| unreachable!("a nonce was asked about without a signature"),
    });
    assert!(judgement.refusal().is_some());
});
