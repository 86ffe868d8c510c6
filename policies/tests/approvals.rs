//! Tests of the approval rules, one by one. Each refuses for its own reason with its own code, and
//! the same scene without that flaw is approved. The keys are made from seeds (`soft`), so that no
//! test depends on a program of the host.

use crate::scene;
use crate::soft;

use policies::{
    APPROVE_NAMESPACE, AllowedSigners, Approved, Decision, LedgerEvidence, Policy,
    REJECT_NAMESPACE, REQUEST_NAMESPACE, RevokedKeys, SignatureFile, Verdict,
};
use scene::{
    DecisionScene, accepts, approved, codes, dropped, policy, reason, refused, request_of, time,
    unapproved, verdict,
};
use soft::{PRESENT, SoftKey, VERIFIED};

fn alice() -> SoftKey {
    SoftKey::ed25519(1)
}

fn bob() -> SoftKey {
    SoftKey::p256(2)
}

fn carol() -> SoftKey {
    SoftKey::ed25519(3).in_security_key("ssh:", PRESENT, 41)
}

fn signers(lines: &[(&str, &SoftKey)]) -> AllowedSigners {
    let lines: Vec<String> =
        lines.iter().map(|(names, key)| format!("{names} {}", key.public())).collect();
    AllowedSigners::parse(&lines.join("\n")).unwrap_or_else(|error| panic!("{error}"))
}

fn all_signers() -> AllowedSigners {
    signers(&[("alice", &alice()), ("bob", &bob()), ("carol", &carol())])
}

struct ApprovalCase {
    text: String,
    files: Vec<SignatureFile>,
    scene: DecisionScene,
}

impl ApprovalCase {
    fn of(changes: &[(&str, &str)]) -> Self {
        let scene = DecisionScene {
            submission: dropped(),
            signers: Some(all_signers()),
            ..DecisionScene::default()
        };
        Self { text: scene::text(changes), files: Vec::new(), scene }
    }

    fn signed(mut self, namespace: &str, keys: &[SoftKey]) -> Self {
        self.files.extend(keys.iter().map(|key| key.sign(namespace, self.text.as_bytes())));
        self
    }

    fn approved_by(self, keys: &[SoftKey]) -> Self {
        self.signed(APPROVE_NAMESPACE, keys)
    }

    fn trusting(mut self, signers: AllowedSigners) -> Self {
        self.scene.signers = Some(signers);
        self
    }

    fn decide(self, policy: &Policy) -> Decision {
        let scene = DecisionScene { signatures: self.files, ..self.scene };
        scene.decide(request_of(self.text.as_bytes()), policy)
    }

    fn accepted(self, policy: &Policy) -> Approved {
        approved(self.decide(policy))
    }

    fn codes(self, policy: &Policy) -> Vec<String> {
        codes(&unapproved(self.decide(policy)).0)
    }
}

fn standard() -> Policy {
    scene::shipped("standard")
}

fn with(changes: &[(&str, &str)]) -> Policy {
    policy("standard", changes)
}

/// Makes a policy that requires two approvers at every risk.
fn two() -> Policy {
    with(&[
        ("    low: 1\n", "    low: 2\n"),
        ("    medium: 1\n", "    medium: 2\n"),
        ("    high: 1\n", "    high: 2\n"),
    ])
}

const BY_BOB: (&str, &str) = ("approved_by: \"alice\"", "approved_by: \"bob\"");
const FROM_ALICE: (&str, &str) = ("purpose:", "x-requester: \"alice\"\npurpose:");

#[test]
fn one_sound_approval_of_each_kind_of_key_is_enough() {
    for (name, key) in [("alice", alice()), ("bob", bob()), ("carol", carol())] {
        let by = format!("approved_by: \"{name}\"");
        let case = ApprovalCase::of(&[("approved_by: \"alice\"", &by)]).approved_by(&[key]);
        let approved = case.accepted(&standard());
        assert_eq!(approved.grant().approvals()[0].0, name);
        let touches = approved.grant().touches();
        assert_eq!(touches.len(), usize::from(name == "carol"));
        if let Some((fingerprint, touch)) = touches.first() {
            assert_eq!(*fingerprint, approved.grant().approvals()[0].1);
            assert_eq!((touch.counter(), touch.user_verified()), (41, false));
        }
    }
}

