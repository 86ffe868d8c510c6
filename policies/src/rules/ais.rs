//! AIS as rules of the decision. If policy covers a request, its bundle must bind it to a user's
//! intent, and every check of the guard is recorded. A bundle that policy does not require decides
//! nothing.

use validator::{Code, Request};

use crate::ais::{
    AisBundle, AisTrustStore, EnvironmentDigests, GuardCheck, GuardInput, GuardVerdict, Judgement,
    RequestFacts, judge,
};
use crate::evidence::{AisEvidence, AisFile};
use crate::findings::Findings;
use crate::policy::Policy;
use crate::reasons::{AisFinding, RuleName, Verdict};
use crate::runtime::RuntimeRule;
use model::UtcTime;

const RULE: RuleName = RuleName::Ais;
const LEDGER_RULE: RuleName = RuleName::AisLedger;

pub(crate) fn judge_bundle(
    request: &Request,
    policy: &Policy,
    runtime: Option<&RuntimeRule>,
    (evidence, now): (&AisEvidence<'_>, UtcTime),
    findings: &mut Findings,
) {
    let covered = policy.rules.ais.covered;
    if !covered.covers(request) {
        findings.not_applicable(RULE, format!("ais.covers is {}", covered.as_str()));
        return;
    }
    let Some((name, bundle, trust)) = read(evidence, findings) else { return };
    let facts = RequestFacts::of(request);
    let digests = used_by(evidence.supply, runtime);
    let judgement = judge(&GuardInput {
        bundle: &bundle,
        trust,
        rules: &policy.rules.ais.rules,
        request: Some(&facts),
        supply: &digests,
        now,
        nonce_used: &|nonce| evidence.nonces_used.is_some_and(|used| used.contains(nonce)),
    });
    report(name, judgement, findings);
    if evidence.nonces_used.is_none() {
        let reason = "the nonce is not yet checked; the run checks it in the host's ledger";
        let hint = "submit the request; the run checks it";
        findings.refuse_pending(LEDGER_RULE, Code::Ais("ibe-replay"), reason, hint);
    } else {
        findings.pass(LEDGER_RULE, "the ledger was searched for the nonce");
    }
}

/// Returns the bundle with its file name and the trust store. Refuses if one of them is missing.
fn read<'a>(
    evidence: &AisEvidence<'a>,
    findings: &mut Findings,
) -> Option<(&'a str, AisBundle, &'a AisTrustStore)> {
    let hint = "make a bundle with `toolexec ais envelope` (docs/ais.md)";
    let (name, bytes) = match evidence.file {
        AisFile::Read { name, bytes } => (name, bytes),
        AisFile::Missing => {
            // The envelope is made after the approval; before that no bundle can exist.
            let reason = "no AIS bundle next to the request, but ais.covers requires one";
            match evidence.trust {
                Some(_) => findings.hold(RULE, Code::Ais("bundle-missing"), reason, hint),
                None => findings.refuse_pending(RULE, Code::Ais("bundle-missing"), reason, hint),
            }
            return None;
        }
        AisFile::Unread(why) => {
            findings.refuse(RULE, Code::Ais("bundle-unread"), why.as_str(), hint);
            return None;
        }
    };
    let Some(trust) = evidence.trust else {
        let reason = "ais_trust: no trust store is configured, so no artifact can be verified";
        let hint = "set ais_trust in the configuration";
        findings.refuse(RULE, Code::Ais("authz-policy-deny"), reason, hint);
        return None;
    };
    match AisBundle::read(bytes) {
        Ok(bundle) => Some((name, bundle, trust)),
        Err(error) => {
            let refusal = error.refusal();
            let reason = format!("{name}: {}", refusal.message);
            findings.refuse(RULE, Code::Ais(refusal.code.as_str()), reason, hint);
            None
        }
    }
}

fn report(name: &str, judgement: Judgement, findings: &mut Findings) {
    for check in judgement.checks() {
        findings.add_check(
            &format!("{RULE}.{}", check.rule),
            verdict(check),
            check.observation.clone(),
        );
    }
    let answer = judgement.to_json();
    match judgement.accepted() {
        Ok(accepted) => {
            findings.pass(RULE, format!("{name}: step {} matches this request", accepted.step()));
            findings.ais = Some(AisFinding::accepted(answer, &accepted));
        }
        Err(refusal) => {
            let reason = format!("{name}: {refusal}");
            let hint = match refusal.code {
                crate::ais::AisCode::IbeExpired => {
                    "make a new envelope with `toolexec ais envelope`"
                }
                _ => "see docs/ais.md for the meaning of the code",
            };
            findings.refuse(RULE, Code::Ais(refusal.code.as_str()), reason, hint);
            findings.ais = Some(AisFinding::refused(answer, refusal.code));
        }
    }
}

fn verdict(check: &GuardCheck) -> Verdict {
    match check.verdict {
        GuardVerdict::Passed => Verdict::Pass,
        GuardVerdict::NotApplicable => Verdict::NotApplicable,
        GuardVerdict::Refused(_) => Verdict::Refuse,
    }
}

/// Returns the digests that the run would use: of the host's runtimes only its own.
fn used_by(host: &EnvironmentDigests, runtime: Option<&RuntimeRule>) -> EnvironmentDigests {
    let mut used = host.clone();
    used.runtimes.retain(|name, _| runtime.is_some_and(|runtime| runtime.name() == name));
    used
}
