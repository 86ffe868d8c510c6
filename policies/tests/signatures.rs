//! Tests of approvals by signatures of stock `ssh-keygen`, the independent oracle. Its signatures
//! for our namespaces count, and no others do. Without `ssh-keygen` the tests report that they were
//! skipped; they must never pass silently.

use crate::oracle;
use crate::scene;

use std::fs;
use std::process::Command;

use oracle::KeygenOracle;
use policies::{
    APPROVE_NAMESPACE, AllowedSigners, REJECT_NAMESPACE, SIGNATURE_BYTES_MAX, SignatureFile,
    Verdict,
};
use scene::{
    DecisionScene, accepts, approved, codes, dropped, policy, reason, refused, request_of, shipped,
    unapproved, verdict,
};

/// The keys of one test, made and used by `ssh-keygen`.
struct KeygenKeys(KeygenOracle);

impl KeygenKeys {
    /// Returns `None` with a message if `ssh-keygen` cannot run.
    fn open(test: &str) -> Option<Self> {
        KeygenOracle::open(test).map(Self)
    }

    fn key(&self, name: &str, kind: &str) -> String {
        self.0.key(name, kind)
    }

    fn sign(&self, key: &str, namespace: &str, hash: &str, message: &[u8]) -> SignatureFile {
        let bytes = self.0.sign(key, namespace, hash, message);
        SignatureFile { name: format!("r.md.{key}.sig"), bytes }
    }

    fn approve(&self, key: &str) -> SignatureFile {
        self.sign(key, APPROVE_NAMESPACE, "sha512", scene::REQUEST.as_bytes())
    }
}

fn signers(lines: &[String]) -> Option<AllowedSigners> {
    Some(AllowedSigners::parse(&lines.join("\n")).unwrap_or_else(|error| panic!("{error}")))
}

fn scene(lines: &[String], signatures: Vec<SignatureFile>) -> DecisionScene {
    DecisionScene {
        submission: dropped(),
        signatures,
        signers: signers(lines),
        ..DecisionScene::default()
    }
}

fn decide(scene: &DecisionScene, min: usize) -> policies::Decision {
    let line = format!("    low: {min}\n");
    // The request has code on the command line, so its risk is medium.
    let medium = format!("    medium: {min}\n");
    let high = format!("    high: {min}\n");
    let policy = policy(
        "standard",
        &[("    low: 1\n", &line), ("    medium: 1\n", &medium), ("    high: 1\n", &high)],
    );
    scene.decide(request_of(scene::REQUEST.as_bytes()), &policy)
}

#[test]
fn a_stock_signature_of_either_kind_and_hash_counts() {
    let Some(workshop) = KeygenKeys::open("a_stock_signature_of_either_kind_and_hash_counts")
    else {
        return;
    };
    for (kind, hash) in
        [("ed25519", "sha512"), ("ed25519", "sha256"), ("ecdsa", "sha512"), ("ecdsa", "sha256")]
    {
        let name = format!("{kind}-{hash}");
        let line = format!("alice {}", workshop.key(&name, kind));
        let bytes = scene::REQUEST.as_bytes();
        let signature = workshop.sign(&name, APPROVE_NAMESPACE, hash, bytes);
        let scene = scene(&[line], vec![signature]);
        let approved = approved(scene.decide(request_of(bytes), &shipped("standard")));
        let grant = approved.grant();
        assert_eq!(grant.approval_text(), "signed by 1 of 1");
        assert_eq!(grant.approvals().len(), 1);
        assert_eq!(grant.approvals()[0].0, "alice");
        let output = Command::new("ssh-keygen")
            .arg("-lf")
            .arg(workshop.0.dir().join(&name).with_extension("pub"))
            .output()
            .unwrap();
        let fingerprint = &grant.approvals()[0].1;
        assert!(String::from_utf8_lossy(&output.stdout).contains(fingerprint.as_str()));
        for rule in ["signature", "count", "principal", "rejected", "age"] {
            let rule = format!("approval.{rule}");
            assert_eq!(verdict(&approved.rationale().rules, &rule), Verdict::Pass, "{rule}");
        }
    }
}

