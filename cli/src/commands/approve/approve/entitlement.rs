//! Checks whether a new signature would count, before it is written. A signature that the daemon
//! would not count must not be left beside a request or in its text. This check must never claim
//! more than the daemon's rules do.

use model::UtcTime;
use policies::{
    DecisionPreview, EntitlementError, RuleVerdict, SignatureFile, SshSignature, Verdict,
    VerifiedSshSignature,
};
use validator::{Code, OneLine, reveal_line};

use crate::commands::approve::review::{HostRules, ReviewData, StandingReview};
use crate::failure::Failure;
use crate::output::human;

/// Returns why the signature would not count as this principal's approval. `None` if it would
/// count, or if no `allowed_signers` are known. `case` must already include the signature.
pub(super) fn signature_problem(
    case: &ReviewData,
    by: &OneLine,
    file: &[u8],
) -> Result<Option<String>, Failure> {
    if case.rules.signers.is_none() {
        return Ok(None);
    }
    let preview = case.preview()?;
    let signature = SshSignature::parse(file).map_err(|error| unusable(&error))?;
    let message = signature.message_about(file, preview.request()).map_err(|it| unusable(&it))?;
    let verified = signature.clone().verify(message).map_err(|error| unusable(&error))?;
    if let Some(why) = key_problem(&case.rules, &verified, by, preview.request().approved()) {
        return Ok(Some(why));
    }
    let fingerprint = verified.key().fingerprint();
    if !preview.signed().iter().any(|(_, known)| *known == fingerprint) {
        let rules = ["approval.self", "approval.revoked", "approval.signature"];
        let why = rules.iter().find_map(|rule| refusal(preview, rule));
        return Ok(Some(why.unwrap_or("this signature would not count").to_owned()));
    }
    // This rule does not apply if the policy requires no signature.
    Ok(refusal(preview, "approval.principal").map(str::to_owned))
}

/// Returns why the signature would not count as this principal's approval of a standing approval.
/// `None` if it would count, or if no `allowed_signers` are known. `case` must not include it yet.
pub(super) fn standing_signature_problem(
    case: &StandingReview,
    by: &OneLine,
    file: &SignatureFile,
) -> Result<Option<String>, Failure> {
    let (Some(_), Some(standing)) = (&case.rules.signers, &case.standing) else { return Ok(None) };
    let signature = SshSignature::parse(&file.bytes).map_err(|error| unusable(&error))?;
    let verified = signature.verify(standing.bytes()).map_err(|error| unusable(&error))?;
    let terms = standing.terms();
    if let Some(why) =
        key_problem(&case.rules, &verified, by, terms.approved.unwrap_or(terms.created))
    {
        return Ok(Some(why));
    }
    // Alone, it is reported whenever it does not count. Others may have signed for `approved_by`.
    let alone = case.admission(std::slice::from_ref(file));
    let all = [case.signatures.as_slice(), std::slice::from_ref(file)].concat();
    let all = case.admission(&all);
    let own = [Code::ApprovalSignature, Code::ApprovalRevoked];
    let own = alone.iter().find(|row| own.contains(&row.code));
    let row = own.or_else(|| all.iter().find(|row| row.code == Code::ApprovalPrincipal));
    let id = format!("{}: ", terms.id);
    Ok(row.map(|row| row.message.strip_prefix(&id).unwrap_or(&row.message).to_owned()))
}

fn unusable(error: &dyn std::fmt::Display) -> Failure {
    Failure::Message(format!("the new signature: {error}; help: report this as a bug"))
}

/// Returns why the trusted keys do not let the signature count for this principal.
fn key_problem(
    rules: &HostRules,
    verified: &VerifiedSshSignature,
    by: &OneLine,
    at: UtcTime,
) -> Option<String> {
    let signers = rules.signers.as_ref()?;
    let why = signers.entitles(verified, by.as_str(), at).err()?;
    let (key, by) = (verified.key(), reveal_line(by.as_str()));
    let fingerprint = key.fingerprint();
    let file = rules.signers_file.as_deref().map_or("allowed_signers".into(), human::name);
    Some(match why {
        EntitlementError::Revoked => {
            format!("key {fingerprint} is revoked; help: sign with another key")
        }
        EntitlementError::Unknown => match signers.principals_of(key, at) {
            Some(names) => {
                let names = reveal_line(names);
                format!(
                    "key {fingerprint} belongs to {names} in {file}, not to {by}; help: pass the \
                     name with --approver"
                )
            }
            None => format!(
                "key {fingerprint} of {by} is not in {file}; help: add it, or sign with a listed \
                 key"
            ),
        },
        EntitlementError::Namespace => {
            format!(
                "{file} does not let key {fingerprint} of {by} sign in namespace {}; help: correct \
                 its namespaces, or use another key",
                verified.namespace()
            )
        }
        EntitlementError::Time => format!(
            "key {fingerprint} of {by} is not valid at approved_utc {at} in {file}; help: sign \
             with a valid key"
        ),
    })
}

fn refusal<'o>(preview: &'o DecisionPreview, rule: &str) -> Option<&'o str> {
    let refused = |row: &&RuleVerdict| row.rule == rule && row.verdict == Verdict::Refuse;
    preview.rules().iter().map(|(row, _)| row).find(refused).map(|row| row.reason.as_str())
}
