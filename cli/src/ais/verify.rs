//! `toolexec ais verify`: what the guard says of a bundle, rule by rule. It must never use up a nonce.

use std::process::ExitCode;

use policies::ais::{
    AisRules, BUNDLE_BYTES_MAX, Bundle, Case, RULES_BYTES_MAX, RequestFacts, Supply,
    TRUST_BYTES_MAX, TrustStore, judge,
};
use serde_json::json;

use super::document;
use super::error::{Done, Stop};
use super::print::print;
use super::supply::used;
use crate::args::policy::named_or_embedded;
use crate::clock;
use crate::options::ais::Verify;

pub(super) fn verify(asked: &Verify) -> Done {
    let invalid = |path: &std::path::Path, error: &dyn std::fmt::Display| {
        Stop::Invalid(format!("{}: {error}", path.display()))
    };
    let trust = TrustStore::read(&document::bytes(&asked.trust, TRUST_BYTES_MAX)?)
        .map_err(|error| invalid(&asked.trust, &error))?;
    let rules = match &asked.rules {
        Some(path) => AisRules::read(&document::bytes(path, RULES_BYTES_MAX)?)
            .map_err(|error| invalid(path, &error))?,
        None => AisRules::default(),
    };
    let request = asked.request.as_deref().map(document::request).transpose()?;
    let facts = request.as_ref().map(RequestFacts::of);
    let supply = match &asked.policy {
        Some(path) => used(&named_or_embedded(Some(path))?)?.digests,
        None => Supply::default(),
    };
    let bundle = match Bundle::read(&document::bytes(&asked.bundle, BUNDLE_BYTES_MAX)?) {
        Ok(bundle) => bundle,
        Err(error) => {
            let mut said = error.refusal().to_json();
            said["verdict"] = json!("refuse");
            print(&said)?;
            return Ok(ExitCode::from(2));
        }
    };
    let judgement = judge(&Case {
        bundle: &bundle,
        trust: &trust,
        rules: &rules,
        request: facts.as_ref(),
        supply: &supply,
        now: asked.at.unwrap_or_else(clock::now),
        nonce_seen: &|nonce| asked.seen.iter().any(|seen| seen == nonce),
    });
    print(&judgement.to_json())?;
    Ok(if judgement.refusal().is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
