//! A differential test of passkeys with stock OpenSSH. Both judge one good signature and each
//! changed one. We must never accept what OpenSSH refuses; each one that only we refuse is listed
//! with our reason.

mod changes;

use crate::oracle;
use crate::soft;

use changes::{AssertionChange, GOOD, MESSAGE, NAMESPACE, ORIGIN, REFUSED, STRICTER, TOUCHED};
use oracle::{KeygenOracle, OracleQuestion};
use policies::{AllowedSigners, SignatureError, SshSignature, VerifiedSshSignature};
use proptest::prelude::*;
use proptest::sample::Index;
use soft::passkey::{BACKUP_ELIGIBLE, SoftPasskey};
use soft::{PRESENT, SoftKey, armour};

const RP_ID: &str = "localhost";

fn passkey() -> SoftPasskey {
    SoftPasskey::new(5, RP_ID)
}

fn ours(armoured: &[u8]) -> Result<VerifiedSshSignature, SignatureError> {
    SshSignature::parse(armoured).and_then(|it| it.verify_with_passkeys(MESSAGE))
}

fn stock(oracle: &KeygenOracle, public: &str, armoured: &[u8]) -> bool {
    let signers = format!("alice {public}\n");
    oracle.verifies(&OracleQuestion::of_alice(&signers, armoured, MESSAGE))
}

#[test]
fn we_accept_no_passkey_that_openssh_refuses() {
    let oracle = KeygenOracle::open("we_accept_no_passkey_that_openssh_refuses");
    let key = passkey();
    let judged = |name: &str, change: AssertionChange, stock_accepts: bool| {
        let mut asked = key.asked(NAMESPACE, MESSAGE, ORIGIN);
        change(&mut asked);
        let armoured = armour(&key.signature(&asked));
        if let Some(oracle) = &oracle {
            assert_eq!(stock(oracle, &key.public(), &armoured), stock_accepts, "{name}");
        }
        ours(&armoured)
    };
    for &(name, change) in GOOD {
        assert!(judged(name, change, true).is_ok(), "{name}");
    }
    for &(name, change) in REFUSED {
        assert!(judged(name, change, false).is_err(), "{name}");
    }
    for &(name, change, reason) in STRICTER {
        let error = judged(name, change, true).expect_err(name).to_string();
        assert!(error.contains(reason), "{name}: {error}");
    }
}

#[test]
fn a_key_signs_as_what_it_was_made_for() {
    let oracle = KeygenOracle::open("a_key_signs_as_what_it_was_made_for");
    let plain = SoftKey::p256(4).in_security_key(RP_ID, TOUCHED, 8);
    let plain_signature = armour(&plain.signature(NAMESPACE, MESSAGE));
    let of_ssh = SoftPasskey::new(5, "ssh:");
    let capitals = SoftPasskey::new(5, "Local.Host");
    let by_browser = |key: &SoftPasskey| {
        (key.public(), armour(&key.signature(&key.asked(NAMESPACE, MESSAGE, ORIGIN))))
    };
    let mismatch = "the signature type does not match its key";
    let other = "made for `Local.Host`, not for SSH";
    for ((public, armoured), reason) in [
        ((plain.public(), plain_signature), mismatch),
        (by_browser(&of_ssh), mismatch),
        (by_browser(&capitals), other),
    ] {
        let accepted = oracle.as_ref().map(|oracle| stock(oracle, &public, &armoured));
        assert_ne!(accepted, Some(false), "{public}");
        let error = SshSignature::parse(&armoured).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    // Another key of the same domain.
    let (other, asked) = (SoftPasskey::new(6, RP_ID), passkey().asked(NAMESPACE, MESSAGE, ORIGIN));
    let (blob, forged) = (passkey().signature(&asked), other.signature(&asked));
    let signers = AllowedSigners::parse(&format!("alice {}\n", passkey().public())).unwrap();
    let at = oracle::time("2026-02-09T16:00:00Z");
    let entitled = |blob: &[u8]| signers.entitles(&ours(&armour(blob)).unwrap(), "alice", at);
    assert_eq!(entitled(&blob), Ok(()));
    assert_eq!(entitled(&forged), Err(policies::EntitlementError::Unknown));
}

#[test]
fn a_passkey_counts_only_for_callers_that_judge_its_statement() {
    let key = passkey();
    let mut asked = key.asked(NAMESPACE, MESSAGE, ORIGIN);
    asked.flags = TOUCHED | BACKUP_ELIGIBLE;
    asked.counter = 7;
    let armoured = armour(&key.signature(&asked));
    let error = SshSignature::parse(&armoured).unwrap().verify(MESSAGE).unwrap_err();
    assert!(matches!(error, SignatureError::Passkey { .. }), "{error}");
    let verified = ours(&armoured).unwrap();
    let touch = verified.touch().unwrap();
    assert_eq!((touch.counter(), touch.user_verified()), (7, true));
    let facts = verified.webauthn().unwrap();
    assert_eq!((facts.rp_id(), facts.origin()), (RP_ID, ORIGIN));
    assert_eq!((facts.backup_eligible(), facts.backed_up()), (true, false));
    assert_eq!(verified.key().rp_id(), Some(RP_ID));
    let plain = SoftKey::p256(4).in_security_key("ssh:", PRESENT, 8).sign(NAMESPACE, MESSAGE);
    assert!(ours(&plain.bytes).unwrap().webauthn().is_none());
}

/// Damaged bytes, and damaged text that the passkey has signed: OpenSSH must accept what we accept.
#[test]
fn damaged_passkey_signatures_are_accepted_by_both_or_refused_by_us() {
    let Some(oracle) =
        KeygenOracle::open("damaged_passkey_signatures_are_accepted_by_both_or_refused_by_us")
    else {
        return;
    };
    let key = passkey();
    let good = key.signature(&key.asked(NAMESPACE, MESSAGE, ORIGIN));
    let agree = |blob: &[u8]| {
        let armoured = armour(blob);
        ours(&armoured).is_err() || stock(&oracle, &key.public(), &armoured)
    };
    let config = || ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config(), |(flips in prop::collection::vec((any::<Index>(), 0..8_u32), 1..4))| {
        let mut blob = good.clone();
        for (at, bit) in &flips {
            blob[at.index(good.len())] ^= 1_u8 << *bit;
        }
        prop_assert!(agree(&blob), "{:02x?}", blob);
    });
    let bytes = || prop::collection::vec(any::<u8>(), 0..4);
    proptest!(config(), |(at in any::<Index>(), bytes in bytes())| {
        let mut asked = key.asked(NAMESPACE, MESSAGE, ORIGIN);
        let at = at.index(asked.client_data.len());
        drop(asked.client_data.splice(at..at, bytes.iter().copied()));
        let shown = String::from_utf8_lossy(&asked.client_data);
        prop_assert!(agree(&key.signature(&asked)), "{:?}", shown);
    });
}