#[test]
fn a_signature_for_anything_else_does_not_count() {
    let Some(workshop) = KeygenKeys::open("a_signature_for_anything_else_does_not_count") else {
        return;
    };
    let (alice, mallory) = (workshop.key("alice", "ed25519"), workshop.key("mallory", "ed25519"));
    let good = workshop.approve("alice");
    let text = String::from_utf8(good.bytes.clone()).unwrap();
    let bytes = scene::REQUEST.as_bytes();
    let named = |bytes: Vec<u8>| SignatureFile { name: "r.md.sig".to_owned(), bytes };
    let mut other = bytes.to_vec();
    other.push(b'\n');
    let line = |options: &str| format!("alice {options}{alice}");
    for (what, line, signature, words) in [
        (
            "namespace",
            line(""),
            workshop.sign("alice", "file", "sha512", bytes),
            "namespace `file`",
        ),
        (
            "one byte",
            line(""),
            workshop.sign("alice", APPROVE_NAMESPACE, "sha512", &other),
            "does not verify over these bytes",
        ),
        ("key", line(""), workshop.approve("mallory"), "is not in allowed_signers"),
        ("too early", line("valid-after=\"20260209161201\" "), good.clone(), "was not valid at"),
        ("too late", line("valid-before=\"20260209161159Z\" "), good.clone(), "was not valid at"),
        ("other use", line("namespaces=\"file,git\" "), good.clone(), "may not sign in namespace"),
        ("no signature", line(""), named(b"approved!".to_vec()), "not an SSH signature"),
        (
            "cut",
            line(""),
            named(text.as_bytes()[..text.len() - 40].to_vec()),
            "not an SSH signature",
        ),
        ("long", line(""), named(vec![b'-'; SIGNATURE_BYTES_MAX + 1]), "larger than 16 KiB"),
    ] {
        let (violations, rules) = unapproved(decide(&scene(&[line], vec![signature]), 1));
        assert_eq!(codes(&violations), ["approval.signature", "approval.count"], "{what}");
        assert!(violations[0].message.contains(words), "{what}: {:?}", violations[0]);
        assert_eq!(verdict(&rules, "approval.principal"), Verdict::NotApplicable, "{what}");
    }
    // The same key, file and bytes without a flaw, and with options that permit it.
    accepts(decide(&scene(&[line("")], vec![good.clone()]), 1));
    let window = "namespaces=\"git,approve.tool-exec@threegate\",valid-after=\"202602091612\",\
                  valid-before=\"202602091613\" ";
    accepts(decide(&scene(&[line(window)], vec![good.clone()]), 1));
    // A key with a restricted and an unrestricted line has the rights of the latter.
    let lines = [line("namespaces=\"file\" "), line("")];
    accepts(decide(&scene(&lines, vec![good]), 1));
    drop(mallory);
}

#[test]
fn a_broken_file_does_not_stop_a_good_one() {
    let Some(workshop) = KeygenKeys::open("a_broken_file_does_not_stop_a_good_one") else { return };
    let line = format!("alice {}", workshop.key("alice", "ed25519"));
    let junk = SignatureFile { name: "r.md.\u{202e}x.sig".to_owned(), bytes: vec![0; 9] };
    let scene = scene(&[line], vec![junk, workshop.approve("alice")]);
    let approved = approved(decide(&scene, 1));
    let reason = reason(&approved.rationale().rules, "approval.signature");
    assert!(reason.contains("1 verified; not counted: "), "{reason}");
    assert!(!reason.contains('\u{202e}'), "{reason}");
}

#[test]
fn people_are_counted_not_files_keys_or_names() {
    let Some(workshop) = KeygenKeys::open("people_are_counted_not_files_keys_or_names") else {
        return;
    };
    let alice = workshop.key("alice", "ed25519");
    let second = workshop.key("second", "ecdsa");
    let bob = workshop.key("bob", "ed25519");
    let of = |keys: &[&str]| keys.iter().map(|key| workshop.approve(key)).collect::<Vec<_>>();
    let lines = [format!("alice {alice}"), format!("alice {second}"), format!("bob {bob}")];

    for keys in [&["alice"][..], &["alice", "alice"], &["alice", "second"]] {
        let (violations, _) = unapproved(decide(&scene(&lines, of(keys)), 2));
        assert_eq!(codes(&violations), ["approval.count"], "{keys:?}");
        assert!(violations[0].message.contains("1 of 2 distinct approvers signed"));
    }
    let approved = approved(decide(&scene(&lines, of(&["bob", "second"])), 2));
    assert_eq!(approved.grant().approval_text(), "signed by 2 of 2");
    let names: Vec<&str> = approved.grant().approvals().iter().map(|row| row.0.as_str()).collect();
    assert_eq!(names, ["bob", "alice"]);

    // Two names of one key, and two keys with one name, are one person in any order.
    let aliases = [
        format!("alice@home {second}"),
        format!("alice {alice}"),
        format!("alice,alice@home {alice}"),
    ];
    let (violations, _) = refused(decide(&scene(&aliases, of(&["alice", "second"])), 2));
    assert_eq!(codes(&violations), ["approval.count"]);
}

