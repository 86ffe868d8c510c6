//! The one spelling of each action, and the documents that it takes.

use std::slice::from_ref;

use model::Sha256;
use policies::{
    APPROVE_NAMESPACE, ActionDocument, BATCH_NAMESPACE, ORDER_NAMESPACE, REJECT_NAMESPACE,
    SIGNED_ACTION_BYTES_MAX, STANDING_NAMESPACE, SignedAction, SignedActionKind, SignedActionTerms,
};

use super::{STANDING, alice, approval, document, draft, ids, order, sign, terms};
use crate::scene::{ID, NOW, time};

#[test]
fn every_action_is_read_as_it_is_printed() {
    let one = draft(ID);
    let rejected = || vec![document(&one, ID)];
    let of_standing = || vec![document(b"x", STANDING)];
    let hundred: Vec<_> = ids(100).iter().map(|id| document(&draft(id), id)).collect();
    let cases = [
        (approval("alice", rejected()), APPROVE_NAMESPACE),
        (approval("Zoë of Operations", rejected()), APPROVE_NAMESPACE),
        (approval("alice", hundred), BATCH_NAMESPACE),
        (approval("alice", of_standing()), STANDING_NAMESPACE),
        (terms(SignedActionKind::Reject, None, None, rejected()), REJECT_NAMESPACE),
        (terms(SignedActionKind::Reject, None, None, of_standing()), REJECT_NAMESPACE),
        (terms(SignedActionKind::Revoke, None, None, of_standing()), REJECT_NAMESPACE),
        (order(SignedActionKind::Hold, NOW), ORDER_NAMESPACE),
        (order(SignedActionKind::Release, NOW), ORDER_NAMESPACE),
        (order(SignedActionKind::Cancel, NOW), ORDER_NAMESPACE),
    ];
    for (terms, namespace) in cases {
        assert_eq!(terms.namespace(), namespace);
        assert_eq!(SignedActionTerms::parse(&terms.header()).as_ref(), Ok(&terms));
        let signature = alice().sign(namespace, b"any").bytes;
        let signature = String::from_utf8(signature).expect("an armour");
        let action = SignedAction::compose(terms, &signature).expect("an action");
        assert!(action.text().len() < SIGNED_ACTION_BYTES_MAX);
        assert_eq!(SignedAction::parse(action.text().as_bytes()), Ok(action));
    }
    let hold = order(SignedActionKind::Hold, NOW);
    let text = format!("toolexec-order v1\nhold {ID}\nat {NOW}\n");
    assert_eq!(hold.message::<Vec<u8>>(&[]), Ok(text.into_bytes()));
}

