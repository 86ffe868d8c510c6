//! A passkey or a security key delivers an action only as the policy allows. An order needs a
//! verified user if an approval does.

use std::slice::from_ref;

use policies::{AllowedSigners, Policy, SignedAction, SignedActionKind, SignedActionTerms};

use super::{ActionCheckScene, STANDING, approval, document, draft, order, signers, terms};
use crate::scene::{self, ID, NOW};
use crate::soft::passkey::{BACKUP_ELIGIBLE, SoftPasskey};
use crate::soft::{PRESENT, SoftKey, VERIFIED};

const ORIGIN: &str = "http://localhost:8000";
const OTHER_PORT: &str = "http://localhost:8001";
const LISTED: &str = "{rp_id: localhost, origins: ['http://localhost:8000'], \
                      user_verification: false, synced: false}";
fn orders() -> impl Iterator<Item = SignedActionKind> {
    SignedActionKind::ALL.iter().copied().filter(|kind| kind.is_order())
}

fn passkey() -> SoftPasskey {
    SoftPasskey::new(5, "localhost")
}

fn trusted() -> AllowedSigners {
    signers(&format!("alice {}\n", passkey().public()))
}

fn with(entries: &str, more: &[(&str, &str)]) -> Policy {
    let key = format!("  user_verification: false\n  webauthn: [{entries}]\n");
    let all = [&[("  user_verification: false\n", key.as_str())][..], more].concat();
    scene::policy("standard", &all)
}

/// Returns the listed passkeys with two ways to demand a verified user.
fn demanding() -> [Policy; 2] {
    let entry = LISTED.replace("user_verification: false", "user_verification: true");
    let everywhere = ("  user_verification: false\n", "  user_verification: true\n");
    [with(&entry, &[]), with(LISTED, &[everywhere])]
}

/// Signs an action about these bytes on a page of this origin.
fn asked(terms: &SignedActionTerms, drafts: &[Vec<u8>], origin: &str, flags: u8) -> SignedAction {
    let named = terms.documents().iter().zip(drafts);
    let filled = named.map(|(named, draft)| terms.signed_document(&named.target, draft));
    let filled: Vec<Vec<u8>> = filled.map(|it| it.expect("a draft")).collect();
    let message = terms.message(&filled).expect("a message");
    let mut asked = passkey().asked(terms.namespace(), &message, origin);
    asked.flags = flags;
    compose(terms, passkey().sign(&asked).bytes)
}

fn compose(terms: &SignedActionTerms, signature: Vec<u8>) -> SignedAction {
    let signature = String::from_utf8(signature).expect("an armour");
    SignedAction::compose(terms.clone(), &signature).expect("a signed action")
}

fn host(policy: Policy) -> ActionCheckScene {
    ActionCheckScene { policy, signers: Some(trusted()), ..ActionCheckScene::new() }
}

#[test]
fn an_action_by_a_passkey_counts_only_for_a_listed_page() {
    let one = draft(ID);
    let rejected = terms(SignedActionKind::Reject, None, None, vec![document(&one, ID)]);
    let approved = approval("alice", vec![document(&one, ID)]);
    let mut cases = vec![(approved, vec![one.clone()]), (rejected, vec![one])];
    cases.extend(orders().map(|kind| (order(kind, NOW), Vec::new())));
    for (terms, drafts) in cases {
        let kind = terms.kind().as_str();
        let good = asked(&terms, &drafts, ORIGIN, PRESENT);
        host(with(LISTED, &[])).count(&good, &drafts).map(drop).expect(kind);
        host(scene::shipped("standard")).refuses(&good, &drafts, "accepts no passkeys");
        let foreign = asked(&terms, &drafts, OTHER_PORT, PRESENT | VERIFIED);
        host(with(LISTED, &[])).refuses(&foreign, &drafts, "does not list the origin");
        let synced = asked(&terms, &drafts, ORIGIN, PRESENT | BACKUP_ELIGIBLE);
        host(with(LISTED, &[])).refuses(&synced, &drafts, "has synced: false");
        let untouched = asked(&terms, &drafts, ORIGIN, VERIFIED);
        host(with(LISTED, &[])).refuses(&untouched, &drafts, "without a touch");
    }
}

/// Another page of the policy's domain must not be able to revoke either.
#[test]
fn a_revocation_by_an_unlisted_page_does_not_count() {
    let bytes = b"any".to_vec();
    let terms = terms(SignedActionKind::Revoke, None, None, vec![document(&bytes, STANDING)]);
    let action = asked(&terms, from_ref(&bytes), OTHER_PORT, PRESENT);
    host(with(LISTED, &[])).refuses(&action, &[bytes], "does not list the origin");
}

#[test]
fn an_order_needs_a_verified_user_if_an_approval_does() {
    for kind in orders() {
        for policy in demanding() {
            let touched = asked(&order(kind, NOW), &[], ORIGIN, PRESENT);
            let host = host(policy);
            host.refuses(&touched, &[], "did not verify its user by PIN or fingerprint");
            let verified = asked(&order(kind, NOW), &[], ORIGIN, PRESENT | VERIFIED);
            host.count(&verified, &[]).map(drop).unwrap_or_else(|why| panic!("{kind:?}: {why}"));
        }
    }
    let one = draft(ID);
    let reject = terms(SignedActionKind::Reject, None, None, vec![document(&one, ID)]);
    let approve = approval("alice", vec![document(&one, ID)]);
    for policy in demanding() {
        let host = host(policy);
        let touched = asked(&approve, from_ref(&one), ORIGIN, PRESENT);
        host.refuses(&touched, from_ref(&one), "did not verify its user by PIN or fingerprint");
        // As with other files, a rejection needs only a touch.
        let touched = asked(&reject, from_ref(&one), ORIGIN, PRESENT);
        host.count(&touched, from_ref(&one)).map(drop).expect("it counts");
    }
}

/// The demand holds for security keys of SSH too.
#[test]
fn an_order_of_a_security_key_needs_a_verified_user_if_the_policy_says_so() {
    let key = |flags| SoftKey::ed25519(7).in_security_key("ssh:", flags, 1);
    let signers = signers(&format!("alice {}\n", key(PRESENT).public()));
    let demand = [("  user_verification: false\n", "  user_verification: true\n")];
    let policy = scene::policy("standard", &demand);
    let host = ActionCheckScene { policy, signers: Some(signers), ..ActionCheckScene::new() };
    let release = order(SignedActionKind::Release, NOW);
    let message = release.message::<Vec<u8>>(&[]).expect("a message");
    let signed = |flags| compose(&release, key(flags).sign(release.namespace(), &message).bytes);
    host.refuses(&signed(PRESENT), &[], "security key");
    host.count(&signed(PRESENT | VERIFIED), &[]).map(drop).expect("it counts");
}
