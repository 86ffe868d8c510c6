//! Passkeys in decisions: an approval, a batch, a rejection and the name of a requester count only
//! for the domains, the origins and the demands of the policy.

use crate::scene;
use crate::soft;

use policies::{
    APPROVE_NAMESPACE, AllowedSigners, BATCH_NAMESPACE, BatchList, Decision, Policy,
    REJECT_NAMESPACE, REQUEST_NAMESPACE, SignatureFile,
};
use scene::{
    DecisionScene, accepts, approved, changed, codes, dropped, held, policy, refused, request,
    request_of, unapproved,
};
use soft::passkey::{BACKUP_ELIGIBLE, SoftPasskey};
use soft::{PRESENT, SoftKey, VERIFIED};

const ORIGIN: &str = "http://localhost:8000";
const OTHER_PORT: &str = "http://localhost:8001";

/// The entry of the policy.
const LISTED: &str = "{rp_id: localhost, origins: ['http://localhost:8000'], \
                      user_verification: false, synced: true}";

fn passkey() -> SoftPasskey {
    SoftPasskey::new(5, "localhost")
}

fn bob() -> SoftKey {
    SoftKey::p256(2)
}

fn with(entries: &str, more: &[(&str, &str)]) -> Policy {
    let key = format!("  user_verification: false\n  webauthn: [{entries}]\n");
    let all = [&[("  user_verification: false\n", key.as_str())][..], more].concat();
    policy("standard", &all)
}

fn listed() -> Policy {
    with(LISTED, &[])
}

/// Signs the request of the scene, or another text in its place.
fn signed(namespace: &str, origin: &str, flags: u8, message: &[u8]) -> SignatureFile {
    let mut asked = passkey().asked(namespace, message, origin);
    asked.flags = flags;
    passkey().sign(&asked)
}

fn decide(policy: &Policy, text: &str, signatures: Vec<SignatureFile>) -> Decision {
    let lines = format!("alice {}\nbob {}\n", passkey().public(), bob().public());
    let scene = DecisionScene {
        submission: dropped(),
        signers: Some(AllowedSigners::parse(&lines).expect("two lines")),
        signatures,
        ..DecisionScene::default()
    };
    scene.decide(request_of(text.as_bytes()), policy)
}

/// Decides about a request that only the passkey has approved.
fn approving(policy: &Policy, origin: &str, flags: u8) -> Decision {
    let text = scene::text(&[]);
    decide(policy, &text, vec![signed(APPROVE_NAMESPACE, origin, flags, text.as_bytes())])
}

#[test]
fn passkey_approves_if_the_policy_lists_its_origin() {
    let found = approved(approving(&listed(), ORIGIN, PRESENT | BACKUP_ELIGIBLE));
    assert_eq!(found.grant().approvals()[0].0, "alice");
    let [(fingerprint, touch)] = found.grant().touches() else { panic!("one touch") };
    assert_eq!(*fingerprint, found.grant().approvals()[0].1);
    let facts = touch.webauthn().unwrap();
    assert_eq!((facts.rp_id(), facts.origin()), ("localhost", ORIGIN));
    assert!(facts.backup_eligible() && !facts.backed_up() && !touch.user_verified());
}

#[test]
fn each_demand_of_the_policy_is_enforced() {
    let other_domain = "{rp_id: approve.example, origins: ['https://approve.example'], \
                        user_verification: false, synced: true}";
    let verifying = LISTED.replace("user_verification: false", "user_verification: true");
    let bound = LISTED.replace("synced: true", "synced: false");
    let none = scene::shipped("standard");
    let everywhere =
        with(LISTED, &[("  user_verification: false\n", "  user_verification: true\n")]);
    for (policy, origin, flags, reason) in [
        (&none, ORIGIN, PRESENT | VERIFIED, "this policy accepts no passkeys (approval.webauthn)"),
        (&with("", &[]), ORIGIN, PRESENT, "this policy accepts no passkeys (approval.webauthn)"),
        (
            &with(other_domain, &[]),
            ORIGIN,
            PRESENT,
            "approval.webauthn does not list its domain `localhost`",
        ),
        (
            &listed(),
            OTHER_PORT,
            PRESENT,
            "does not list the origin `http://localhost:8001` for `localhost`",
        ),
        (&with(&bound, &[]), ORIGIN, PRESENT | BACKUP_ELIGIBLE, "has synced: false"),
        (
            &with(&verifying, &[]),
            ORIGIN,
            PRESENT,
            "by PIN or fingerprint (signature 0), but approval.webauthn has user_verification: true \
             for `localhost`",
        ),
        (&everywhere, ORIGIN, PRESENT, "but approval.user_verification is true"),
        (&listed(), ORIGIN, VERIFIED, "signed without a touch"),
    ] {
        let (violations, _) = unapproved(approving(policy, origin, flags));
        assert_eq!(codes(&violations), ["approval.signature", "approval.count"], "{reason}");
        assert!(violations[0].message.contains(reason), "{reason}: {}", violations[0].message);
    }
    for policy in [&with(&verifying, &[]), &everywhere, &with(&bound, &[])] {
        accepts(approving(policy, ORIGIN, PRESENT | VERIFIED));
    }
    let (violations, _) = unapproved(approving(&none, ORIGIN, PRESENT));
    let hint = violations[0].hint.as_deref().unwrap_or_default();
    assert!(hint.contains("in approval.webauthn of the policy"), "{hint}");
}

