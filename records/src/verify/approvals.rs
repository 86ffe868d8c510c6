//! Verification of the approvals that a record states: each needs a signature file over the exact
//! bytes of the request or over a batch that lists them, by a key that could approve at that time. It must never count a signature
//! for another principal, use or time than its own, nor ignore a rejection.

use model::UtcTime;
use policies::{AllowedSigners, REJECT_NAMESPACE, SshSignature, VerifiedSshSignature};
use serde_json::Value;
use validator::{Draft, OwnerUid, PastRequest, Request};

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
    signatures: &[(String, Vec<u8>)],
    approvers: &AllowedSigners,
) -> Result<usize, Vec<(String, ApprovalProblem)>> {
    let request = request.map_err(|problem| vec![("all".to_owned(), problem)])?;
    let mut problems = Vec::new();
    let rows = facts["approvals"].as_array().into_iter().flatten();
    for row in rows {
        let word = |key: &str| row[key].as_str().unwrap_or_default();
        let (principal, key) = (word("principal"), word("key"));
        match check_approval(principal, key, request, signatures, approvers) {
            Ok(()) => {}
            Err(problem) => problems.push((format!("{principal} {key}"), problem)),
        }
    }
    if is_of_a_run(facts)
        && let Some(name) = rejecting_principal(request, signatures, approvers)
    {
        problems.push((name, ApprovalProblem::Rejected));
    }
    if problems.is_empty() { Ok(principals(facts).len()) } else { Err(problems) }
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

/// Checks that a signature file proves this approval; else returns the last candidate's problem.
fn check_approval(
    principal: &str,
    key: &str,
    request: &Request,
    signatures: &[(String, Vec<u8>)],
    approvers: &AllowedSigners,
) -> Result<(), ApprovalProblem> {
    let mut nearest = ApprovalProblem::NoSignature;
    for (_, bytes) in signatures {
        let Ok(signature) = SshSignature::parse(bytes) else { continue };
        if !signature.is_approval() || signature.key().fingerprint() != key {
            continue;
        }
        let at = request.approved();
        let message = match signature.message_about(bytes, request) {
            Ok(message) => message,
            Err(error) => {
                nearest = ApprovalProblem::Signature(error.to_string());
                continue;
            }
        };
        nearest = match signature.verify(message) {
            Err(error) => ApprovalProblem::Signature(error.to_string()),
            Ok(verified) => match approvers.entitles(&verified, principal, at) {
                Ok(()) => return Ok(()),
                Err(why) => ApprovalProblem::NotEntitled(why, at),
            },
        };
    }
    Err(nearest)
}

/// Returns the name of an authorized principal who rejected the request, if any.
fn rejecting_principal(
    request: &Request,
    signatures: &[(String, Vec<u8>)],
    approvers: &AllowedSigners,
) -> Option<String> {
    signatures.iter().find_map(|(_, bytes)| {
        let signature = SshSignature::parse(bytes).ok()?;
        if signature.namespace() != REJECT_NAMESPACE {
            return None;
        }
        let verified = signature.verify(request.bytes()).ok()?;
        entitled_principal(&verified, request.approved(), approvers)
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
