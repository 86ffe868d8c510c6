//! `toolexec ais schema`: prints the JSON Schema of an artifact.

use std::process::ExitCode;

use clap::Args;
use policies::ais::AisArtifact;

use super::error::AisCommandResult;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "Example: toolexec ais schema UIA > uia.schema.json")]
pub(crate) struct AisSchemaCommand {
    /// Select the artifact: UIA, APA, APr, TCA, IBE, SCA or CRL
    #[arg(value_name = "ARTIFACT")]
    artifact: String,
}

pub(super) fn print_schema(args: &AisSchemaCommand) -> AisCommandResult {
    let name = &args.artifact;
    let same = |artifact: &AisArtifact| artifact.as_str().eq_ignore_ascii_case(name);
    match AisArtifact::ALL.iter().copied().find(same) {
        Some(artifact) => {
            output::text(artifact.schema())?;
            Ok(ExitCode::SUCCESS)
        }
        None => Err(Failure::Message(format!(
            "ais schema: no artifact '{name}'; help: name UIA, APA, APr, TCA, IBE, SCA or CRL"
        ))
        .into()),
    }
}
