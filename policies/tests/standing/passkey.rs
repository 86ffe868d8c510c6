//! A passkey's signature of a standing approval counts only for an origin that the policy lists: at
//! the admission, and as a rejection that revokes.

use model::HostAudience;
use policies::{
    AdmissionEvidence, AllowedSigners, Policy, REJECT_NAMESPACE, STANDING_NAMESPACE, SignatureFile,
    admission_violations, counts_for_standing, rejected_by,
};

use super::scene::{StandingCase, at};
use crate::scene::{codes, policy, shipped};
use crate::soft::PRESENT;
use crate::soft::passkey::SoftPasskey;

const LISTED: &str = "  user_verification: false\n  webauthn:\n    - rp_id: localhost\n      origins: \
                      ['http://localhost:8000']\n      user_verification: false\n      synced: false\n";

#[test]
fn a_passkey_counts_for_a_standing_approval_by_the_policy() {
    let standing = StandingCase::means().parse();
    let passkey = SoftPasskey::new(5, "localhost");
    let signers = AllowedSigners::parse(&format!("alice {}\n", passkey.public())).unwrap();
    let now = at("2026-02-10T00:00:00Z");
    let signed = |namespace: &str, origin: &str| -> SignatureFile {
        let mut asked = passkey.asked(namespace, standing.bytes(), origin);
        asked.flags = PRESENT;
        passkey.sign(&asked)
    };
    let listed = policy("standard", &[("  user_verification: false\n", LISTED)]);
    let none = shipped("standard");
    for (policy, origin, counts) in [
        (&listed, "http://localhost:8000", true),
        (&listed, "http://localhost:8001", false),
        (&none, "http://localhost:8000", false),
    ] {
        let voters = (&signers, policy);
        let approval = signed(STANDING_NAMESPACE, origin);
        assert_eq!(counts_for_standing(&standing, &approval, voters, now), counts, "{origin}");
        let found = violations(&standing, policy, &signers, &approval);
        let expected: &[&str] =
            if counts { &[] } else { &["approval.signature", "approval.count"] };
        assert_eq!(found, expected, "{origin}");
        let rejection = signed(REJECT_NAMESPACE, origin);
        let rejected = rejected_by(&standing, std::slice::from_ref(&rejection), voters, now);
        assert_eq!(rejected.is_some(), counts, "{origin}");
        assert_eq!(counts_for_standing(&standing, &rejection, voters, now), counts, "{origin}");
    }
}

fn violations(
    standing: &validator::StandingApproval,
    policy: &Policy,
    signers: &AllowedSigners,
    approval: &SignatureFile,
) -> Vec<String> {
    let evidence = AdmissionEvidence {
        signatures: std::slice::from_ref(approval),
        unread_signatures: &[],
        signers: Some(signers),
        host: HostAudience::of(Some("desk-1")),
        now: at("2026-02-10T00:00:00Z"),
    };
    codes(&admission_violations(standing, policy, &evidence))
}