#[test]
fn another_spelling_is_not_an_action() {
    let one = draft(ID);
    let good = sign(&approval("alice", vec![document(&one, ID)]), from_ref(&one), &alice()).text();
    let digest = Sha256::of(&one).to_string();
    let line = format!("document: {digest} {ID}\n");
    let replaced = |from: &str, to: &str| {
        assert!(good.contains(from), "{from:?} is not in {good}");
        good.replacen(from, to, 1)
    };
    let (header, armour) = good.split_at(good.find("-----").expect("an armour"));
    let hundred_and_one: String =
        ids(101).iter().map(|id| format!("document: {digest} {id}\n")).collect();
    let malformed = [
        String::new(),
        header.to_owned(),
        armour.to_owned(),
        replaced("v1", "v2"),
        replaced("v1\n", "v1\r\n"),
        good.replace('\n', "\r\n"),
        format!("\u{feff}{good}"),
        format!("\n{good}"),
        format!("{good}\n"),
        format!("{good}{armour}"),
        format!("{good}comment\n"),
        good.trim_end().to_owned(),
        replaced("action: approve", "action: Approve"),
        replaced("action: approve", "action: permit"),
        replaced("action: approve", "action:approve"),
        replaced("action: approve\n", "action: approve\naction: approve\n"),
        replaced("action: approve\n", "action: approve\nnote: x\n"),
        replaced("by: alice\n", ""),
        replaced("by: alice", "by: "),
        replaced("by: alice", "by:  alice"),
        replaced("by: alice", "by: al\u{7}ice"),
        replaced("by: alice", &format!("by: {}", "a".repeat(257))),
        replaced(&format!("at: {NOW}\n"), ""),
        replaced(&format!("at: {NOW}"), "at: 2026-02-09 17:00:00Z"),
        replaced(&format!("at: {NOW}"), "at: 2026-02-30T17:00:00Z"),
        replaced(&format!("by: alice\nat: {NOW}"), &format!("at: {NOW}\nby: alice")),
        replaced(&line, ""),
        replaced(&line, &format!("{line}{line}")),
        replaced(&line, &hundred_and_one),
        replaced(&line, &format!("{line}\n")),
        replaced(&digest, &digest.to_uppercase()),
        replaced(&digest, "-"),
        replaced(&digest, &digest[1..]),
        replaced(&format!(" {ID}\n"), &format!("  {ID}\n")),
        replaced(&format!(" {ID}\n"), &format!(" {ID}.md\n")),
        replaced(&format!(" {ID}\n"), " ../approved/x\n"),
        replaced(&format!(" {ID}\n"), &format!(" {STANDING}\ndocument: {digest} {ID}\n")),
        replaced("-----END", "----- END"),
        replaced("BEGIN SSH", "BEGIN PGP"),
        replaced("SIGNATURE-----\n", "SIGNATURE-----\n \n"),
        format!("{header}{}", String::from_utf8_lossy(&alice().sign(REJECT_NAMESPACE, b"x").bytes)),
        format!("{header}{}", "a".repeat(SIGNED_ACTION_BYTES_MAX)),
    ];
    for text in malformed {
        let read = SignedAction::parse(text.as_bytes());
        assert!(read.is_err(), "{text}");
    }
    let mut bytes = good.into_bytes();
    bytes[30] = 0xff;
    assert!(SignedAction::parse(&bytes).is_err());
}

#[test]
fn an_action_takes_only_its_own_documents() {
    let (request, standing) = (document(b"x", ID), document(b"x", STANDING));
    let bare = ActionDocument { sha256: None, ..request.clone() };
    let dotted = document(b"x", "TR-20260209-160501Z-a.b");
    let other = document(b"x", "TR-20260209-160501Z-other");
    let new = |kind: SignedActionKind, documents: &[&ActionDocument]| {
        let by = (kind == SignedActionKind::Approve).then(|| "alice".parse().expect("a name"));
        let at = kind.has_time().then(|| time(NOW));
        let documents = documents.iter().map(|it| (*it).clone()).collect();
        SignedActionTerms::new(kind, by, at, documents)
    };
    let refused: [(SignedActionKind, &[&ActionDocument]); 12] = [
        (SignedActionKind::Approve, &[]),
        (SignedActionKind::Approve, &[&bare]),
        (SignedActionKind::Approve, &[&request, &standing]),
        (SignedActionKind::Approve, &[&request, &request]),
        (SignedActionKind::Approve, &[&dotted]),
        (SignedActionKind::Reject, &[&request, &other]),
        (SignedActionKind::Reject, &[&bare]),
        (SignedActionKind::Revoke, &[&request]),
        (SignedActionKind::Hold, &[&request]),
        (SignedActionKind::Hold, &[&standing]),
        (SignedActionKind::Cancel, &[&bare, &bare]),
        (SignedActionKind::Release, &[]),
    ];
    for (kind, documents) in refused {
        assert!(new(kind, documents).is_err(), "{kind} of {documents:?}");
    }
    assert!(new(SignedActionKind::Approve, &[&request, &other]).is_ok());
    assert!(new(SignedActionKind::Hold, &[&bare]).is_ok());
}
