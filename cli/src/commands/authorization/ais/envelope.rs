//! `toolexec ais envelope`: binds an approved request to its artifacts. It must never bind a
//! request to a step that does anything else, and never overwrite a bundle.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use model::UtcTime;
use policies::ais::{
    AisArtifact, Apa, Apr, Crl, PlanStep, RequestFacts, Sca, Tca, Uia, UnverifiedArtifact,
    canonical, embed,
};
use serde_json::{Map, Value, json};
use spool::{SpoolError, write_new_file};

use super::document;
use super::error::{AisCommandError, AisCommandResult};
use super::key::{self, AisKeyOptions};
use super::print::print;
use crate::failure::Failure;
use crate::random::random_bytes;
use crate::{clock, output};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais envelope TR-….md --uia uia.json --apa apa.json --apr apr.json \\
    --tca tca.json --crl crl.json --key-file envelope.pem --kid envelope-2026

Run this after the request is approved. Writes <stem>.ais.json beside it, with a new nonce, and
prints {\"bundle\",\"id\",\"step\",\"nonce\",\"exp\"}. The plan must contain exactly one step that does what
the request does. Nothing is overwritten. Signatures are not checked here; `ais verify` checks
them.")]
pub(crate) struct AisEnvelopeCommand {
    /// Bind this approved request
    #[arg(value_name = "REQUEST.md")]
    request: PathBuf,
    /// Include this signed intent
    #[arg(long, value_name = "FILE")]
    uia: PathBuf,
    /// Include this signed plan
    #[arg(long, value_name = "FILE")]
    apa: PathBuf,
    /// Include this signed proof
    #[arg(long, value_name = "FILE")]
    apr: PathBuf,
    /// Include this signed tool assertion
    #[arg(long, value_name = "FILE")]
    tca: PathBuf,
    /// Include this revocation list
    #[arg(long, value_name = "FILE")]
    crl: Option<PathBuf>,
    /// Include this supply chain assertion
    #[arg(long, value_name = "FILE")]
    sca: Option<PathBuf>,
    /// Set the validity of the envelope in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Write the bundle to this file [default: <stem>.ais.json beside the request]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    key: AisKeyOptions,
    /// Set the key id (`kid`) in the signature's header
    #[arg(long, value_name = "K")]
    kid: Option<String>,
}

pub(super) fn envelope(args: &AisEnvelopeCommand) -> AisCommandResult {
    let request = document::request(&args.request)?;
    let facts = RequestFacts::of(&request);
    let (uia, intent): (_, UnverifiedArtifact<Uia>) = document::artifact(&args.uia)?;
    let (apa, plan): (_, UnverifiedArtifact<Apa>) = document::artifact(&args.apa)?;
    let (apr, proof): (_, UnverifiedArtifact<Apr>) = document::artifact(&args.apr)?;
    let (tca, tool): (_, UnverifiedArtifact<Tca>) = document::artifact(&args.tca)?;
    let step = step_of(plan.content(), &facts, &args.apa)?;
    let key = key::read_key(&args.key, None)?;
    let expires = clock::now().unix().saturating_add(i64::from(args.seconds));
    let (id, nonce) = (format!("urn:uuid:{}", uuid(random_bytes()?)), hex(&random_bytes::<16>()?));
    let ibe = json!({
        "@type": "IBE",
        "id": id,
        "uiaRef": intent.content().id.as_str(),
        "apaStepRef": format!("{}#{}", plan.content().id, step.id),
        "aprRef": proof.content().id.as_str(),
        "tcaRef": tool.content().id.as_str(),
        "nonce": nonce,
        "exp": UtcTime::from_unix(expires).to_string(),
        "sig": "",
    });
    let Value::Object(unsigned) = ibe.clone() else {
        let why = "IBE: not an object; help: report this as a bug";
        return Err(AisCommandError::Invalid(why.to_owned()));
    };
    let signed = embed(AisArtifact::Ibe, unsigned, &key, args.kid.as_deref());
    let mut bundle = Map::from_iter([
        ("uia".to_owned(), uia),
        ("apa".to_owned(), apa),
        ("apr".to_owned(), apr),
        ("tca".to_owned(), tca),
        ("ibe".to_owned(), signed),
    ]);
    if let Some(path) = &args.crl {
        bundle.insert("crl".to_owned(), document::artifact::<UnverifiedArtifact<Crl>>(path)?.0);
    }
    if let Some(path) = &args.sca {
        bundle.insert("sca".to_owned(), document::artifact::<UnverifiedArtifact<Sca>>(path)?.0);
    }
    let path = args.out.clone().unwrap_or_else(|| bundle_path(&args.request));
    write_new_file(&path, &canonical(&Value::Object(bundle))).map_err(not_written)?;
    print(&json!({
        "bundle": output::path(&path),
        "id": ibe["id"],
        "step": ibe["apaStepRef"],
        "nonce": ibe["nonce"],
        "exp": ibe["exp"],
    }))
}

/// Returns the failure to write the bundle. Only this command knows the option for another name.
fn not_written(error: SpoolError) -> Failure {
    match error {
        SpoolError::Io { path, error, .. } if error.kind() == ErrorKind::AlreadyExists => {
            let path = path.display();
            let help = "remove it, or choose another name with --out";
            Failure::Message(format!("{path}: file already exists; help: {help}"))
        }
        other => Failure::from(other),
    }
}

fn bundle_path(request: &Path) -> PathBuf {
    request.with_extension("ais.json")
}

/// Returns the only step that does what the request does.
fn step_of<'a>(
    apa: &'a Apa,
    facts: &RequestFacts,
    path: &Path,
) -> Result<&'a PlanStep, AisCommandError> {
    let same = |step: &&PlanStep| step.tool.as_str() == facts.tool && step.args == facts.args;
    let mut steps = apa.steps.iter().filter(same);
    match (steps.next(), steps.next()) {
        (Some(step), None) => Ok(step),
        (None, _) => Err(AisCommandError::Invalid(format!(
            "{}: no step matches the request; help: print the right one with `toolexec ais step`",
            path.display()
        ))),
        (Some(_), Some(_)) => Err(AisCommandError::Invalid(format!(
            "{}: several steps match the request; help: keep one",
            path.display()
        ))),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats a UUID (RFC 9562, version 4).
fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let text = hex(&bytes);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}
