//! `toolexec ais`: creates, signs and checks the artifacts that bind a run to a user's intent. It
//! must never add to a document that it signs. It must never write a file, except for the bundle of
//! `envelope`.

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

/// Runs a subcommand.
pub(in crate::commands) fn ais(act: &AisSubcommand) -> Result<ExitCode, Failure> {
    let done = match act {
        AisSubcommand::Canonical(asked) => canonical::print_canonical(asked),
        AisSubcommand::Sign(asked) => sign::print_signature(asked),
        AisSubcommand::Verify(asked) => verify::verify(asked),
        AisSubcommand::Entail(asked) => entail::print_evidence(asked),
        AisSubcommand::Step(asked) => step::print_step(asked),
        AisSubcommand::Tca(asked) => assertions::tca(asked),
        AisSubcommand::Sca(asked) => assertions::sca(asked),
        AisSubcommand::Crl(asked) => assertions::crl(asked),
        AisSubcommand::Envelope(asked) => envelope::envelope(asked),
        AisSubcommand::Schema(asked) => schema::print_schema(asked),
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
