//! The check of the signatures, which the guard makes first. A verifier must never vouch for its
//! own plan.

use serde_json::json;

use super::super::artifact::AisArtifact;
use super::super::code::AisRefusal;
use super::super::trust::TrustedKey;
use super::super::unverified::UnverifiedArtifact;
use super::judgement::GuardCheck;
use super::model::{GuardInput, GuardObservation, GuardResult};

type SignerResult<'a> = Result<&'a TrustedKey, AisRefusal>;

/// Checks every signature. Returns the verdicts, and the signers of the good ones.
pub(super) fn check_all(case: &GuardInput<'_>) -> (Vec<GuardCheck>, Vec<(AisArtifact, String)>) {
    let bundle = case.bundle;
    let uia = signer_known_as(case, &bundle.uia, bundle.uia().subject.id.as_str());
    let apa = signer(case, &bundle.apa);
    let apr = independent(signer(case, &bundle.apr), apa.as_ref().ok().copied());
    let tca = signer_known_as(case, &bundle.tca, bundle.tca().operator.as_str());
    let mut found = vec![
        (AisArtifact::Uia, uia),
        (AisArtifact::Apa, apa),
        (AisArtifact::Apr, apr),
        (AisArtifact::Tca, tca),
        (AisArtifact::Ibe, signer(case, &bundle.ibe)),
    ];
    if let Some(crl) = &bundle.crl {
        found.push((AisArtifact::Crl, signer(case, crl)));
    }
    if let Some(sca) = &bundle.sca {
        found.push((AisArtifact::Sca, signer(case, sca)));
    }
    let signers = found.iter().filter_map(|(artifact, found)| {
        found.as_ref().ok().map(|key| (*artifact, key.kid.clone()))
    });
    let signers = signers.collect();
    let checks = found
        .into_iter()
        .map(|(artifact, found)| GuardCheck::of(rule_name(artifact), to_result(found)));
    (checks.collect(), signers)
}

fn rule_name(artifact: AisArtifact) -> &'static str {
    match artifact {
        AisArtifact::Uia => "uia-signature",
        AisArtifact::Apa => "apa-signature",
        AisArtifact::Apr => "apr-signature",
        AisArtifact::Tca => "tca-signature",
        AisArtifact::Ibe => "ibe-signature",
        AisArtifact::Sca => "sca-signature",
        AisArtifact::Crl => "crl-signature",
    }
}

fn to_result(found: SignerResult<'_>) -> GuardResult {
    found.map(|key| GuardObservation::Passed(format!("signed by {} ({})", key.kid, key.principal)))
}

fn signer<'a, T>(case: &GuardInput<'a>, sealed: &UnverifiedArtifact<T>) -> SignerResult<'a> {
    let artifact = sealed.artifact();
    case.trust.signer(sealed, case.now, case.rules.hs256).map_err(|why| {
        AisRefusal::new(artifact.signature_code(), format!("{}: {why}", artifact.as_str()))
    })
}

/// Checks the signer: only its subject authorizes an intent, and only its operator a tool.
fn signer_known_as<'a, T>(
    case: &GuardInput<'a>,
    sealed: &UnverifiedArtifact<T>,
    identifier: &str,
) -> SignerResult<'a> {
    let (key, artifact) = (signer(case, sealed)?, sealed.artifact());
    if case.trust.is_known_as(&key.principal, identifier) {
        return Ok(key);
    }
    let message = format!("{}: the signer is not `{identifier}`", artifact.as_str());
    Err(AisRefusal::new(artifact.signature_code(), message)
        .with(json!({ "identifier": identifier, "kid": key.kid })))
}

fn independent<'a>(found: SignerResult<'a>, planner: Option<&TrustedKey>) -> SignerResult<'a> {
    let key = found?;
    match planner {
        Some(planner) if planner.principal == key.principal => {
            let message = format!("APr: {} signed the plan and cannot verify it", key.principal);
            Err(AisRefusal::new(AisArtifact::Apr.signature_code(), message))
        }
        _ => Ok(key),
    }
}
