//! `toolexec ais`: creates, signs and checks the artifacts that bind a run to a user's intent. It
//! must never add to a document that it signs, or write a file other than the bundle of `envelope`.

mod assertions;
mod canonical;
mod document;
mod entail;
mod envelope;
mod environment_digests;
mod error;
mod key;
mod print;
mod schema;
mod sign;
mod step;
mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::output;

use assertions::{AisCrlCommand, AisScaCommand, AisTcaCommand};
use canonical::AisCanonicalCommand;
use entail::AisEntailCommand;
use envelope::AisEnvelopeCommand;
use error::AisCommandError;
use schema::AisSchemaCommand;
use sign::AisSignCommand;
use step::AisStepCommand;
use verify::AisVerifyCommand;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais verify TR-….ais.json --trust trust.yaml --request TR-….md

The artifacts of Agentic Intent Security: UIA (a user's intent), APA (a plan), APr (the proof that
the plan serves the intent), TCA (a tool's assertion), IBE (the envelope that binds one call to all
of them), SCA (the supply chain of a host), CRL (revocations). docs/ais.md describes their
relations. Every document is JSON; `-` is stdin. Answers are JSON.
Exit status: 0 success; 1 the guard refused; 2 invalid document; 3 usage or internal error.")]
pub(crate) struct AisCommand {
    #[command(subcommand)]
    pub(crate) subcommand: AisSubcommand,
}

#[derive(Subcommand)]
pub(crate) enum AisSubcommand {
    /// Print the canonical bytes of a JSON document
    Canonical(AisCanonicalCommand),
    /// Sign a JSON document exactly as given
    Sign(AisSignCommand),
    /// Check a bundle against every rule of the guard
    Verify(AisVerifyCommand),
    /// Compute the evidence of a plan under an intent (semantic-entailment-v1)
    Entail(AisEntailCommand),
    /// Print the plan's step that does what a request does
    Step(AisStepCommand),
    /// Create this host's tool assertion from its policy
    Tca(AisTcaCommand),
    /// Create this host's supply chain assertion from measured digests
    Sca(AisScaCommand),
    /// Create a revocation list
    Crl(AisCrlCommand),
    /// Create the envelope of an approved request and write its bundle
    Envelope(AisEnvelopeCommand),
    /// Print the JSON Schema of an artifact
    Schema(AisSchemaCommand),
}

pub(in crate::commands) fn ais(act: &AisSubcommand) -> Result<ExitCode, Failure> {
    let done = match act {
        AisSubcommand::Canonical(args) => canonical::print_canonical(args),
        AisSubcommand::Sign(args) => sign::print_signature(args),
        AisSubcommand::Verify(args) => verify::verify(args),
        AisSubcommand::Entail(args) => entail::print_evidence(args),
        AisSubcommand::Step(args) => step::print_step(args),
        AisSubcommand::Tca(args) => assertions::tca(args),
        AisSubcommand::Sca(args) => assertions::sca(args),
        AisSubcommand::Crl(args) => assertions::crl(args),
        AisSubcommand::Envelope(args) => envelope::envelope(args),
        AisSubcommand::Schema(args) => schema::print_schema(args),
    };
    match done {
        Ok(code) => Ok(code),
        Err(AisCommandError::Failed(failure)) => Err(failure),
        Err(AisCommandError::Invalid(what)) => {
            output::note(what);
            Ok(ExitCode::from(2))
        }
    }
}
