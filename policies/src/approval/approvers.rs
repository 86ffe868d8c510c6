//! The rules about signing approvers. People are counted, never keys, files or names, and the
//! requester is never an approver of the same run. A file that does not count is reported, but the
//! rule refuses only if it was needed; `request_rules` refuses unreadable files.
//!
//! The request waits if further signatures of people in the trust store could satisfy the rules.
//! Otherwise it is refused.

use std::collections::BTreeSet;

use model::escape_line;
use validator::{Code, Request, RiskLevel};

use super::document::SignedDocument;
use super::signers::AllowedSigners;
use super::touch::Touch;
use super::verified_signatures::{UnusableSignature, VerifiedPerson, VerifiedSignatures};
use crate::findings::Findings;
use crate::model::ApprovalRules;
use crate::reasons::RuleName;

const SELF_RULE: RuleName = RuleName::ApprovalSelf;

/// The signatures, divided into those that count and those that do not.
pub(super) struct Approvers<'v, 's> {
    votes: &'v VerifiedSignatures<'s>,
    approvers: Vec<&'v VerifiedPerson<'s>>,
    self_approvals: Vec<&'v VerifiedPerson<'s>>,
    approved_by: &'v str,
    /// The requester named in the text.
    requester: Option<&'v str>,
    signers: Option<&'s AllowedSigners>,
    requester_missing: bool,
    min: usize,
    /// True if further signatures could satisfy every rule of this file.
    more_may_do: bool,
}