/// An unread signature file may be the rejection, regardless of other files and of policy.
#[test]
fn a_signature_file_that_was_not_read_refuses() {
    let unread = |mut case: ApprovalCase| {
        case.scene.unread_signatures = vec!["A.md.reject.sig: is a FIFO".to_owned()];
        case
    };
    let sound = || ApprovalCase::of(&[]).approved_by(&[alice()]);
    drop(sound().accepted(&standard()));
    let (violations, rules) = refused(unread(sound()).decide(&standard()));
    assert_eq!(codes(&violations), ["approval.signature"]);
    assert!(violations[0].message.contains("A.md.reject.sig"), "{violations:#?}");
    assert_eq!(verdict(&rules, "approval.rejected"), Verdict::Refuse);
    let mut own = ApprovalCase::of(&[]);
    own.scene = DecisionScene::default();
    assert_eq!(unread(own).codes(&scene::shipped("embedded")), ["approval.signature"]);
}

#[test]
fn unsigned_request_is_refused() {
    assert_eq!(ApprovalCase::of(&[]).codes(&standard()), ["approval.count"]);
}

/// A request waits only for signatures that people of the trust store could give.
#[test]
fn waits_only_for_signatures_that_could_satisfy_it() {
    let waits = |case: ApprovalCase, policy: &Policy| match case.decide(policy) {
        Decision::Hold { .. } => true,
        Decision::Refuse { .. } => false,
        Decision::Approve(approved) => panic!("approved: {:#?}", approved.rationale().rules),
    };
    let strange = || SoftKey::ed25519(9);
    for (what, case) in [
        ("nobody", ApprovalCase::of(&[])),
        ("one of two", ApprovalCase::of(&[]).approved_by(&[alice()])),
        ("others than the named one", ApprovalCase::of(&[]).approved_by(&[bob(), carol()])),
        ("a stranger", ApprovalCase::of(&[]).approved_by(&[strange()])),
        ("who asks", ApprovalCase::of(&[FROM_ALICE, BY_BOB]).approved_by(&[alice()])),
    ] {
        assert!(waits(case, &two()), "{what}");
    }
    let by = |name: &str| format!("approved_by: \"{name}\"");
    let unlisted = by("unlisted");
    let unknown = [("approved_by: \"alice\"", unlisted.as_str())];
    let revoked = RevokedKeys::parse(format!("{}\n", alice().public()).as_bytes()).expect("a list");
    for (what, case) in [
        ("an unlisted name", ApprovalCase::of(&unknown).approved_by(&[bob()])),
        ("the one who asks is named", ApprovalCase::of(&[FROM_ALICE])),
        ("too few are known", ApprovalCase::of(&[]).trusting(signers(&[("alice", &alice())]))),
        (
            "the named one's key is revoked",
            ApprovalCase::of(&[]).trusting(all_signers().with_revoked(revoked)),
        ),
        (
            "the named one may not sign this",
            ApprovalCase::of(&[]).trusting(signers(&[
                ("alice namespaces=\"file\"", &alice()),
                ("bob", &bob()),
                ("carol", &carol()),
            ])),
        ),
        ("a rejection", ApprovalCase::of(&[]).signed(REJECT_NAMESPACE, &[bob()])),
        ("another rule", ApprovalCase::of(&[("purpose:", "x-audience: \"elsewhere\"\npurpose:")])),
    ] {
        assert!(!waits(case, &two()), "{what}");
    }
    let mut unread = ApprovalCase::of(&[]);
    unread.scene.unread_signatures = vec!["A.md.reject.sig: is a FIFO".to_owned()];
    assert!(!waits(unread, &two()));
    let mut untrusting = ApprovalCase::of(&[]);
    untrusting.scene.signers = None;
    assert!(!waits(untrusting, &standard()));
}

