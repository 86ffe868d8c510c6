//! Verification of the approvals that a record states: each needs a signature file over the exact
//! bytes of the request, over a batch that lists them, or over the standing approval that the run
//! used, by a key that could approve at that time. It must never count a signature for another
//! principal, use or time than its own, nor ignore a rejection.
//!
//! The record has the digest of the policy and not its list of origins. A passkey's signature must
//! therefore have the domain, the origin and the flags that the record states, so that a reader can
//! compare these with the policy.

use model::UtcTime;
use policies::{
    AllowedSigners, BatchError, REJECT_NAMESPACE, STANDING_NAMESPACE, SshSignature,
    VerifiedSshSignature,
};
use serde_json::{Value, json};
use validator::{Draft, OwnerUid, PastRequest, Request, StandingApproval};

use crate::reason::split_reason;
use crate::verify::inconsistency::principals;
use crate::verify::model::ApprovalProblem;

pub(super) fn are_stated(facts: &Value) -> bool {
    facts["approvals"].as_array().is_some_and(|rows| !rows.is_empty())
}

/// Returns whether the record states a run. A rejected request that never ran is in order.
pub(super) fn is_of_a_run(facts: &Value) -> bool {
    facts["started_utc"].is_string()
}

/// Returns the number of approvers if all their approvals verify, else each failed approval. No
/// authorized key may have rejected a run, even if no approval is stated.
pub(super) fn check(
    facts: &Value,
    request: Result<&Request, ApprovalProblem>,
    standing: Option<&StandingApproval>,
    signatures: &[(String, Vec<u8>)],
    approvers: &AllowedSigners,
) -> Result<usize, Vec<(String, ApprovalProblem)>> {
    let request = request.map_err(|problem| vec![("all".to_owned(), problem)])?;
    let document = standing.map_or(ApprovedDocument::Request(request), ApprovedDocument::Standing);
    let mut problems = Vec::new();
    let rows = facts["approvals"].as_array().into_iter().flatten();
    for row in rows {
        match check_approval(row, document, signatures, approvers) {
            Ok(()) => {}
            Err(problem) => {
                let (principal, key) = (word(row, "principal"), word(row, "key"));
                problems.push((format!("{principal} {key}"), problem));
            }
        }
    }
    let documents =
        [Some(ApprovedDocument::Request(request)), standing.map(ApprovedDocument::Standing)];
    for document in documents.into_iter().flatten().filter(|_| is_of_a_run(facts)) {
        if let Some(name) = rejecting_principal(document, signatures, approvers) {
            problems.push((name, ApprovalProblem::Rejected));
        }
    }
    if problems.is_empty() { Ok(principals(facts).len()) } else { Err(problems) }
}

/// The document that the approvers have signed.
#[derive(Clone, Copy)]
enum ApprovedDocument<'d> {
    Request(&'d Request),
    Standing(&'d StandingApproval),
}

impl<'d> ApprovedDocument<'d> {
    fn bytes(self) -> &'d [u8] {
        match self {
            Self::Request(request) => request.bytes(),
            Self::Standing(standing) => standing.bytes(),
        }
    }

    fn approved(self) -> UtcTime {
        match self {
            Self::Request(request) => request.approved(),
            Self::Standing(standing) => {
                let terms = standing.terms();
                terms.approved.unwrap_or(terms.created)
            }
        }
    }

    fn is_approved_by(self, signature: &SshSignature) -> bool {
        match self {
            Self::Request(_) => signature.is_approval(),
            Self::Standing(_) => signature.namespace() == STANDING_NAMESPACE,
        }
    }

    /// Returns the bytes that the signature must cover.
    fn message(self, signature: &SshSignature, file: &'d [u8]) -> Result<&'d [u8], BatchError> {
        match self {
            Self::Request(request) => signature.message_about(file, request),
            Self::Standing(standing) => Ok(standing.bytes()),
        }
    }
}

/// Parses the request as of the time when the record was made.
pub(super) fn read(facts: &Value, bytes: Vec<u8>) -> Result<PastRequest, ApprovalProblem> {
    let unfit = |what: String| ApprovalProblem::Request(what);
    let made = facts["created_utc"].as_str().and_then(|text| text.parse::<UtcTime>().ok());
    let made = made.ok_or_else(|| unfit("created_utc: not a time".to_owned()))?;
    let name = facts["request_file"].as_str().unwrap_or_default();
    let draft = Draft::new(bytes, name, OwnerUid::new(0))
        .map_err(|error| unfit(split_reason(&error.to_string()).0.to_owned()))?;
    draft.read_recorded(made).map_err(unfit)
}

fn word<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_default()
}

