//! `toolexec ais verify`: prints the guard's verdict, rule by rule. It must never use up a nonce.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use model::UtcTime;
use policies::ais::{
    AisBundle, AisRules, AisTrustStore, BUNDLE_BYTES_MAX, EnvironmentDigests, GuardInput,
    RULES_BYTES_MAX, RequestFacts, TRUST_BYTES_MAX, judge,
};
use serde_json::json;

use super::document;
use super::environment_digests::digests_in_use;
use super::error::{AisCommandError, AisCommandResult};
use super::print::print;
use crate::args::policy::named_or_embedded;
use crate::clock;
use crate::failure::with_help;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais verify TR-….ais.json --trust trust.yaml --rules rules.yaml --request TR-….md

Prints {\"verdict\",\"bundle\",\"checks\"}, and for a refusal also \"code\", \"message\" and \"details\".
An invalid bundle has neither \"bundle\" nor \"checks\". The verdict is `accept`; `refuse` with
the code of the first rule that refuses; or `unbound` if no rule refuses and no request was given.
No nonce is used up.
Exit status: 0 no rule refuses; 1 a rule refuses; 2 invalid bundle; 3 usage or internal error.")]
pub(crate) struct AisVerifyCommand {
    /// Check this bundle: {uia, apa, apr, tca, ibe, crl?, sca?}
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,
    /// Trust the keys in this file, JSON or YAML
    #[arg(long, value_name = "FILE")]
    trust: PathBuf,
    /// Apply the host rules in this file, JSON or YAML: profiles, coverage, ceilings…
    /// [default: the built-in rules]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Check that the bundle is bound to this request
    #[arg(long, value_name = "REQUEST.md")]
    request: Option<PathBuf>,
    /// Compare the digests of this policy, and of this host's programs and runtimes, with the SCA
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Treat this nonce as already used; can be repeated
    #[arg(long = "used-nonce", value_name = "NONCE")]
    used_nonces: Vec<String>,
    /// Evaluate at this time, such as 2026-02-09T16:05:01Z [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<UtcTime>,
}

pub(super) fn verify(args: &AisVerifyCommand) -> AisCommandResult {
    let invalid = |path: &std::path::Path, error: &dyn std::fmt::Display, help: &str| {
        AisCommandError::Invalid(with_help(&format!("{}: {error}", path.display()), help))
    };
    let trust = AisTrustStore::read(&document::bytes(&args.trust, TRUST_BYTES_MAX)?)
        .map_err(|error| invalid(&args.trust, &error, "see *Trust store* in docs/ais.md"))?;
    let rules = match &args.rules {
        Some(path) => {
            AisRules::read(&document::bytes(path, RULES_BYTES_MAX)?).map_err(|error| {
                invalid(path, &error, "see the table `ais.rules` in docs/policy.md")
            })?
        }
        None => AisRules::default(),
    };
    let request = args.request.as_deref().map(document::request).transpose()?;
    let facts = request.as_ref().map(RequestFacts::of);
    let digests = match &args.policy {
        Some(path) => digests_in_use(&named_or_embedded(Some(path))?)?.digests,
        None => EnvironmentDigests::default(),
    };
    let bundle = match AisBundle::read(&document::bytes(&args.bundle, BUNDLE_BYTES_MAX)?) {
        Ok(bundle) => bundle,
        Err(error) => {
            let mut refusal = error.refusal().to_json();
            refusal["verdict"] = json!("refuse");
            print(&refusal)?;
            return Ok(ExitCode::from(2));
        }
    };
    let judgement = judge(&GuardInput {
        bundle: &bundle,
        trust: &trust,
        rules: &rules,
        request: facts.as_ref(),
        supply: &digests,
        now: args.at.unwrap_or_else(clock::now),
        nonce_used: &|nonce| args.used_nonces.iter().any(|used| used == nonce),
    });
    print(&judgement.to_json())?;
    Ok(if judgement.refusal().is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
