//! The rules about whose word counts. A name in the text must never count as anybody's word, and
//! where policy asks for signatures nothing else may stand in for them.

use validator::{CLOCK_SKEW_SEC, Code, Request};

use crate::decision::{Evidence, Findings, Submission};
use crate::policy::{ApprovalRules, Owner, Policy};
use crate::signatures::{SIGNATURE_FILES_MAX, Voter, Votes};

/// By whose word a request runs.
#[derive(Debug)]
pub(crate) struct Approval {
    pub(crate) text: String,
    /// Principal and key fingerprint of each signature.
    pub(crate) signed: Vec<(String, String)>,
}

/// The approval, where every rule about it is content.
pub(crate) fn judge(
    request: &Request,
    policy: &Policy,
    evidence: &Evidence<'_>,
    findings: &mut Findings,
) -> Option<Approval> {
    let rules = &policy.rules.approval;
    let votes = evidence
        .signers
        .map(|signers| Votes::count(request, evidence.signatures, signers, evidence.now));
    let unsigned = submitter(rules, &evidence.submission, findings);
    rejection(votes.as_ref(), findings);
    age(request, rules, evidence, findings);
    if rules.signatures_min == 0 {
        for rule in ["approval.signature", "approval.count", "approval.principal"] {
            findings.not_applicable(rule, "policy asks for no signature");
        }
        let votes = votes.unwrap_or_default();
        return unsigned.map(|text| Approval { text, signed: signed(request, &votes) });
    }
    let Some(votes) = votes else {
        let reason = "no allowed_signers are configured, so no signature can be verified";
        let hint = "give the daemon an allowed_signers file";
        findings.refuse("approval.signature", Code::ApprovalSignature, reason, hint);
        count(&Votes::default(), rules.signatures_min, findings);
        findings.not_applicable("approval.principal", "no signature verified");
        return None;
    };
    signatures(&votes, rules.signatures_min, findings);
    count(&votes, rules.signatures_min, findings);
    principal(request, &votes, findings);
    let text = format!("signed by {} of {}", votes.people(), rules.signatures_min);
    Some(Approval { text, signed: signed(request, &votes) })
}

/// What the submission itself is worth, in the words of the record.
fn submitter(
    rules: &ApprovalRules,
    submission: &Submission,
    findings: &mut Findings,
) -> Option<String> {
    const RULE: &str = "approval.submitter";
    if rules.signatures_min > 0 {
        findings.not_applicable(RULE, "policy asks for signatures");
        return None;
    }
    let (uid, name, invoked) = match submission {
        Submission::Invoked { uid, name } => (*uid, name.as_deref(), true),
        Submission::Dropped { owner, owner_name } => (owner.get(), owner_name.as_deref(), false),
    };
    let who = name.map_or_else(|| uid.to_string(), validator::escape_line);
    let listed = rules.owners.iter().any(|owner| match owner {
        Owner::Uid(known) => *known == uid,
        Owner::Name(known) => Some(known.as_str()) == name,
    });
    if invoked && (rules.invoker || listed) {
        findings.pass(RULE, format!("{who} typed the command"));
        return Some("unsigned, by the invoker".to_owned());
    }
    if listed {
        findings.pass(RULE, format!("owner {who} is an approver"));
        return Some(format!("unsigned, by the file's owner {who}"));
    }
    let role = if invoked { "invoker" } else { "owner" };
    let reason = format!("{role} {who} is not an approver; see policy approval.owners");
    let hint = "have an approver submit the request, or name this user in approval.owners";
    findings.refuse(RULE, Code::ApprovalPrincipal, reason, hint);
    None
}

