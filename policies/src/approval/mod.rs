//! The rules about whose word counts. A name in the text must never count as anybody's word, and
//! where policy asks for signatures nothing else may stand in for them.
//!
//! The way in is `judge`, a pure function of the request, the signature files, the trust store, the
//! policy, the present time and the ledger's answer. `votes` verifies, `people` and `standing` hold
//! one rule in each function; `sshsig`, `signers` and `revoked` read OpenSSH's formats and mean by
//! them what `ssh-keygen -Y verify` means.

mod armour;
mod key;
mod krl;
mod line;
mod pattern;
mod people;
mod revoked;
mod risk;
mod signers;
mod sshsig;
mod standing;
mod submitter;
mod validity;
mod votes;
mod wire;

use model::UtcTime;
use validator::{Code, Request, RiskLevel};

use crate::decision::Findings;
use crate::evidence::Evidence;
use crate::policy::Policy;
use people::People;
use votes::{Scrutiny, Votes};

pub use key::{KeyError, KeyKind, SignerKey};
pub use revoked::{REVOKED_BYTES_MAX, Revoked, RevokedError};
pub use signers::{NotEntitled, SIGNERS_BYTES_MAX, Signers, SignersError};
pub use sshsig::{SIGNATURE_BYTES_MAX, SignatureError, SshSignature, Touch, Verified};
pub use validity::StandardTime;
pub use votes::{APPROVE_NAMESPACE, REJECT_NAMESPACE, REQUEST_NAMESPACE, SIGNATURE_FILES_MAX};

/// By whose word a request runs.
#[derive(Debug)]
pub(crate) struct Approval {
    pub(crate) text: String,
    /// Principal and key fingerprint of each signature.
    pub(crate) signed: Vec<(String, String)>,
    /// How many different people those are.
    pub(crate) people: usize,
    /// What each security key among them said, by fingerprint.
    pub(crate) touches: Vec<(String, Touch)>,
    /// The last second in which it is good for a start.
    pub(crate) expires: Option<UtcTime>,
}

impl Approval {
    /// Of a request that nobody has approved, for its outlook alone.
    pub(crate) fn nobodys() -> Self {
        let text = "nobody has approved it".to_owned();
        Self { text, signed: Vec::new(), people: 0, touches: Vec::new(), expires: None }
    }
}

/// The approval, where every rule about it is content.
pub(crate) fn judge(
    request: &Request,
    policy: &Policy,
    evidence: &Evidence<'_>,
    findings: &mut Findings,
) -> Option<Approval> {
    let rules = &policy.rules.approval;
    let (class, why, min) = asked(request, policy);
    findings.pass("approval.risk", why);
    standing::date_order(request, evidence.now, findings);
    let expires = standing::age(request, rules, evidence.now, findings);
    standing::audience(request, rules, evidence.origin, findings);
    standing::single_use(&evidence.ledger, findings);
    let votes = votes(request, policy, evidence);
    standing::rejection(votes.as_ref(), evidence.unread_signatures, findings);
    let known = votes.unwrap_or_default();
    let people = People::among(request, rules, &known, evidence.signers, min);
    let text = if min == 0 {
        people.not_asked(findings);
        submitter::judge(&people, rules, &evidence.submission, findings)
    } else {
        findings.not_applicable("approval.submitter", "policy asks for signatures");
        if evidence.signers.is_none() {
            no_signers(findings);
        } else {
            people.signatures(findings);
        }
        people.revoked(findings);
        people.self_approval(findings);
        people.count(class, findings);
        people.principal(findings);
        Some(format!("signed by {} of {min}", people.count_of()))
    };
    let (signed, touches) = (people.signed(), people.touches());
    Some(Approval { text: text?, signed, people: people.count_of(), touches, expires })
}

/// What is asked of an approval of this request: its risk class, why it is that one, and how many
/// people must have signed.
pub(crate) fn asked(request: &Request, policy: &Policy) -> (RiskLevel, String, usize) {
    let (class, why) = risk::class(request, &policy.rules.risk);
    (class, why, policy.rules.approval.signatures_min.of(class))
}

fn votes<'s>(request: &Request, policy: &Policy, evidence: &Evidence<'s>) -> Option<Votes<'s>> {
    let signers = evidence.signers?;
    let user_verification = policy.rules.approval.user_verification;
    let scrutiny = Scrutiny { signers, user_verification, now: evidence.now };
    Some(Votes::count(request, evidence.signatures, &scrutiny))
}

fn no_signers(findings: &mut Findings) {
    let reason = "no allowed_signers are configured, so no signature can be verified";
    let hint = "give the daemon an allowed_signers file";
    findings.lack("approval.signature", Code::ApprovalSignature, reason, hint);
}
