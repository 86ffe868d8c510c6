//! `toolexec ais entail`: prints the evidence of a plan under an intent.

use std::path::PathBuf;

use clap::Args;
use policies::ais::{Apa, Uia, UnverifiedArtifact, entail};
use serde_json::json;

use super::document;
use super::error::AisCommandResult;
use super::print::print;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais entail uia.json apa.json

Prints {\"coverage\",\"risk\",\"scores\"}, which a verifier writes into an APr. Signatures are not
checked.")]
pub(crate) struct AisEntailCommand {
    /// Read this intent
    #[arg(value_name = "UIA")]
    uia: PathBuf,
    /// Read this plan
    #[arg(value_name = "APA")]
    apa: PathBuf,
}

pub(super) fn print_evidence(args: &AisEntailCommand) -> AisCommandResult {
    let uia: UnverifiedArtifact<Uia> = document::artifact(&args.uia)?.1;
    let apa: UnverifiedArtifact<Apa> = document::artifact(&args.apa)?.1;
    let found = entail(uia.content(), apa.content());
    print(&json!({ "coverage": found.coverage, "risk": found.risk, "scores": found.scores }))
}