#[test]
fn a_date_out_of_order_is_refused_again_when_it_is_decided() {
    for (now, good) in [("2026-02-09T16:10:00Z", true), ("2026-02-09T16:09:59Z", false)] {
        let mut case = ApprovalCase::of(&[]).approved_by(&[alice()]);
        case.scene.now = time(now);
        if good {
            accepts(case.decide(&standard()));
        } else {
            assert_eq!(case.codes(&standard()), ["approval.date-order"], "{now}");
        }
    }
}

#[test]
fn an_old_approval_is_refused_when_it_is_decided_and_again_before_it_runs() {
    let policy = with(&[("age_sec_max: 604800", "age_sec_max: 3600")]);
    // approved_utc is 16:12:00, and two minutes of skew are allowed.
    let mut late = ApprovalCase::of(&[]).approved_by(&[alice()]);
    late.scene.now = time("2026-02-09T17:14:01Z");
    assert_eq!(late.codes(&policy), ["approval.expired"]);

    let approved = ApprovalCase::of(&[]).approved_by(&[alice()]).accepted(&policy);
    assert_eq!(approved.grant().approval_expires(), Some(time("2026-02-09T17:14:00Z")));
    assert!(approved.still_holds(time("2026-02-09T17:14:00Z")).is_ok());
    let violation = approved.still_holds(time("2026-02-09T17:14:01Z")).unwrap_err();
    assert_eq!(violation.code.as_str(), "approval.expired");

    let forever = with(&[("age_sec_max: 604800", "age_sec_max: null")]);
    let approved = ApprovalCase::of(&[]).approved_by(&[alice()]).accepted(&forever);
    assert!(approved.still_holds(time("2999-01-01T00:00:00Z")).is_ok());
}

#[test]
fn invalid_signature_is_refused_with_its_reason() {
    let stranger = SoftKey::ed25519(99);
    let untouched = SoftKey::ed25519(3).in_security_key("ssh:", 0, 1);
    let text = ApprovalCase::of(&[]).text;
    let other = alice().sign(APPROVE_NAMESPACE, format!("{text}\n").as_bytes());
    for (what, file, words) in [
        ("other bytes", other, "does not verify over these bytes"),
        (
            "unknown key",
            stranger.sign(APPROVE_NAMESPACE, text.as_bytes()),
            "not in allowed_signers",
        ),
        ("other use", alice().sign("file", text.as_bytes()), "namespace `file`"),
        ("no touch", untouched.sign(APPROVE_NAMESPACE, text.as_bytes()), "without a touch"),
    ] {
        let mut case = ApprovalCase::of(&[]);
        case.files.push(file);
        let (violations, _) = unapproved(case.decide(&standard()));
        assert_eq!(codes(&violations), ["approval.signature", "approval.count"], "{what}");
        assert!(violations[0].message.contains(words), "{what}: {}", violations[0].message);
    }
}

#[test]
fn approved_utc_must_be_within_the_validity_of_the_key() {
    for (options, good) in [
        ("valid-after=\"20260209161200Z\"", true),
        ("valid-after=\"20260209161201Z\"", false),
        ("valid-before=\"20260209161200Z\"", true),
        ("valid-before=\"20260209161159Z\"", false),
        ("namespaces=\"approve.*\"", true),
        ("namespaces=\"reject.*\"", false),
    ] {
        let store = signers(&[(&format!("alice {options}"), &alice())]);
        let case = ApprovalCase::of(&[]).approved_by(&[alice()]).trusting(store);
        if good {
            accepts(case.decide(&standard()));
        } else {
            let expected = ["approval.signature", "approval.count"];
            assert_eq!(case.codes(&standard()), expected, "{options}");
        }
    }
}

#[test]
fn approved_by_must_be_one_who_signed() {
    assert_eq!(
        ApprovalCase::of(&[]).approved_by(&[bob()]).codes(&standard()),
        ["approval.principal"]
    );
    accepts(ApprovalCase::of(&[BY_BOB]).approved_by(&[bob()]).decide(&standard()));
    // One of two suffices, and a pattern may match the name.
    accepts(ApprovalCase::of(&[]).approved_by(&[bob(), alice()]).decide(&two()));
    let store = signers(&[("al*,!alan", &alice())]);
    let approved =
        ApprovalCase::of(&[]).approved_by(&[alice()]).trusting(store).accepted(&standard());
    assert_eq!(approved.grant().approvals()[0].0, "alice");
    let store = signers(&[("al*,!alice", &alice())]);
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]).trusting(store);
    assert_eq!(case.codes(&standard()), ["approval.principal"]);
}

