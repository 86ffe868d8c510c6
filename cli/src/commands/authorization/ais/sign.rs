//! `toolexec ais sign`: signs a document exactly as given.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use policies::ais::{AisArtifact, canonical, embed, sign};
use serde_json::Value;

use super::document;
use super::error::{AisCommandError, AisCommandResult};
use super::key::{self, AisAlgorithmOption, AisKeyOptions};
use super::print::print;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais sign --alg EdDSA --key-file alice.pem --kid alice-2026 --embed \\
    uia.json > signed.json

Prints a compact JWS over the canonical bytes of the document as given: nothing is added, cleared
or dropped. Write \"proof\": {} (in an envelope \"sig\": \"\", or omit it) yourself, or use --embed. The
header is {\"alg\":…,\"typ\":\"JWT\"}, with \"kid\" only if --kid is given. No policy is read.")]
pub(crate) struct AisSignCommand {
    /// Sign with this algorithm, which must match the key
    #[arg(long, value_enum)]
    alg: AisAlgorithmOption,
    #[command(flatten)]
    key: AisKeyOptions,
    /// Set the key id (`kid`) in the signature's header
    #[arg(long, value_name = "K")]
    kid: Option<String>,
    /// Clear the artifact's `proof` (or `sig`), sign, and print the artifact with the signature
    #[arg(long)]
    embed: bool,
    /// Sign this document; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn print_signature(args: &AisSignCommand) -> AisCommandResult {
    let value = document::any_json(&args.file)?;
    let key = key::read_key(&args.key, Some(args.alg))?;
    let kid = args.kid.as_deref();
    if !args.embed {
        output::line(sign(&canonical(&value), &key, kid))?;
        return Ok(ExitCode::SUCCESS);
    }
    let wrong = |what: &str| AisCommandError::Invalid(format!("{}: {what}", args.file.display()));
    let Value::Object(object) = value else {
        return Err(wrong("not an object to embed in; help: name an artifact, or omit --embed"));
    };
    let named = object.get("@type").and_then(Value::as_str).and_then(AisArtifact::named);
    let artifact =
        match (named, object.contains_key("operations"), object.contains_key("components")) {
            (Some(artifact), _, _) => artifact,
            (None, true, false) => AisArtifact::Tca,
            (None, false, true) => AisArtifact::Sca,
            _ => {
                let why = "`@type` does not name an artifact; help: name it, or omit --embed";
                return Err(wrong(why));
            }
        };
    print(&embed(artifact, object, &key, kid))
}
