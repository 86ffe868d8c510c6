//! A signature counts only by the rules about signature files, and only soon.

use std::slice::from_ref;

use policies::{APPROVE_NAMESPACE, REJECT_NAMESPACE, SignedAction, SignedActionKind};

use super::{
    ActionCheckScene, alice, approval, bob, both, document, draft, ids, order, sign, signers, terms,
};
use crate::scene::{self, ID, NOW, time};
use crate::soft::SoftKey;

#[test]
fn a_signature_counts_for_the_filled_draft() {
    let scene = ActionCheckScene::new();
    let one = draft(ID);
    let terms = approval("alice", vec![document(&one, ID)]);
    let counted = scene.count(&sign(&terms, from_ref(&one), &alice()), &[one]).expect("it counts");
    assert!(counted.signer().starts_with("alice with key SHA256:"), "{}", counted.signer());
    let [only] = counted.documents() else { panic!("{counted:?}") };
    let text = String::from_utf8(only.bytes.clone()).expect("text");
    assert!(text.contains("approved_by: \"alice\"\n"), "{text}");
    assert!(text.contains(&format!("approved_utc: \"{NOW}\"\n")), "{text}");
    assert!(only.signature.name.starts_with(&format!("{ID}.md.action-")));
    assert!(only.signature.name.ends_with(".sig"));
}

#[test]
fn a_batch_counts_for_all_or_for_none() {
    let scene = ActionCheckScene::new();
    let ids = ids(10);
    let drafts: Vec<Vec<u8>> = ids.iter().map(|id| draft(id)).collect();
    let documents: Vec<_> = ids.iter().zip(&drafts).map(|(id, it)| document(it, id)).collect();
    let action = sign(&approval("alice", documents), &drafts, &alice());
    let counted = scene.count(&action, &drafts).expect("it counts");
    for counted in counted.documents() {
        let file = String::from_utf8(counted.signature.bytes.clone()).expect("text");
        assert_eq!(file.matches(".md\n").count(), 10, "{file}");
    }
    let mut changed = drafts.clone();
    changed[9].push(b'\n');
    scene.refuses(&action, &changed, "n9: has other bytes");
    scene.refuses(&action, &drafts[..9], "has 9 documents");
    // One that is not well-formed.
    let broken = String::from_utf8(drafts[3].clone()).expect("text");
    let broken = broken.replacen("language: \"python\"", "language: \"cobol\"", 1).into_bytes();
    let mut drafts = drafts;
    drafts[3] = broken;
    let documents: Vec<_> = ids.iter().zip(&drafts).map(|(id, it)| document(it, id)).collect();
    let action = sign(&approval("alice", documents), &drafts, &alice());
    scene.refuses(&action, &drafts, "TR-20260209-160501Z-n3: ");
}

#[test]
fn a_signature_that_does_not_count_beside_a_request_does_not_count_here() {
    let scene = ActionCheckScene::new();
    let one = draft(ID);
    let documents = || vec![document(&one, ID)];
    let by = |name: &str, key: &SoftKey| sign(&approval(name, documents()), from_ref(&one), key);
    scene.refuses(&by("alice", &SoftKey::ed25519(9)), from_ref(&one), "is not in allowed_signers");
    scene.refuses(&by("bob", &alice()), from_ref(&one), "bob did not sign");
    let good = by("alice", &alice());
    let none = ActionCheckScene { signers: None, ..ActionCheckScene::new() };
    none.refuses(&good, from_ref(&one), "allowed_signers is not configured");
    let narrow = format!("alice namespaces=\"{REJECT_NAMESPACE}\" {}\n", alice().public());
    let narrow = ActionCheckScene { signers: Some(signers(&narrow)), ..ActionCheckScene::new() };
    narrow.refuses(&good, from_ref(&one), "may not sign this action");
    let past = format!("alice valid-before=\"20260101Z\" {}\n", alice().public());
    let past = ActionCheckScene { signers: Some(signers(&past)), ..ActionCheckScene::new() };
    past.refuses(&good, from_ref(&one), "is not valid now");
    let revoked = policies::RevokedKeys::parse(alice().public().as_bytes()).expect("a list");
    let revoked =
        ActionCheckScene { signers: Some(both().with_revoked(revoked)), ..ActionCheckScene::new() };
    revoked.refuses(&good, from_ref(&one), "is revoked");
    // A signature over the draft as it is, or over another draft.
    let terms = approval("alice", documents());
    for other in [one.clone(), draft("TR-20260209-160501Z-other")] {
        let signature = alice().sign(APPROVE_NAMESPACE, &other).bytes;
        let signature = String::from_utf8(signature).expect("an armour");
        let action = SignedAction::compose(terms.clone(), &signature).expect("an action");
        scene.refuses(&action, from_ref(&one), "does not verify");
    }
    // The requester.
    let own = String::from_utf8(one.clone()).expect("text");
    let own = own.replacen("purpose:", "x-requester: \"alice\"\npurpose:", 1).into_bytes();
    let action = sign(&approval("alice", vec![document(&own, ID)]), from_ref(&own), &alice());
    scene.refuses(&action, &[own], "is the requester");
}