#[test]
fn people_are_counted_and_never_keys_files_or_names() {
    let second = SoftKey::ed25519(7);
    for (what, store, keys) in [
        ("one file twice", all_signers(), vec![alice(), alice()]),
        ("two keys", signers(&[("alice", &alice()), ("alice", &second)]), vec![alice(), second]),
        (
            "a pattern that may be alice",
            signers(&[("alice", &alice()), ("al*", &bob())]),
            vec![alice(), bob()],
        ),
        ("everybody's key", signers(&[("alice", &alice()), ("*", &bob())]), vec![alice(), bob()]),
    ] {
        let case = ApprovalCase::of(&[]).approved_by(&keys).trusting(store);
        assert_eq!(case.codes(&two()), ["approval.count"], "{what}");
    }
    let case = ApprovalCase::of(&[]).approved_by(&[alice(), carol()]);
    assert_eq!(case.accepted(&two()).grant().approval_text(), "signed by 2 of 2");
    let store = signers(&[("al*", &alice()), ("bo*", &bob())]);
    accepts(ApprovalCase::of(&[]).approved_by(&[alice(), bob()]).trusting(store).decide(&two()));
}

#[test]
fn requester_never_counts_as_approver() {
    // The requester by the text, by a signature, and by another name or key of the same person.
    let case = ApprovalCase::of(&[FROM_ALICE]).approved_by(&[alice()]);
    assert_eq!(case.codes(&standard()), ["approval.self", "approval.count"]);
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]).signed(REQUEST_NAMESPACE, &[alice()]);
    assert_eq!(case.codes(&standard()), ["approval.self", "approval.count"]);
    let second = SoftKey::ed25519(7);
    let store = signers(&[("alice,al", &alice()), ("al", &second)]);
    let case = ApprovalCase::of(&[FROM_ALICE, ("approved_by: \"alice\"", "approved_by: \"al\"")]);
    let case = case.approved_by(&[second]).trusting(store);
    assert_eq!(case.codes(&standard()), ["approval.self", "approval.count"]);

    // With the approval of another person the run is approved, but not in the requester's name.
    let case = ApprovalCase::of(&[FROM_ALICE, BY_BOB]).approved_by(&[alice(), bob()]);
    let approved = case.accepted(&standard());
    assert_eq!(approved.grant().approvals().len(), 1);
    assert!(reason(&approved.rationale().rules, "approval.self").contains("not counted: alice"));
    let case = ApprovalCase::of(&[FROM_ALICE]).approved_by(&[alice(), bob()]);
    assert_eq!(case.codes(&standard()), ["approval.self", "approval.principal"]);
    let case = ApprovalCase::of(&[FROM_ALICE, BY_BOB]).approved_by(&[alice(), bob()]);
    assert_eq!(case.codes(&two()), ["approval.self", "approval.count"]);

    let lenient = with(&[("self_approval: false", "self_approval: true")]);
    accepts(ApprovalCase::of(&[FROM_ALICE]).approved_by(&[alice()]).decide(&lenient));
}

#[test]
fn unknown_requester_is_refused_if_policy_requires_one() {
    let strict = with(&[("requester_required: false", "requester_required: true")]);
    assert_eq!(ApprovalCase::of(&[]).approved_by(&[alice()]).codes(&strict), ["approval.self"]);
    accepts(ApprovalCase::of(&[FROM_ALICE, BY_BOB]).approved_by(&[bob()]).decide(&strict));
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]).signed(REQUEST_NAMESPACE, &[carol()]);
    accepts(case.decide(&strict));
    // An unknown person's signature does not name the requester.
    let case = ApprovalCase::of(&[])
        .approved_by(&[alice()])
        .signed(REQUEST_NAMESPACE, &[SoftKey::ed25519(9)]);
    assert_eq!(case.codes(&strict), ["approval.self"]);
}