#[test]
fn approved_by_must_be_one_who_signed() {
    let Some(workshop) = KeygenKeys::open("approved_by_must_be_one_who_signed") else { return };
    let bob = workshop.key("bob", "ed25519");
    let signature = || vec![workshop.approve("bob")];
    let (violations, _) = refused(decide(&scene(&[format!("bob {bob}")], signature()), 1));
    assert_eq!(codes(&violations), ["approval.principal"]);
    assert!(violations[0].message.contains("approved_by: alice did not sign; signed by bob"));
    // The key has both names. The record uses the name in the text.
    let scene = scene(&[format!("bob,alice {bob}")], signature());
    assert_eq!(approved(decide(&scene, 1)).grant().approvals()[0].0, "alice");
}

#[test]
fn a_rejection_is_final() {
    let Some(workshop) = KeygenKeys::open("a_rejection_is_final") else { return };
    let lines = |options: &str| {
        let key = fs::read_to_string(workshop.0.dir().join("bob.pub")).expect("the key");
        let alice = fs::read_to_string(workshop.0.dir().join("alice.pub")).expect("the key");
        [format!("alice {}", alice.trim_end()), format!("bob {options}{}", key.trim_end())]
    };
    workshop.key("alice", "ed25519");
    workshop.key("bob", "ed25519");
    let reject = workshop.sign("bob", REJECT_NAMESPACE, "sha512", scene::REQUEST.as_bytes());
    let files = vec![workshop.approve("alice"), reject.clone()];

    let (violations, rules) = refused(decide(&scene(&lines(""), files.clone()), 1));
    assert_eq!(codes(&violations), ["approval.rejected"]);
    assert!(violations[0].message.contains("rejected by bob with key SHA256:"));
    assert_eq!(verdict(&rules, "approval.count"), Verdict::Pass);

    // A key that became valid after the approval may still reject.
    let (violations, _) =
        refused(decide(&scene(&lines("valid-after=\"202602091630\" "), files), 1));
    assert_eq!(codes(&violations), ["approval.rejected"]);

    // A rejection counts even if policy requires no signature.
    let own = DecisionScene {
        signatures: vec![reject.clone()],
        signers: signers(&lines("")),
        ..DecisionScene::default()
    };
    let request = request_of(scene::REQUEST.as_bytes());
    let (violations, _) = refused(own.decide(request, &shipped("embedded")));
    assert_eq!(codes(&violations), ["approval.rejected"]);

    // But not that of an unknown person.
    let files = vec![workshop.approve("alice"), reject];
    accepts(decide(&scene(&lines("")[..1], files), 1));
}

#[test]
fn too_many_files_are_refused_as_a_whole() {
    let Some(workshop) = KeygenKeys::open("too_many_files_are_refused_as_a_whole") else { return };
    let line = format!("alice {}", workshop.key("alice", "ed25519"));
    let good = workshop.approve("alice");
    accepts(decide(&scene(std::slice::from_ref(&line), vec![good.clone(); 16]), 1));
    let (violations, _) = refused(decide(&scene(&[line], vec![good; 17]), 1));
    assert_eq!(codes(&violations), ["approval.signature", "approval.count"]);
    assert!(violations[0].message.contains("more than 16 signature files; none was read"));
}

#[test]
fn signatures_that_policy_does_not_require_are_recorded() {
    let Some(workshop) = KeygenKeys::open("signatures_that_policy_does_not_require_are_recorded")
    else {
        return;
    };
    let line = format!("alice {}", workshop.key("alice", "ed25519"));
    let scene = DecisionScene {
        signatures: vec![workshop.approve("alice")],
        signers: signers(&[line]),
        ..DecisionScene::default()
    };
    let request = request_of(scene::REQUEST.as_bytes());
    let approved = approved(scene.decide(request, &shipped("embedded")));
    assert_eq!(approved.grant().approval_text(), "unsigned, by the invoker");
    assert_eq!(approved.grant().approvals().len(), 1);
}

#[test]
fn a_changed_request_loses_its_approval() {
    let Some(workshop) = KeygenKeys::open("a_changed_request_loses_its_approval") else { return };
    let line = format!("alice {}", workshop.key("alice", "ed25519"));
    let scene = scene(&[line], vec![workshop.approve("alice")]);
    let changed = scene::text(&[("print(1 + 1)", "print(1 + 2)")]);
    let (violations, _) =
        unapproved(scene.decide(request_of(changed.as_bytes()), &shipped("standard")));
    assert_eq!(codes(&violations), ["approval.signature", "approval.count"]);
}