impl<'v, 's> Approvers<'v, 's> {
    /// `document` is what the approvers have signed: the request, or the standing approval that it
    /// uses.
    pub(super) fn new(
        (requester, document): (Option<&'v str>, SignedDocument<'v>),
        rules: &ApprovalRules,
        votes: &'v VerifiedSignatures<'s>,
        signers: Option<&'s AllowedSigners>,
        min: usize,
    ) -> Self {
        // A signature can name the requester, and so can the text. Both exclude the person.
        let asks = |voter: &VerifiedPerson<'_>| {
            votes.requesters.iter().any(|requester| requester.person == voter.person)
                || requester.is_some_and(|name| {
                    signers.is_some_and(|signers| signers.person_may_be(voter.person, name))
                })
        };
        let (own, approvers) =
            votes.approvals.iter().partition(|voter| !rules.self_approval && asks(voter));
        let requester_known = requester.is_some() || !votes.requesters.is_empty();
        Self {
            votes,
            approvers,
            self_approvals: own,
            approved_by: document.approved_by(),
            requester,
            signers,
            requester_missing: rules.requester_required && !requester_known,
            min,
            more_may_do: match (document, signers) {
                (SignedDocument::Request(request), Some(signers)) => {
                    enough_signers(request, rules, signers, min)
                }
                // A request that uses a standing approval does not wait for its signatures.
                _ => false,
            },
        }
    }

    /// The signers of a standing approval that is submitted. Its requesters are not known yet.
    pub(super) fn of_standing(
        document: SignedDocument<'v>,
        votes: &'v VerifiedSignatures<'s>,
        signers: Option<&'s AllowedSigners>,
        min: usize,
    ) -> Self {
        Self {
            votes,
            approvers: votes.approvals.iter().collect(),
            self_approvals: Vec::new(),
            approved_by: document.approved_by(),
            requester: None,
            signers,
            requester_missing: false,
            min,
            more_may_do: false,
        }
    }

    /// Refuses, or holds the request if the missing signatures could still arrive.
    fn hold_or_refuse(
        &self,
        findings: &mut Findings,
        (rule, code): (RuleName, Code),
        reason: String,
        hint: &str,
    ) {
        match self.more_may_do {
            true => findings.hold(rule, code, reason, hint),
            false => findings.refuse_pending(rule, code, reason, hint),
        }
    }

    /// Applies the rules about the people who signed.
    pub(super) fn judge(&self, class: RiskLevel, findings: &mut Findings) {
        if self.signers.is_some() {
            self.signatures(findings);
        } else {
            let reason = "allowed_signers is not configured, so no signature can be verified";
            let hint = "set allowed_signers in the daemon's configuration";
            findings.refuse_pending(
                RuleName::ApprovalSignature,
                Code::ApprovalSignature,
                reason,
                hint,
            );
        }
        self.revoked(findings);
        self.self_approval(findings);
        self.count(class, findings);
        self.principal(findings);
    }

    /// Reports the same rules if no signature is required. The requester must be known even then.
    pub(super) fn report_not_applicable(&self, why: &str, findings: &mut Findings) {
        let of_signers = [
            RuleName::ApprovalSignature,
            RuleName::ApprovalRevoked,
            SELF_RULE,
            RuleName::ApprovalCount,
            RuleName::ApprovalPrincipal,
        ];
        for rule in of_signers {
            if rule == SELF_RULE && self.requester_missing {
                self.self_approval(findings);
            } else {
                findings.not_applicable(rule, why);
            }
        }
    }

    /// Returns whether the requester, named by the text or by a signature, may have this name.
    pub(super) fn requester_may_be(&self, name: &str) -> bool {
        let by_text = self.requester.is_some_and(|requester| {
            validator::are_alike(requester, name)
                || self.signers.is_some_and(|signers| signers.may_be_same_person(requester, name))
        });
        let signed = |voter: &VerifiedPerson<'_>| {
            self.signers.is_some_and(|signers| signers.person_may_be(voter.person, name))
        };
        by_text || self.votes.requesters.iter().any(signed)
    }

    fn signatures(&self, findings: &mut Findings) {
        const RULE: RuleName = RuleName::ApprovalSignature;
        let verified = self.votes.approvals.len();
        let unusable = self.unusable(false);
        if unusable.is_empty() {
            match verified {
                0 if self.votes.too_many => {
                    findings.not_applicable(RULE, "no signature file was read");
                }
                0 => findings.not_applicable(RULE, "no signature to verify"),
                _ => findings.pass(RULE, format!("{verified} verified")),
            }
            return;
        }
        if self.is_enough() {
            findings.pass(RULE, format!("{verified} verified; not counted: {unusable}"));
            return;
        }
        let hint = match self.votes.unusable.iter().any(|it| it.passkey) {
            true => {
                "list the domain and the origin of the passkey in approval.webauthn of the policy, \
                 or sign with another key"
            }
            false => {
                "sign the request with `toolexec approve` and a key that allowed_signers lists as \
                 valid at approved_utc"
            }
        };
        let reason = format!("not counted: {unusable}");
        self.hold_or_refuse(findings, (RULE, Code::ApprovalSignature), reason, hint);
    }

    fn revoked(&self, findings: &mut Findings) {
        const RULE: RuleName = RuleName::ApprovalRevoked;
        let revoked = self.unusable(true);
        if revoked.is_empty() {
            findings.pass(RULE, "no signing key is revoked");
        } else if self.is_enough() {
            findings.pass(RULE, format!("not counted: {revoked}"));
        } else {
            let hint = "sign with a key that is not revoked";
            let reason = format!("not counted: {revoked}");
            self.hold_or_refuse(findings, (RULE, Code::ApprovalRevoked), reason, hint);
        }
    }

    fn self_approval(&self, findings: &mut Findings) {
        const RULE: RuleName = SELF_RULE;
        if self.requester_missing {
            let reason = "the requester is unknown, but approval.requester_required is true";
            let hint = "write x-requester, or sign the request in namespace \
                        request.tool-exec@threegate";
            findings.refuse(RULE, Code::ApprovalSelf, reason, hint);
            return;
        }
        let Some(own) = self.self_approvals.first() else {
            findings.pass(RULE, "no approver is the requester");
            return;
        };
        let who = escape_line(self.name_of(own));
        let needed =
            !self.is_enough() || (own.has_name(self.approved_by) && !self.is_named_approver());
        if needed {
            let reason = format!("{who} is the requester and cannot approve this run");
            let hint = "have another person approve the request";
            self.hold_or_refuse(findings, (RULE, Code::ApprovalSelf), reason, hint);
        } else {
            findings.pass(RULE, format!("not counted: {who}, the requester"));
        }
    }

    fn count(&self, class: RiskLevel, findings: &mut Findings) {
        const RULE: RuleName = RuleName::ApprovalCount;
        let (people, min) = (self.approver_count(), self.min);
        if people >= min {
            findings.pass(RULE, format!("{people} of {min} distinct approvers signed"));
            return;
        }
        let class = class.as_str();
        let reason = format!(
            "{people} of {min} distinct approvers signed (policy approval.signatures_min.{class})"
        );
        let hint = "put the missing signatures next to the request, one of each person";
        self.hold_or_refuse(findings, (RULE, Code::ApprovalCount), reason, hint);
    }

    fn principal(&self, findings: &mut Findings) {
        const RULE: RuleName = RuleName::ApprovalPrincipal;
        if self.approvers.is_empty() {
            findings.not_applicable(RULE, "no approver's signature verified");
            return;
        }
        let written = escape_line(self.approved_by);
        if self.is_named_approver() {
            findings.pass(RULE, format!("approved_by {written} signed"));
            return;
        }
        let names: BTreeSet<String> =
            self.approvers.iter().flat_map(|voter| voter.names()).map(escape_line).collect();
        let names: Vec<String> = names.into_iter().collect();
        let reason = format!("approved_by: {written} did not sign; signed by {}", names.join(", "));
        let hint = "write the principal of a signer as in allowed_signers";
        self.hold_or_refuse(findings, (RULE, Code::ApprovalPrincipal), reason, hint);
    }

    pub(super) fn approver_count(&self) -> usize {
        self.approvers.iter().map(|voter| voter.person).collect::<BTreeSet<_>>().len()
    }

    /// Returns each signature under the name in the text, if the key has that name.
    pub(super) fn signed(&self) -> Vec<(String, String)> {
        let mut rows: Vec<(String, String)> = Vec::new();
        for voter in &self.approvers {
            let row = (self.name_of(voter).to_owned(), voter.fingerprint.clone());
            // Two file names may hold the same signature.
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        rows
    }

    pub(super) fn touches(&self) -> Vec<(String, Touch)> {
        let touch =
            |voter: &&VerifiedPerson<'_>| Some((voter.fingerprint.clone(), voter.touch.clone()?));
        self.approvers.iter().filter_map(touch).collect()
    }

    fn is_enough(&self) -> bool {
        self.approver_count() >= self.min
    }

    fn is_named_approver(&self) -> bool {
        self.approvers.iter().any(|voter| voter.has_name(self.approved_by))
    }

    fn name_of(&self, voter: &'v VerifiedPerson<'s>) -> &'v str {
        if voter.has_name(self.approved_by) {
            return self.approved_by;
        }
        voter.names().next().unwrap_or_default()
    }

    fn unusable(&self, revoked: bool) -> String {
        let of_kind = self.votes.unusable.iter().filter(|it| it.revoked == revoked);
        let texts: Vec<&str> = of_kind.map(|it: &UnusableSignature| it.text.as_str()).collect();
        texts.join("; ")
    }
}

/// Returns whether the trust store has enough people for this text, including the named approver.
/// Earlier signatures change nothing: a person who signed for another purpose may still approve.
fn enough_signers(
    request: &Request,
    rules: &ApprovalRules,
    signers: &AllowedSigners,
    min: usize,
) -> bool {
    let asks = |person: usize| {
        !rules.self_approval
            && request.requester().is_some_and(|name| signers.person_may_be(person, name))
    };
    let able: Vec<_> = signers
        .approvers_at(request.approved())
        .filter(|it| !asks(it.person) && rules.passkeys.may_count(&it.key))
        .collect();
    let people: BTreeSet<usize> = able.iter().map(|it| it.person).collect();
    people.len() >= min && able.iter().any(|it| it.principals.matches(request.approved_by()))
}
