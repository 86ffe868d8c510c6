//! A whole world for one decision, as plain choices: the request, the policy, and all evidence.
//! Equal parts of two worlds have equal bytes. It must never make a decision itself.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{LazyLock, Mutex};

use policies::ais::{self, EnvironmentDigests};
use policies::permissions::{PermissionDenial, ToolFinding};
use policies::{
    APPROVE_NAMESPACE, AisEvidence, AisFile, AllowedSigners, Decision, InstalledRuntimes,
    LedgerEvidence, PermissionEvidence, Policy, REJECT_NAMESPACE, REQUEST_NAMESPACE, RevokedKeys,
    SignatureFile, SubmissionOrigin,
};
use serde_json::json;
use validator::{OwnerUid, Request};

use super::bundle;
use super::choices::{PolicyChoices, RequestChoices};
use super::scene::{self, DecisionScene};
use super::soft::SoftKey;

/// The people, by number. The last is unknown to the host.
pub(crate) const PEOPLE: [&str; 4] = ["alice", "bob", "carol", "eve"];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum VotePurpose {
    Approve,
    Reject,
    Request,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum BundleChoice {
    Missing,
    Broken,
    Expired,
    IntentRevoked,
    Good,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoredPermission {
    Nothing,
    Missing,
    Granted,
    Denied,
    LeftOut,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) request: RequestChoices,
    pub(crate) rules: PolicyChoices,
    pub(crate) invoked: bool,
    /// True if the host knows the submitter's name.
    pub(crate) named: bool,
    pub(crate) votes: Vec<(usize, VotePurpose)>,
    pub(crate) unread: bool,
    /// The people whose keys are in the trust store, if one exists.
    pub(crate) signers: Option<BTreeSet<usize>>,
    pub(crate) revoked: BTreeSet<usize>,
    pub(crate) permission: StoredPermission,
    pub(crate) bound: BundleChoice,
    pub(crate) trusted: bool,
    pub(crate) nonce_used: bool,
    pub(crate) ledger: LedgerEvidence,
    pub(crate) runtime_found: bool,
}

fn key(person: usize) -> SoftKey {
    let seed = u8::try_from(person + 1).expect("few people");
    if person == 1 { SoftKey::p256(seed) } else { SoftKey::ed25519(seed) }
}

impl World {
    pub(crate) fn signatures(&self) -> Vec<SignatureFile> {
        let text = self.request.text();
        let file = |(index, (person, act)): (usize, &(usize, VotePurpose))| {
            let namespace = match act {
                VotePurpose::Approve => APPROVE_NAMESPACE,
                VotePurpose::Reject => REJECT_NAMESPACE,
                VotePurpose::Request => REQUEST_NAMESPACE,
            };
            let mut file = key(*person).sign(namespace, text.as_bytes());
            file.name = format!("r.md.{index}.sig");
            file
        };
        self.votes.iter().enumerate().map(file).collect()
    }

    /// Returns whether a person's signature counts here.
    pub(crate) fn counts(&self, person: usize) -> bool {
        let known = self.signers.as_ref().is_some_and(|signers| signers.contains(&person));
        known && !self.revoked.contains(&person)
    }

    pub(crate) fn needs_permission(&self) -> bool {
        self.is_covered(self.rules.asks_permission)
    }

    pub(crate) fn needs_bundle(&self) -> bool {
        self.is_covered(self.rules.asks_bundle)
    }

    fn is_covered(&self, covers: usize) -> bool {
        covers == 2 || covers == 1 && (self.request.drafted || self.request.agent)
    }

    pub(crate) fn decide(&self) -> Decision {
        self.decide_with(self.signatures())
    }

    pub(crate) fn decide_with(&self, signatures: Vec<SignatureFile>) -> Decision {
        static TRUST: LazyLock<ais::AisTrustStore> =
            LazyLock::new(|| bundle::trust(&bundle::trust_value()));
        let policy = policy_of(self.rules);
        let request = scene::request_of(self.request.text().as_bytes());
        let file = self.bundle(&request);
        let nonces_used: HashSet<String> =
            self.nonce_used.then(|| "3f9c1d2e".to_owned()).into_iter().collect();
        let ais = AisEvidence {
            file: &file,
            trust: self.trusted.then_some(&*TRUST),
            supply: &EnvironmentDigests::default(),
            nonces_used: Some(&nonces_used),
        };
        self.scene(signatures).decide_with(ais, request, &policy)
    }

    fn scene(&self, signatures: Vec<SignatureFile>) -> DecisionScene {
        let name = self.named.then(|| "alice".to_owned());
        let owner = OwnerUid::new(1000);
        let submission = match self.invoked {
            true => SubmissionOrigin::Invoked { uid: 1000, name },
            false => SubmissionOrigin::Submitted { owner, owner_name: name },
        };
        DecisionScene {
            submission,
            signatures,
            unread_signatures: self
                .unread
                .then(|| "r.md.x.sig: a FIFO".to_owned())
                .into_iter()
                .collect(),
            signers: self.signers(),
            origin: Some("host1.example".to_owned()),
            ledger: self.ledger.clone(),
            permission: self.permission(),
            binaries: if self.runtime_found { scene::found() } else { InstalledRuntimes::new() },
            ..DecisionScene::default()
        }
    }

    fn signers(&self) -> Option<AllowedSigners> {
        let line = |person: &usize| format!("{} {}\n", PEOPLE[*person], key(*person).public());
        let lines: String = self.signers.as_ref()?.iter().map(line).collect();
        let signers = AllowedSigners::parse(&lines).unwrap_or_else(|error| panic!("{error}"));
        let keys: String =
            self.revoked.iter().map(|it| format!("{}\n", key(*it).public())).collect();
        let revoked = RevokedKeys::parse(keys.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        Some(signers.with_revoked(revoked))
    }

    fn permission(&self) -> PermissionEvidence {
        match self.permission {
            StoredPermission::Nothing => PermissionEvidence::NotQueried,
            StoredPermission::Missing => PermissionEvidence::Queried(ToolFinding::Missing),
            StoredPermission::Granted => PermissionEvidence::Queried(ToolFinding::Granted(
                "G7.0".parse().expect("a grant's name"),
            )),
            StoredPermission::Denied => {
                PermissionEvidence::Queried(ToolFinding::Denied(PermissionDenial::Named))
            }
            StoredPermission::LeftOut => {
                PermissionEvidence::Queried(ToolFinding::Denied(PermissionDenial::LeftOut))
            }
        }
    }

    fn bundle(&self, request: &Request) -> AisFile {
        let name = "r.ais.json".to_owned();
        match self.bound {
            BundleChoice::Missing => AisFile::Missing,
            BundleChoice::Broken => {
                AisFile::Read { name, bytes: b"{\"uia\":1,\"uia\":2}".to_vec() }
            }
            bound => AisFile::Read { name, bytes: bundle_of(self.request, bound, request) },
        }
    }
}

/// Parses a policy once, because most steps do not change it.
fn policy_of(rules: PolicyChoices) -> Policy {
    static READ: Mutex<BTreeMap<PolicyChoices, Policy>> = Mutex::new(BTreeMap::new());
    let known = READ.lock().expect("no test panics here").get(&rules).cloned();
    if let Some(policy) = known {
        return policy;
    }
    let policy = Policy::parse(rules.text().as_bytes(), "test.yaml");
    let policy = policy.unwrap_or_else(|error| panic!("{error}"));
    READ.lock().expect("no test panics here").insert(rules, policy.clone());
    policy
}

/// Makes a bundle once for each request, because seven signatures take time.
fn bundle_of(choices: RequestChoices, bound: BundleChoice, request: &Request) -> Vec<u8> {
    static MADE: Mutex<BTreeMap<(RequestChoices, BundleChoice), Vec<u8>>> =
        Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().expect("no test panics here");
    let make = || {
        let mut scene = bundle::AisScene::good();
        scene.set("apa", "/steps/0/args", json!(ais::step_args(request)));
        let ends = if bound == BundleChoice::Expired {
            "2026-02-09T16:00:00Z"
        } else {
            "2026-02-09T17:10:00Z"
        };
        scene.set("ibe", "/exp", json!(ends));
        scene.set("crl", "/issued", json!("2026-02-09T16:55:00Z"));
        scene.set("crl", "/expires", json!("2026-02-09T17:55:00Z"));
        if bound == BundleChoice::IntentRevoked {
            let id = scene.parts["uia"]["id"].clone();
            let row = json!([{ "type": "UIA", "id": id, "reason": "user-revoked" }]);
            scene.set("crl", "/revoked", row);
        }
        // The digest of the model. Digests of the host are compared only if they are given.
        scene.signed().to_string().into_bytes()
    };
    made.entry((choices, bound)).or_insert_with(make).clone()
}
