//! The rules about the request as a whole: times, host, single use, rejection. Signatures can
//! outvote none of them.

use model::{HostAudience, UtcTime, escape_line};
use validator::{CLOCK_SKEW_SEC, Code, Request};

use super::document::SignedDocument;
use super::model::SIGNATURE_FILES_MAX;
use super::verified_signatures::VerifiedSignatures;
use crate::evidence::LedgerEvidence;
use crate::findings::Findings;
use crate::model::ApprovalRules;
use crate::reasons::RuleName;

/// Checks the order of the dates again: the decision may come days after the validator's check.
pub(super) fn date_order(document: SignedDocument<'_>, now: UtcTime, findings: &mut Findings) {
    const RULE: RuleName = RuleName::ApprovalDateOrder;
    let (created, approved) = (document.created(), document.approved());
    let later = |a: UtcTime, b: UtcTime| a.unix() > b.unix().saturating_add(CLOCK_SKEW_SEC);
    let reason = if later(created, approved) {
        format!("approved_utc: {approved} is before created_utc {created}")
    } else if later(approved, now) {
        format!("approved_utc: {approved} is in the future; now {now}")
    } else {
        findings.pass(RULE, format!("created {created}, approved {approved}, now {now}"));
        return;
    };
    let hint = "correct the clocks, and approve the request again";
    findings.refuse(RULE, Code::ApprovalDateOrder, reason, hint);
}

/// Checks the age of the approval. Returns its last valid second, if policy sets a maximum age. A
/// standing approval states its own end.
pub(super) fn age(
    document: SignedDocument<'_>,
    rules: &ApprovalRules,
    now: UtcTime,
    findings: &mut Findings,
) -> Option<UtcTime> {
    const RULE: RuleName = RuleName::ApprovalAge;
    if let SignedDocument::Standing(standing) = document {
        let end = standing.terms().not_after;
        findings.not_applicable(RULE, format!("the standing approval ends at {end}"));
        return Some(UtcTime::from_unix(end.unix().saturating_sub(1)));
    }
    let Some(max) = rules.age_sec_max else {
        findings.not_applicable(RULE, "the policy sets no maximum age");
        return None;
    };
    let approved = document.approved();
    let lasts = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(CLOCK_SKEW_SEC);
    let expires = UtcTime::from_unix(approved.unix().saturating_add(lasts));
    if now <= expires {
        findings.pass(RULE, format!("approved_utc {approved} is at most {max} s old"));
        return Some(expires);
    }
    let reason =
        format!("approved_utc: {approved} is older than approval.age_sec_max ({max} s); now {now}");
    let hint = "approve the request again";
    findings.refuse(RULE, Code::ApprovalExpired, reason, hint);
    Some(expires)
}

/// Checks `x-audience`, the one host of a request, or a label of it.
pub(super) fn audience(
    request: &Request,
    rules: &ApprovalRules,
    host: HostAudience<'_>,
    findings: &mut Findings,
) {
    const RULE: RuleName = RuleName::ApprovalAudience;
    let here = host.name().map_or_else(|| "without a name".to_owned(), |it| format!("`{it}`"));
    match request.audience() {
        Some(meant) if Some(meant) == host.name() => {
            findings.pass(RULE, format!("this host, {here}"));
        }
        Some(meant) if host.includes(meant) => {
            findings.pass(RULE, format!("label `{}` of this host, {here}", escape_line(meant)));
        }
        Some(meant) => {
            let reason = format!("x-audience: `{}` is not this host, {here}", escape_line(meant));
            let hint = "submit the request on the host that it names";
            findings.refuse(RULE, Code::FrontmatterValue, reason, hint);
        }
        None if rules.audience_required => {
            let reason = "x-audience: missing, but approval.audience_required is true";
            let hint = "name the host in x-audience, and have the request approved again";
            findings.refuse(RULE, Code::FrontmatterMissingKey, reason, hint);
        }
        None => findings.not_applicable(RULE, "for any host"),
    }
}

pub(super) fn single_use(ledger: &LedgerEvidence, findings: &mut Findings) {
    const RULE: RuleName = RuleName::ApprovalSingleUse;
    match ledger {
        LedgerEvidence::NotQueried => {
            let reason = "not yet checked; the run checks the host's ledger for an earlier start";
            let hint = "submit the request; the run checks it";
            findings.refuse_pending(RULE, Code::SpoolReplayed, reason, hint);
        }
        LedgerEvidence::Unused => findings.pass(RULE, "never started before"),
        LedgerEvidence::Used { record } => {
            let reason = format!("already started, see {}", escape_line(record));
            let hint = "draft a new request; an approval is valid for one start";
            findings.refuse(RULE, Code::SpoolReplayed, reason, hint);
        }
    }
}

/// Checks the rejections. One valid rejection is final, so an unreadable file counts as one.
pub(super) fn rejection(
    votes: Option<&VerifiedSignatures<'_>>,
    unread: &[String],
    findings: &mut Findings,
) {
    const RULE: RuleName = RuleName::ApprovalRejected;
    if let Some(first) = unread.first() {
        let more = match unread.len() {
            1 => String::new(),
            count => format!(", and {} more", count - 1),
        };
        let reason = format!("not read, and may be a rejection: {}{more}", escape_line(first));
        let hint = "make it a readable regular file with one link, or remove it";
        findings.refuse(RULE, Code::ApprovalSignature, reason, hint);
        return;
    }
    let Some(votes) = votes else {
        findings.not_applicable(RULE, "allowed_signers is not configured");
        return;
    };
    if votes.too_many {
        let reason = format!("more than {SIGNATURE_FILES_MAX} signature files; none was read");
        let hint = "keep one signature file per approver";
        findings.refuse(RULE, Code::ApprovalSignature, reason, hint);
    } else if let Some(voter) = votes.rejections.first() {
        let who = escape_line(voter.names().next().unwrap_or("?"));
        let reason = format!("rejected by {who} with key {}", voter.fingerprint);
        let hint = "draft a new request; a rejection is final";
        findings.refuse(RULE, Code::ApprovalRejected, reason, hint);
    } else {
        findings.pass(RULE, "no valid rejection");
    }
}
