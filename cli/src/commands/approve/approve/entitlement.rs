//! Checks whether a new signature would count, before it is written. A signature that the daemon
//! would not count must not be left beside a request or in its text. This check must never claim
//! more than the daemon's rules do.

use policies::{DecisionPreview, EntitlementError, RuleVerdict, SshSignature, Verdict};
use validator::{OneLine, reveal_line};

use crate::commands::approve::review::ReviewData;
use crate::failure::Failure;
use crate::output::human;

/// Returns why the signature would not count as this principal's approval. `None` if it would
/// count, or if no `allowed_signers` are known. `case` must already include the signature.
pub(super) fn signature_problem(
    case: &ReviewData,
    by: &OneLine,
    file: &[u8],
) -> Result<Option<String>, Failure> {
    let Some(signers) = &case.rules.signers else { return Ok(None) };
    let unusable = |error: &dyn std::fmt::Display| {
        Failure::Message(format!("the new signature: {error}; help: report this as a bug"))
    };
    let preview = case.preview()?;
    let signature = SshSignature::parse(file).map_err(|error| unusable(&error))?;
    let message = signature.message_about(file, preview.request()).map_err(|it| unusable(&it))?;
    let verified = signature.clone().verify(message).map_err(|error| unusable(&error))?;
    let (key, at) = (verified.key(), preview.request().approved());
    let fingerprint = key.fingerprint();
    if let Err(why) = signers.entitles(&verified, by.as_str(), at) {
        let by = reveal_line(by.as_str());
        let file = case.rules.signers_file.as_deref().map_or("allowed_signers".into(), human::name);
        return Ok(Some(match why {
            EntitlementError::Revoked => {
                format!("key {fingerprint} is revoked; help: sign with another key")
            }
            EntitlementError::Unknown => match signers.principals_of(key, at) {
                Some(names) => {
                    let names = reveal_line(names);
                    format!(
                        "key {fingerprint} belongs to {names} in {file}, not to {by}; help: pass \
                         the name with --approver"
                    )
                }
                None => format!(
                    "key {fingerprint} of {by} is not in {file}; help: add it, or sign with a \
                     listed key"
                ),
            },
            EntitlementError::Namespace => {
                format!(
                    "{file} does not let key {fingerprint} of {by} sign in namespace {}; help: \
                     correct its namespaces, or use another key",
                    verified.namespace()
                )
            }
            EntitlementError::Time => format!(
                "key {fingerprint} of {by} is not valid at approved_utc {at} in {file}; help: sign \
                 with a valid key"
            ),
        }));
    }
    if !preview.signed().iter().any(|(_, known)| *known == fingerprint) {
        let rules = ["approval.self", "approval.revoked", "approval.signature"];
        let why = rules.iter().find_map(|rule| refusal(preview, rule));
        return Ok(Some(why.unwrap_or("this signature would not count").to_owned()));
    }
    // This rule does not apply if the policy requires no signature.
    Ok(refusal(preview, "approval.principal").map(str::to_owned))
}

fn refusal<'o>(preview: &'o DecisionPreview, rule: &str) -> Option<&'o str> {
    let refused = |row: &&RuleVerdict| row.rule == rule && row.verdict == Verdict::Refuse;
    preview.rules().iter().map(|(row, _)| row).find(refused).map(|row| row.reason.as_str())
}