#[test]
fn requesting_owner_is_not_an_approver() {
    let unsigned = with(&[
        ("    low: 1\n", "    low: 0\n"),
        ("    medium: 1\n", "    medium: 0\n"),
        ("owners: []", "owners: [alice]"),
    ]);
    accepts(ApprovalCase::of(&[]).decide(&unsigned));
    assert_eq!(ApprovalCase::of(&[FROM_ALICE]).codes(&unsigned), ["approval.self"]);
    // Another spelling, another name of hers, and a signature.
    let requester = ("purpose:", "x-requester: \"Alice\"\npurpose:");
    assert_eq!(ApprovalCase::of(&[requester]).codes(&unsigned), ["approval.self"]);
    let store = || signers(&[("alice,al", &alice()), ("bob", &bob())]);
    let requester = ("purpose:", "x-requester: \"al\"\npurpose:");
    let case = ApprovalCase::of(&[requester]).trusting(store());
    assert_eq!(case.codes(&unsigned), ["approval.self"]);
    let signed =
        |key: SoftKey| ApprovalCase::of(&[]).signed(REQUEST_NAMESPACE, &[key]).trusting(store());
    assert_eq!(signed(alice()).codes(&unsigned), ["approval.self"]);
    accepts(signed(bob()).decide(&unsigned));
    // The requester must be known even if no signature is required.
    let strict = with(&[
        ("    low: 1\n", "    low: 0\n"),
        ("    medium: 1\n", "    medium: 0\n"),
        ("owners: []", "owners: [alice]"),
        ("requester_required: false", "requester_required: true"),
    ]);
    assert_eq!(ApprovalCase::of(&[]).codes(&strict), ["approval.self"]);
    accepts(signed(bob()).decide(&strict));
}

#[test]
fn names_that_look_alike_are_one_person() {
    for other in ["Alice", "ALICE", "\u{430}\u{441}\u{435}"] {
        let store = signers(&[("alice,ace", &alice()), (other, &bob())]);
        let case = ApprovalCase::of(&[]).approved_by(&[alice(), bob()]).trusting(store);
        assert_eq!(case.codes(&two()), ["approval.count"], "{other}");
    }
    // The requester is recognized in any letter case.
    let requester = ("purpose:", "x-requester: \"ALICE\"\npurpose:");
    let case = ApprovalCase::of(&[requester]).approved_by(&[alice()]);
    assert_eq!(case.codes(&standard()), ["approval.self", "approval.count"]);
    // But only the exact name authorizes.
    let by = ("approved_by: \"alice\"", "approved_by: \"Alice\"");
    let case = ApprovalCase::of(&[by]).approved_by(&[alice()]);
    assert_eq!(case.codes(&standard()), ["approval.principal"]);
}

#[test]
fn a_revoked_key_counts_for_nothing() {
    let revoked = |key: &SoftKey| {
        let list = RevokedKeys::parse(format!("{}\n", key.public()).as_bytes());
        all_signers().with_revoked(list.expect("a list"))
    };
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]).trusting(revoked(&alice()));
    assert_eq!(case.codes(&standard()), ["approval.revoked", "approval.count"]);
    // It blocks no other person, neither as approver nor by rejecting.
    let case =
        ApprovalCase::of(&[BY_BOB]).approved_by(&[alice(), bob()]).trusting(revoked(&alice()));
    let approved = case.accepted(&standard());
    assert!(reason(&approved.rationale().rules, "approval.revoked").contains("not counted"));
    assert_eq!(approved.grant().approvals().len(), 1);
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]).signed(REJECT_NAMESPACE, &[bob()]);
    accepts(case.trusting(revoked(&bob())).decide(&standard()));
}