fn rejection(votes: Option<&Votes>, findings: &mut Findings) {
    const RULE: &str = "approval.rejected";
    let Some(votes) = votes else {
        findings.not_applicable(RULE, "no allowed_signers are configured");
        return;
    };
    if votes.too_many {
        let reason = format!("more than {SIGNATURE_FILES_MAX} signature files; none was read");
        let hint = "keep one signature file per approver";
        findings.refuse(RULE, Code::ApprovalSignature, reason, hint);
    } else if let Some(voter) = votes.rejections.first() {
        let who = voter.principals.first().map_or("?", String::as_str);
        let reason = format!("rejected by {who} with key {}", voter.fingerprint);
        let hint = "a rejection is final; draft a new request";
        findings.refuse(RULE, Code::ApprovalRejected, reason, hint);
    } else {
        findings.pass(RULE, "no valid rejection");
    }
}

fn age(request: &Request, rules: &ApprovalRules, evidence: &Evidence<'_>, findings: &mut Findings) {
    const RULE: &str = "approval.age";
    let Some(max) = rules.age_sec_max else {
        findings.not_applicable(RULE, "policy sets no maximum age");
        return;
    };
    let (approved, now) = (request.approved(), evidence.now);
    let lasts = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(CLOCK_SKEW_SEC);
    if now.unix().saturating_sub(approved.unix()) <= lasts {
        findings.pass(RULE, format!("approved_utc {approved} is at most {max} s old"));
        return;
    }
    let reason = format!(
        "approved_utc {approved} is more than {max} s before {now}; see policy approval.age_sec_max"
    );
    let hint = "approve the request anew";
    findings.refuse(RULE, Code::ApprovalExpired, reason, hint);
}

/// Files that do not count are named, but refuse only where they would have been needed: anybody
/// who can drop a file could otherwise stop what others approved.
fn signatures(votes: &Votes, min: usize, findings: &mut Findings) {
    const RULE: &str = "approval.signature";
    let verified = votes.approvals.len();
    if votes.unusable.is_empty() {
        match verified {
            0 if votes.too_many => findings.not_applicable(RULE, "no signature file was read"),
            0 => findings.not_applicable(RULE, "there is no signature to verify"),
            _ => findings.pass(RULE, format!("{verified} verified")),
        }
        return;
    }
    let unusable = votes.unusable.join("; ");
    if votes.people() >= min {
        findings.pass(RULE, format!("{verified} verified; not counted: {unusable}"));
        return;
    }
    let hint = "sign the request's exact bytes with `toolexec approve`, with a key of \
                allowed_signers that was valid at approved_utc";
    findings.refuse(RULE, Code::ApprovalSignature, format!("not counted: {unusable}"), hint);
}

fn count(votes: &Votes, min: usize, findings: &mut Findings) {
    let people = votes.people();
    if people >= min {
        findings.pass("approval.count", format!("{people} of {min} distinct approvers signed"));
        return;
    }
    let reason =
        format!("{people} of {min} distinct approvers signed; see policy approval.signatures_min");
    let hint = "put the missing signatures beside the request; several of one person are one";
    findings.refuse("approval.count", Code::ApprovalCount, reason, hint);
}

fn principal(request: &Request, votes: &Votes, findings: &mut Findings) {
    const RULE: &str = "approval.principal";
    let mut names: Vec<&str> = votes.approvals.iter().flat_map(names).collect();
    if names.is_empty() {
        findings.not_applicable(RULE, "no signature verified");
        return;
    }
    let written = request.approved_by();
    let shown = validator::escape_line(written);
    if names.contains(&written) {
        findings.pass(RULE, format!("approved_by {shown} signed"));
        return;
    }
    names.sort_unstable();
    names.dedup();
    let reason = format!("approved_by {shown} did not sign; signed by {}", names.join(", "));
    let hint = "write the principal of a signer, as it stands in allowed_signers";
    findings.refuse(RULE, Code::ApprovalPrincipal, reason, hint);
}

fn names(voter: &Voter) -> impl Iterator<Item = &str> {
    voter.principals.iter().map(String::as_str)
}

/// Each signature under the name that the text uses, where the key has it.
fn signed(request: &Request, votes: &Votes) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for voter in &votes.approvals {
        let written = names(voter).find(|name| *name == request.approved_by());
        let name = written.or_else(|| names(voter).next()).unwrap_or_default();
        let row = (name.to_owned(), voter.fingerprint.clone());
        // The same signature may lie there under two file names.
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}