/// A name that a drafter has written must not pass for the signer's own.
#[test]
fn a_draft_that_names_an_approver_is_not_approved() {
    for text in [
        scene::text(&[]),
        scene::text(&[("approved_utc: \"2026-02-09T16:12:00Z\"", "approved_utc: \"\"")]),
    ] {
        let one = text.into_bytes();
        let terms = approval("alice", vec![document(&one, ID)]);
        let filled = terms.signed_document(&terms.documents()[0].target, &one);
        let why = filled.expect_err("a refusal").to_string();
        assert!(why.contains("already has approved_by"), "{why}");
        let signature = alice().sign(APPROVE_NAMESPACE, &one).bytes;
        let signature = String::from_utf8(signature).expect("an armour");
        let action = SignedAction::compose(terms, &signature).expect("an action");
        ActionCheckScene::new().refuses(&action, &[one], "already has approved_by");
    }
}

#[test]
fn an_approval_is_taken_within_ten_minutes() {
    let one = draft(ID);
    let action = sign(&approval("alice", vec![document(&one, ID)]), from_ref(&one), &alice());
    for now in [NOW, "2026-02-09T17:10:00Z"] {
        ActionCheckScene::at(now).count(&action, from_ref(&one)).map(drop).expect(now);
    }
    // A rejection that is signed now must be later than every approval that was signed before.
    ActionCheckScene::at("2026-02-09T16:59:59Z").refuses(
        &action,
        from_ref(&one),
        "correct the clocks",
    );
    ActionCheckScene::at("2026-02-09T17:10:01Z").refuses(&action, &[one], "sign it again");
}

/// A document that was approved, rejected or cancelled does not return by an older approval.
#[test]
fn an_approval_counts_only_after_the_mark_of_its_document() {
    let one = draft(ID);
    let action = sign(&approval("alice", vec![document(&one, ID)]), from_ref(&one), &alice());
    let until = |text: Option<&str>| {
        let no_effect_until = text.map(time);
        ActionCheckScene { no_effect_until, ..ActionCheckScene::new() }
    };
    for before in [None, Some("2026-02-09T16:59:59Z")] {
        until(before).count(&action, from_ref(&one)).map(drop).expect("it counts");
    }
    for after in [NOW, "2026-02-09T17:00:30Z"] {
        until(Some(after)).refuses(&action, from_ref(&one), "is not after");
    }
    // A rejection has no time, and only restricts.
    let terms = terms(SignedActionKind::Reject, None, None, vec![document(&one, ID)]);
    let reject = sign(&terms, from_ref(&one), &alice());
    until(Some(NOW)).count(&reject, from_ref(&one)).map(drop).expect("it counts");
}

#[test]
fn a_key_that_may_not_sign_is_refused_before_any_document_is_read() {
    let one = draft(ID);
    let signed =
        |key: &SoftKey| sign(&approval("alice", vec![document(&one, ID)]), from_ref(&one), key);
    let (good, stranger, known) = (signed(&alice()), signed(&SoftKey::ed25519(9)), both());
    let check = |action: &SignedAction, signers, now| {
        action.check_claim(signers, time(now)).map_err(|refusal| refusal.to_string())
    };
    check(&good, Some(&known), NOW).expect("a known key");
    let narrow =
        signers(&format!("alice namespaces=\"{REJECT_NAMESPACE}\" {}\n", alice().public()));
    let revoked = policies::RevokedKeys::parse(alice().public().as_bytes()).expect("a list");
    let revoked = both().with_revoked(revoked);
    for (action, signers, now, reason) in [
        (&stranger, Some(&known), NOW, "is not in allowed_signers"),
        (&good, Some(&narrow), NOW, "may not sign this action"),
        (&good, Some(&revoked), NOW, "is revoked"),
        (&good, Some(&known), "2026-02-09T17:10:01Z", "sign it again"),
        (&good, None, NOW, "allowed_signers is not configured"),
    ] {
        let refused = check(action, signers, now).expect_err(reason);
        assert!(refused.contains(reason), "{reason:?} is not in {refused:?}");
    }
}

