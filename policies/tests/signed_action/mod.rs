//! Signed actions: each has one spelling, and its signature counts only for the action, the bytes
//! and the time that it names.

mod counting;
mod form;
mod touch;

use model::{HostAudience, Sha256, UtcTime};
use policies::{
    ActionDocument, AllowedSigners, CountedAction, Policy, SignedAction, SignedActionEvidence,
    SignedActionKind, SignedActionTerms,
};
use validator::OneLine;

use crate::scene::{self, ID, NOW, time};
use crate::soft::SoftKey;

const STANDING: &str = "SA-20260209-160501Z-means";

fn alice() -> SoftKey {
    SoftKey::ed25519(1)
}

fn bob() -> SoftKey {
    SoftKey::p256(2)
}

/// A draft: the valid request without its approval.
fn draft(id: &str) -> Vec<u8> {
    let text = scene::text(&[
        ("approved_by: \"alice\"", "approved_by: \"\""),
        ("approved_utc: \"2026-02-09T16:12:00Z\"", "approved_utc: \"\""),
        (ID, id),
    ]);
    text.into_bytes()
}

fn document(bytes: &[u8], id: &str) -> ActionDocument {
    ActionDocument { sha256: Some(Sha256::of(bytes)), target: id.parse().expect("an id") }
}

fn approval(by: &str, documents: Vec<ActionDocument>) -> SignedActionTerms {
    terms(SignedActionKind::Approve, Some(by), Some(NOW), documents)
}

fn terms(
    kind: SignedActionKind,
    by: Option<&str>,
    at: Option<&str>,
    documents: Vec<ActionDocument>,
) -> SignedActionTerms {
    let by = by.map(|by| by.parse::<OneLine>().expect("a name"));
    SignedActionTerms::new(kind, by, at.map(time), documents).expect("an action")
}

fn order(kind: SignedActionKind, at: &str) -> SignedActionTerms {
    let target = ID.parse().expect("an id");
    terms(kind, None, Some(at), vec![ActionDocument { sha256: None, target }])
}

/// Signs an action about these drafts.
fn sign(terms: &SignedActionTerms, drafts: &[Vec<u8>], key: &SoftKey) -> SignedAction {
    let filled = |(named, draft): (&ActionDocument, &Vec<u8>)| {
        terms.signed_document(&named.target, draft).expect("a draft")
    };
    let documents: Vec<_> = terms.documents().iter().zip(drafts).map(filled).collect();
    let message = terms.message(&documents).expect("a message");
    let signature = key.sign(terms.namespace(), &message).bytes;
    let signature = String::from_utf8(signature).expect("an armour");
    SignedAction::compose(terms.clone(), &signature).expect("a signed action")
}

fn signers(text: &str) -> AllowedSigners {
    AllowedSigners::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn both() -> AllowedSigners {
    signers(&format!("alice {}\nbob {}\n", alice().public(), bob().public()))
}

/// The facts of the host, which a test changes.
struct ActionCheckScene {
    policy: Policy,
    signers: Option<AllowedSigners>,
    now: UtcTime,
    no_effect_until: Option<UtcTime>,
}

impl ActionCheckScene {
    fn new() -> Self {
        Self {
            policy: scene::shipped("standard"),
            signers: Some(both()),
            now: time(NOW),
            no_effect_until: Some(time("2026-02-09T16:50:00Z")),
        }
    }

    fn at(now: &str) -> Self {
        Self { now: time(now), ..Self::new() }
    }

    fn count(&self, action: &SignedAction, drafts: &[Vec<u8>]) -> Result<CountedAction, String> {
        let evidence = SignedActionEvidence {
            policy: &self.policy,
            signers: self.signers.as_ref(),
            host: HostAudience::default(),
            now: self.now,
            no_effect_until: self.no_effect_until,
        };
        action.count(drafts, &evidence).map_err(|refusal| refusal.to_string())
    }

    #[track_caller]
    fn refuses(&self, action: &SignedAction, drafts: &[Vec<u8>], reason: &str) {
        let refused = self.count(action, drafts).expect_err("a refusal");
        assert!(refused.contains(reason), "{reason:?} is not in {refused:?}");
    }
}

fn ids(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("TR-20260209-160501Z-n{it}")).collect()
}