#[test]
fn one_valid_rejection_is_final() {
    let all = [alice(), bob(), carol()];
    let case = ApprovalCase::of(&[]).approved_by(&all).signed(REJECT_NAMESPACE, &[carol()]);
    assert_eq!(case.codes(&standard()), ["approval.rejected"]);
    // The requester may withdraw the request, and an approver may reject it later.
    let case = ApprovalCase::of(&[FROM_ALICE, BY_BOB]).approved_by(&[bob()]);
    let case = case.signed(REJECT_NAMESPACE, &[alice()]);
    assert_eq!(case.codes(&standard()), ["approval.rejected"]);
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]).signed(REJECT_NAMESPACE, &[alice()]);
    assert_eq!(case.codes(&standard()), ["approval.rejected"]);
    // An unknown person's rejection does not count, nor one of other bytes.
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]);
    accepts(case.signed(REJECT_NAMESPACE, &[SoftKey::ed25519(9)]).decide(&standard()));
    let mut case = ApprovalCase::of(&[]).approved_by(&[alice()]);
    case.files.push(bob().sign(REJECT_NAMESPACE, b"another request"));
    accepts(case.decide(&standard()));
}

#[test]
fn the_namespace_decides_and_the_label_in_the_file_name_does_not() {
    let mut case = ApprovalCase::of(&[]).approved_by(&[alice()]).signed(REJECT_NAMESPACE, &[bob()]);
    for file in &mut case.files {
        file.name = "r.md.approve.sig".to_owned();
    }
    assert_eq!(case.codes(&standard()), ["approval.rejected"]);
}

#[test]
fn security_key_must_verify_its_user_if_policy_requires_it() {
    let verified = with(&[("user_verification: false", "user_verification: true")]);
    let by_carol = [("approved_by: \"alice\"", "approved_by: \"carol\"")];
    let case = ApprovalCase::of(&by_carol).approved_by(&[carol()]);
    let (violations, _) = unapproved(case.decide(&verified));
    assert_eq!(codes(&violations), ["approval.signature", "approval.count"]);
    assert!(violations[0].message.contains("did not verify its user by PIN or fingerprint"));
    let known = SoftKey::ed25519(3).in_security_key("ssh:", PRESENT | VERIFIED, 42);
    let approved = ApprovalCase::of(&by_carol).approved_by(&[known]).accepted(&verified);
    assert!(approved.grant().touches()[0].1.user_verified());
    // A rejection needs only a touch.
    let case = ApprovalCase::of(&[]).approved_by(&[alice()]).signed(REJECT_NAMESPACE, &[carol()]);
    assert_eq!(case.codes(&verified), ["approval.rejected"]);
}

#[test]
fn a_request_runs_on_the_host_that_it_names() {
    let meant = [("purpose:", "x-audience: \"host.example\"\npurpose:")];
    let required = with(&[("audience_required: false", "audience_required: true")]);
    for (policy, changes, origin, expected) in [
        (&standard(), &meant[..], Some("host.example"), None),
        (&standard(), &meant[..], Some("host.example.org"), Some("frontmatter.value")),
        (&standard(), &meant[..], None, Some("frontmatter.value")),
        (&standard(), &[][..], Some("host.example"), None),
        (&required, &meant[..], Some("host.example"), None),
        (&required, &[][..], Some("host.example"), Some("frontmatter.missing-key")),
    ] {
        let mut case = ApprovalCase::of(changes).approved_by(&[alice()]);
        case.scene.origin = origin.map(str::to_owned);
        match expected {
            None => accepts(case.decide(policy)),
            Some(code) => assert_eq!(case.codes(policy), [code], "{origin:?}"),
        }
    }
}

#[test]
fn a_request_for_a_label_runs_on_each_host_with_it() {
    let meant = [("purpose:", "x-audience: \"gpu\"\npurpose:")];
    for (origin, labels, runs) in [
        (Some("host-a"), &["eu-west", "gpu"][..], true),
        (Some("host-a"), &["eu-west", "gpu-2"][..], false),
        (Some("host-a"), &[][..], false),
        // Without a name, a host belongs to no fleet.
        (None, &["gpu"][..], false),
    ] {
        let mut case = ApprovalCase::of(&meant).approved_by(&[alice()]);
        case.scene.origin = origin.map(str::to_owned);
        case.scene.labels = labels.iter().map(|label| (*label).to_owned()).collect();
        match runs {
            true => accepts(case.decide(&standard())),
            false => assert_eq!(case.codes(&standard()), ["frontmatter.value"], "{labels:?}"),
        }
    }
    let mut case = ApprovalCase::of(&meant).approved_by(&[alice()]);
    case.scene.origin = Some("host-a".to_owned());
    case.scene.labels = vec!["gpu".to_owned()];
    let granted = case.accepted(&standard());
    let mut rows = granted.rationale().rules.iter();
    let row = rows.find(|row| row.rule == "approval.audience").expect("the rule");
    assert_eq!(row.reason, "label `gpu` of this host, `host-a`");
}