#[test]
fn an_order_counts_once_and_soon() {
    for kind in [SignedActionKind::Hold, SignedActionKind::Cancel] {
        let action = sign(&order(kind, NOW), &[], &alice());
        for now in [NOW, "2026-02-09T17:05:00Z"] {
            ActionCheckScene::at(now).count(&action, &[]).map(drop).expect(now);
        }
        ActionCheckScene::at("2026-02-09T17:05:01Z").refuses(&action, &[], "sign it again");
        // A daemon that took it and restarts at this time would take it again.
        ActionCheckScene::at("2026-02-09T16:59:59Z").refuses(&action, &[], "correct the clocks");
        let no_effect_until = Some(time(NOW));
        let later = ActionCheckScene { no_effect_until, ..ActionCheckScene::new() };
        later.refuses(&action, &[], "is not after");
    }
    // The signature of one order for another order of the same time.
    let hold = sign(&order(SignedActionKind::Hold, NOW), &[], &alice());
    let text = hold.text().replacen("action: hold", "action: cancel", 1);
    let cancel = SignedAction::parse(text.as_bytes()).expect("an action");
    ActionCheckScene::new().refuses(&cancel, &[], "does not verify");
}

#[test]
fn a_rejection_covers_the_bytes_complete_or_not() {
    let scene = ActionCheckScene::new();
    let torn = b"---\nrequest_type: tool_request\n".to_vec();
    let terms =
        |bytes: &[u8]| terms(SignedActionKind::Reject, None, None, vec![document(bytes, ID)]);
    let action = sign(&terms(&torn), from_ref(&torn), &bob());
    let counted = scene.count(&action, from_ref(&torn)).expect("it counts");
    assert_eq!(counted.documents()[0].bytes, torn);
    assert!(counted.documents()[0].signature.name.ends_with(".reject.sig"));
    let mut other = torn;
    other.push(b'\n');
    scene.refuses(&action, from_ref(&other), "has other bytes");
    let stranger = sign(&terms(&other), from_ref(&other), &SoftKey::ed25519(9));
    scene.refuses(&stranger, &[other], "is not in allowed_signers");
}

/// Such a request would run if its rejection stopped counting before the claim.
#[test]
fn a_draft_that_needs_no_signature_is_not_submitted_by_its_rejection() {
    let whole = scene::text(&[]).into_bytes();
    let terms = terms(SignedActionKind::Reject, None, None, vec![document(&whole, ID)]);
    let action = sign(&terms, from_ref(&whole), &alice());
    ActionCheckScene::new().count(&action, from_ref(&whole)).map(drop).expect("it counts");
    let unsigned = [
        ("    low: 1\n", "    low: 0\n"),
        ("    medium: 1\n", "    medium: 0\n"),
        ("owners: []", "owners: [toolexec]"),
    ];
    let policy = scene::policy("standard", &unsigned);
    let scene = ActionCheckScene { policy, ..ActionCheckScene::new() };
    scene.refuses(&action, from_ref(&whole), "needs no signature of its own");
    // Its date is in the future, so it is malformed only now.
    let date = "approved_utc: \"2026-02-09T16:12:00Z\"";
    for later in ["2026-02-09T17:05:00Z", "9999-12-30T00:00:00Z"] {
        let later = format!("approved_utc: \"{later}\"");
        let future = scene::text(&[(date, later.as_str())]).into_bytes();
        let documents = vec![document(&future, ID)];
        let terms = super::terms(SignedActionKind::Reject, None, None, documents);
        let action = sign(&terms, from_ref(&future), &alice());
        scene.refuses(&action, &[future], "needs no signature of its own");
    }
    // A draft as agents write it is not complete.
    let one = draft(ID);
    let terms = super::terms(SignedActionKind::Reject, None, None, vec![document(&one, ID)]);
    let action = sign(&terms, from_ref(&one), &alice());
    scene.count(&action, &[one]).map(drop).expect("it counts");
}
