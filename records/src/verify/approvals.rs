//! The approvals that a record states, verified again: a signature file for each, over the exact bytes
//! of the request, by a key that could approve at the time. It must never count a signature for
//! another principal, use or time than its own, or pass over a rejection.

use model::UtcTime;
use policies::{APPROVE_NAMESPACE, REJECT_NAMESPACE, Signers, SshSignature, Verified};
use serde_json::Value;
use validator::{Draft, OwnerUid, Recalled, Request};

use crate::verify::contradiction::principals;
use crate::verify::model::ApprovalProblem;

/// Whether the record states approvals.
pub(super) fn are_stated(facts: &Value) -> bool {
    facts["approvals"].as_array().is_some_and(|rows| !rows.is_empty())
}

/// Whether a run is stated: what was rejected and never ran is as it should be.
pub(super) fn is_of_a_run(facts: &Value) -> bool {
    facts["started_utc"].is_string()
}

/// Gives how many people's approvals verify, if all do; else whose do not and why. Also where none is
/// stated, nobody who may reject may have rejected what ran.
pub(super) fn check(
    facts: &Value,
    request: Result<&Request, ApprovalProblem>,
    signatures: &[(String, Vec<u8>)],
    approvers: &Signers,
) -> Result<usize, Vec<(String, ApprovalProblem)>> {
    let request = request.map_err(|problem| vec![("all".to_owned(), problem)])?;
    let mut problems = Vec::new();
    let rows = facts["approvals"].as_array().into_iter().flatten();
    for row in rows {
        let word = |key: &str| row[key].as_str().unwrap_or_default();
        let (principal, key) = (word("principal"), word("key"));
        match stands(principal, key, request, signatures, approvers) {
            Ok(()) => {}
            Err(problem) => problems.push((format!("{principal} {key}"), problem)),
        }
    }
    if is_of_a_run(facts)
        && let Some(name) = rejected(request, signatures, approvers)
    {
        problems.push((name, ApprovalProblem::Rejected));
    }
    if problems.is_empty() { Ok(principals(facts).len()) } else { Err(problems) }
}

/// The request as of when the record was made.
pub(super) fn read(facts: &Value, bytes: Vec<u8>) -> Result<Recalled, ApprovalProblem> {
    let unfit = |what: String| ApprovalProblem::Request(what);
    let made = facts["created_utc"].as_str().and_then(|text| text.parse::<UtcTime>().ok());
    let made = made.ok_or_else(|| unfit("created_utc: no time".to_owned()))?;
    let name = facts["request_file"].as_str().unwrap_or_default();
    let draft = Draft::new(bytes, name, OwnerUid::new(0)).map_err(|e| unfit(e.to_string()))?;
    draft.recall(made).map_err(unfit)
}

/// Whether some signature file backs this approval; else why the nearest one does not.
fn stands(
    principal: &str,
    key: &str,
    request: &Request,
    signatures: &[(String, Vec<u8>)],
    approvers: &Signers,
) -> Result<(), ApprovalProblem> {
    let mut nearest = ApprovalProblem::NoSignature;
    for (_, bytes) in signatures {
        let Ok(signature) = SshSignature::parse(bytes) else { continue };
        if signature.namespace() != APPROVE_NAMESPACE || signature.key().fingerprint() != key {
            continue;
        }
        let at = request.approved();
        nearest = match signature.verify(request.bytes()) {
            Err(error) => ApprovalProblem::Signature(error.to_string()),
            Ok(verified) => match approvers.entitles(&verified, principal, at) {
                Ok(()) => return Ok(()),
                Err(why) => ApprovalProblem::NotEntitled(why, at),
            },
        };
    }
    Err(nearest)
}

/// Who rejected the request, if somebody who may did.
fn rejected(
    request: &Request,
    signatures: &[(String, Vec<u8>)],
    approvers: &Signers,
) -> Option<String> {
    signatures.iter().find_map(|(_, bytes)| {
        let signature = SshSignature::parse(bytes).ok()?;
        if signature.namespace() != REJECT_NAMESPACE {
            return None;
        }
        let verified = signature.verify(request.bytes()).ok()?;
        name_of(&verified, request.approved(), approvers)
    })
}

/// A name by which the key may do what it did.
fn name_of(verified: &Verified, at: UtcTime, approvers: &Signers) -> Option<String> {
    let names = approvers.principals_of(verified.key(), at)?;
    let mut names = names.split(',').filter(|name| !name.starts_with('!'));
    names.find(|name| approvers.entitles(verified, name, at).is_ok()).map(str::to_owned)
}