#[test]
fn an_approval_is_good_for_one_start() {
    let mut case = ApprovalCase::of(&[]).approved_by(&[alice()]);
    case.scene.ledger = LedgerEvidence::Used { record: "TS-1".to_owned() };
    let (violations, rules) = refused(case.decide(&standard()));
    assert_eq!(codes(&violations), ["spool.replayed"]);
    assert_eq!(verdict(&rules, "approval.single-use"), Verdict::Refuse);
}

#[test]
fn risk_class_sets_the_number_of_approvers_and_text_never_lowers_it() {
    let by_class = with(&[
        ("    medium: 1\n", "    medium: 2\n"),
        ("    high: 1\n", "    high: 3\n"),
        ("hosts: []", "hosts: [{host: data.example.org, ports: [443], private: []}]"),
    ]);
    let script = ("python -c 'print(1 + 1)'", "python -V");
    for (changes, needed, why) in [
        (&[script][..], 1, "low by its own words"),
        (&[][..], 2, "medium by code on the command line"),
        (
            &[("python -c 'print(1 + 1)'", "python -m timeit -n 1 'print(1)'")][..],
            2,
            "medium by code on the command line",
        ),
        (
            &[
                ("python -c 'print(1 + 1)'", "node --import=data:text/javascript,f -v"),
                ("language: \"python\"", "language: \"node\""),
            ][..],
            2,
            "medium by code on the command line",
        ),
        (
            &[script, ("Data sensitivity: public", "Data sensitivity: internal")][..],
            2,
            "medium by internal data",
        ),
        (
            &[script, ("Data sensitivity: public", "Data sensitivity: confidential")][..],
            3,
            "high by confidential data",
        ),
        (&[script, ("Risk level: low", "Risk level: high")][..], 3, "high by its own words"),
        (
            &[
                script,
                ("network: \"none\"", "network: \"allowlist\""),
                ("network_allowlist: []", "network_allowlist: [\"data.example.org\"]"),
            ][..],
            3,
            "high by hosts are named",
        ),
    ] {
        let all = || vec![alice(), bob(), carol()];
        let keys: Vec<SoftKey> = all().into_iter().take(needed).collect();
        let approved = ApprovalCase::of(changes).approved_by(&keys).accepted(&by_class);
        assert_eq!(reason(&approved.rationale().rules, "approval.risk"), why);
        let fewer: Vec<SoftKey> = all().into_iter().take(needed - 1).collect();
        let codes = ApprovalCase::of(changes).approved_by(&fewer).codes(&by_class);
        assert_eq!(codes, ["approval.count"], "{why}");
    }
}

/// One more valid approval never removes an approval; one less never adds one.
#[test]
fn another_approval_never_removes_an_approval() {
    let keys = || [alice(), bob(), carol()];
    let mut seen = [false; 2];
    for set in 0_usize..8 {
        let of = |set: usize| -> Vec<SoftKey> {
            keys()
                .into_iter()
                .enumerate()
                .filter(|(n, _)| set & (1 << n) != 0)
                .map(|(_, key)| key)
                .collect()
        };
        let decide = |set: usize| {
            matches!(
                ApprovalCase::of(&[]).approved_by(&of(set)).decide(&two()),
                Decision::Approve(_)
            )
        };
        seen[usize::from(decide(set))] = true;
        for more in 0..3 {
            assert!(!decide(set) || decide(set | (1 << more)), "{set:b} and {more}");
        }
    }
    assert_eq!(seen, [true; 2]);
}