/// Checks that a signature file proves this approval; else returns the last candidate's problem.
fn check_approval(
    row: &Value,
    document: ApprovedDocument<'_>,
    signatures: &[(String, Vec<u8>)],
    approvers: &AllowedSigners,
) -> Result<(), ApprovalProblem> {
    let (principal, key) = (word(row, "principal"), word(row, "key"));
    let mut nearest = ApprovalProblem::NoSignature;
    for (_, bytes) in signatures {
        let Ok(signature) = SshSignature::parse(bytes) else { continue };
        if !document.is_approved_by(&signature) || signature.key().fingerprint() != key {
            continue;
        }
        let at = document.approved();
        let message = match document.message(&signature, bytes) {
            Ok(message) => message,
            Err(error) => {
                nearest = ApprovalProblem::Signature(error.to_string());
                continue;
            }
        };
        nearest = match signature.verify_with_passkeys(message) {
            Err(error) => ApprovalProblem::Signature(error.to_string()),
            Ok(verified) if !states_touch(row, &verified) => ApprovalProblem::Passkey,
            Ok(verified) => match approvers.entitles(&verified, principal, at) {
                Ok(()) => return Ok(()),
                Err(why) => ApprovalProblem::NotEntitled(why, at),
            },
        };
    }
    Err(nearest)
}

/// Returns whether the record states the touch of this signature. Records state it of each passkey.
/// Of other keys only that they are none is checked, as in every earlier version.
fn states_touch(row: &Value, verified: &VerifiedSshSignature) -> bool {
    let stated = &row["touch"];
    match (verified.touch(), verified.webauthn()) {
        (Some(touch), Some(facts)) => {
            let found = json!({
                "user_verified": touch.user_verified(),
                "counter": touch.counter(),
                "webauthn": {
                    "rp_id": facts.rp_id(),
                    "origin": facts.origin(),
                    "backup_eligible": facts.backup_eligible(),
                    "backed_up": facts.backed_up(),
                },
            });
            *stated == found
        }
        _ => stated["webauthn"].is_null(),
    }
}

/// Returns the name of an authorized principal who rejected the document, if any. A passkey's
/// rejection counts with any origin: the policy that would refuse it is not known here.
fn rejecting_principal(
    document: ApprovedDocument<'_>,
    signatures: &[(String, Vec<u8>)],
    approvers: &AllowedSigners,
) -> Option<String> {
    signatures.iter().find_map(|(_, bytes)| {
        let signature = SshSignature::parse(bytes).ok()?;
        if signature.namespace() != REJECT_NAMESPACE {
            return None;
        }
        let verified = signature.verify_with_passkeys(document.bytes()).ok()?;
        entitled_principal(&verified, document.approved(), approvers)
    })
}

fn entitled_principal(
    verified: &VerifiedSshSignature,
    at: UtcTime,
    approvers: &AllowedSigners,
) -> Option<String> {
    let names = approvers.principals_of(verified.key(), at)?;
    let mut names = names.split(',').filter(|name| !name.starts_with('!'));
    names.find(|name| approvers.entitles(verified, name, at).is_ok()).map(str::to_owned)
}