/// A request waits only for signatures that people of the trust store can make and that count.
#[test]
fn a_passkey_that_cannot_count_is_not_awaited() {
    let text = scene::text(&[]);
    drop(held(decide(&listed(), &text, Vec::new())));
    drop(refused(decide(&scene::shipped("standard"), &text, Vec::new())));
}

#[test]
fn a_rejection_by_a_passkey_counts_as_its_approval_would() {
    let text = scene::text(&[("approved_by: \"alice\"", "approved_by: \"bob\"")]);
    let rejected = |policy: &Policy, origin: &str| {
        let rejection = signed(REJECT_NAMESPACE, origin, PRESENT, text.as_bytes());
        decide(policy, &text, vec![bob().sign(APPROVE_NAMESPACE, text.as_bytes()), rejection])
    };
    assert_eq!(codes(&refused(rejected(&listed(), ORIGIN)).0), ["approval.rejected"]);
    // As with other keys, a rejection needs only a touch.
    let verifying = LISTED.replace("user_verification: false", "user_verification: true");
    let verifying = with(&verifying, &[]);
    assert_eq!(codes(&refused(rejected(&verifying, ORIGIN)).0), ["approval.rejected"]);
    accepts(rejected(&listed(), OTHER_PORT));
    accepts(rejected(&scene::shipped("standard"), ORIGIN));
}

#[test]
fn a_batch_by_a_passkey_counts_as_its_approval_would() {
    let parsed = request(&[]);
    let list = BatchList::new(vec![(parsed.sha256(), parsed.id().clone())]).unwrap().text();
    let batch = |policy: &Policy, origin: &str| {
        let mut file = signed(BATCH_NAMESPACE, origin, PRESENT, list.as_bytes());
        file.bytes.extend(list.bytes());
        decide(policy, &scene::text(&[]), vec![file])
    };
    accepts(batch(&listed(), ORIGIN));
    for decision in [batch(&listed(), OTHER_PORT), batch(&scene::shipped("standard"), ORIGIN)] {
        assert_eq!(codes(&unapproved(decision).0), ["approval.signature", "approval.count"]);
    }
}

#[test]
fn a_requester_named_by_a_passkey_counts_as_its_approval_would() {
    let text = scene::text(&[]);
    let decided = |policy: &Policy| {
        let approval = signed(APPROVE_NAMESPACE, ORIGIN, PRESENT, text.as_bytes());
        let request = signed(REQUEST_NAMESPACE, OTHER_PORT, PRESENT, text.as_bytes());
        decide(policy, &text, vec![approval, request])
    };
    // The request was signed on a page that the policy does not list, or lists.
    accepts(decided(&listed()));
    let both = LISTED.replace("8000'", "8000', 'http://localhost:8001'");
    let (violations, _) = unapproved(decided(&with(&both, &[])));
    assert_eq!(codes(&violations), ["approval.self", "approval.count"]);
}

/// The entry of `docs/keys.md` is one that a policy can have.
#[test]
fn the_entry_in_the_documentation_is_accepted() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/keys.md"));
    let page = page.unwrap();
    let (_, block) = page.split_once("```text\napproval:\n").unwrap();
    let (entry, _) = block.split_once("```").unwrap();
    let key = format!("  user_verification: false\n{entry}");
    drop(policy("standard", &[("  user_verification: false\n", key.as_str())]));
}

#[test]
fn a_wrong_entry_of_the_policy_is_refused_with_advice() {
    let origins = |origins: &str| LISTED.replace("['http://localhost:8000']", origins);
    let rp_id = |rp_id: &str| LISTED.replace("localhost,", &format!("{rp_id},"));
    for (entry, expected) in [
        (rp_id("Localhost"), "`Localhost` is not a domain in lower case; help: write the domain"),
        (rp_id("'localhost:8000'"), "`localhost:8000` is not a domain"),
        (rp_id("127.0.0.1"), "`127.0.0.1` is not a domain"),
        (rp_id("example.org"), "`http://localhost:8000` cannot use passkeys of `example.org`"),
        (origins("[]"), "`localhost` has 0 origins, not 1 to 16"),
        (origins("['http://localhost:8000/']"), "is not an origin as browsers write it; help:"),
        (origins("['http://localhost', 'http://localhost']"), "`http://localhost` appears twice"),
        (origins("['https://a.localhost']"), "cannot use passkeys of `localhost`"),
        (format!("{LISTED}, {LISTED}"), "`localhost` appears twice; help: list its origins"),
        (LISTED.replace(", synced: true", ""), "synced"),
        (LISTED.replace("synced: true", "synced: true, more: 1"), "unknown key"),
        (vec![LISTED; 17].join(", "), "more than 16 domains; help: list fewer"),
    ] {
        let key = format!("  user_verification: false\n  webauthn: [{entry}]\n");
        let text = changed("standard", &[("  user_verification: false\n", key.as_str())]);
        let error = Policy::parse(text.as_bytes(), "test.yaml").expect_err(&entry).to_string();
        assert!(error.contains(expected), "{entry}: {error}");
    }
    for none in ["[]", "null"] {
        let key = format!("  user_verification: false\n  webauthn: {none}\n");
        drop(policy("standard", &[("  user_verification: false\n", key.as_str())]));
    }
}
