//! The check of the signatures, which the guard makes first. A verifier must never vouch for its
//! own plan.

use serde_json::json;

use super::super::artifact::Artifact;
use super::super::code::Refusal;
use super::super::seal::Sealed;
use super::super::trust::TrustedKey;
use super::judgement::Check;
use super::model::{Answer, Case, Said};

type Found<'a> = Result<&'a TrustedKey, Refusal>;

/// Checks every signature. Returns the verdicts, and the signers of the good ones.
pub(super) fn ask(case: &Case<'_>) -> (Vec<Check>, Vec<(Artifact, String)>) {
    let bundle = case.bundle;
    let uia = known_as(case, &bundle.uia, bundle.uia().subject.id.as_str());
    let apa = signer(case, &bundle.apa);
    let apr = independent(signer(case, &bundle.apr), apa.as_ref().ok().copied());
    let tca = known_as(case, &bundle.tca, bundle.tca().operator.as_str());
    let mut found = vec![
        (Artifact::Uia, uia),
        (Artifact::Apa, apa),
        (Artifact::Apr, apr),
        (Artifact::Tca, tca),
        (Artifact::Ibe, signer(case, &bundle.ibe)),
    ];
    if let Some(crl) = &bundle.crl {
        found.push((Artifact::Crl, signer(case, crl)));
    }
    if let Some(sca) = &bundle.sca {
        found.push((Artifact::Sca, signer(case, sca)));
    }
    let signers = found.iter().filter_map(|(artifact, found)| {
        found.as_ref().ok().map(|key| (*artifact, key.kid.clone()))
    });
    let signers = signers.collect();
    let checks = found.into_iter().map(|(artifact, found)| Check::of(rule(artifact), said(found)));
    (checks.collect(), signers)
}

fn rule(artifact: Artifact) -> &'static str {
    match artifact {
        Artifact::Uia => "uia-signature",
        Artifact::Apa => "apa-signature",
        Artifact::Apr => "apr-signature",
        Artifact::Tca => "tca-signature",
        Artifact::Ibe => "ibe-signature",
        Artifact::Sca => "sca-signature",
        Artifact::Crl => "crl-signature",
    }
}

fn said(found: Found<'_>) -> Answer {
    found.map(|key| Said::Good(format!("signed by {} ({})", key.kid, key.principal)))
}

fn signer<'a, T>(case: &Case<'a>, sealed: &Sealed<T>) -> Found<'a> {
    let artifact = sealed.artifact();
    case.trust.signer(sealed, case.now, case.rules.hs256).map_err(|why| {
        Refusal::new(artifact.signature_code(), format!("{}: {why}", artifact.as_str()))
    })
}

/// Checks the signer's identity: only its subject authorizes an intent, and only its operator
/// vouches for a tool.
fn known_as<'a, T>(case: &Case<'a>, sealed: &Sealed<T>, identifier: &str) -> Found<'a> {
    let (key, artifact) = (signer(case, sealed)?, sealed.artifact());
    if case.trust.is_known_as(&key.principal, identifier) {
        return Ok(key);
    }
    let message = format!("{}: the signer is not `{identifier}`", artifact.as_str());
    Err(Refusal::new(artifact.signature_code(), message)
        .with(json!({ "identifier": identifier, "kid": key.kid })))
}

fn independent<'a>(found: Found<'a>, planner: Option<&TrustedKey>) -> Found<'a> {
    let key = found?;
    match planner {
        Some(planner) if planner.principal == key.principal => {
            let message = format!("APr: {} signed the plan and cannot verify it", key.principal);
            Err(Refusal::new(Artifact::Apr.signature_code(), message))
        }
        _ => Ok(key),
    }
}
