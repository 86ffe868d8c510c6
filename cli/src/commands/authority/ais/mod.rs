//! `toolexec ais`: creates, signs and checks the artifacts that bind a run to a user's intent. It
//! must never add to a document that it signs. It must never write a file, except for the bundle of
//! `envelope`.

mod assertions;
mod canonical;
mod document;
mod entail;
mod envelope;
mod error;
mod key;
mod print;
mod schema;
mod sign;
mod step;
mod supply;
mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::output;

use assertions::{Crl, Sca, Tca};
use canonical::Canonical;
use entail::Entail;
use envelope::Envelope;
use error::Stop;
use schema::Schema;
use sign::Sign;
use step::Step;
use verify::VerifyBundle;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais verify TR-….ais.json --trust trust.yaml --request TR-….md

The artifacts of Agentic Intent Security: UIA (a user's intent), APA (a plan), APr (the proof that
the plan serves the intent), TCA (a tool's assertion), IBE (the envelope that binds one call to all
of them), SCA (the supply chain of a host), CRL (revocations). docs/ais.md describes their
relations. Every document is JSON; `-` is stdin. Answers are JSON.
Exit status: 0 success; 1 the guard refused; 2 invalid document; 3 usage or internal error.")]
pub(crate) struct Ais {
    #[command(subcommand)]
    pub(crate) act: AisAct,
}

#[derive(Subcommand)]
pub(crate) enum AisAct {
    /// Print the canonical bytes of a JSON document
    Canonical(Canonical),
    /// Sign a JSON document exactly as given
    Sign(Sign),
    /// Check a bundle against every rule of the guard
    Verify(VerifyBundle),
    /// Compute the evidence of a plan under an intent (semantic-entailment-v1)
    Entail(Entail),
    /// Print the plan's step that does what a request does
    Step(Step),
    /// Create this host's tool assertion from its policy
    Tca(Tca),
    /// Create this host's supply chain assertion from measured digests
    Sca(Sca),
    /// Create a revocation list
    Crl(Crl),
    /// Create the envelope of an approved request and write its bundle
    Envelope(Envelope),
    /// Print the JSON Schema of an artifact
    Schema(Schema),
}

/// Runs a subcommand.
pub(in crate::commands) fn ais(act: &AisAct) -> Result<ExitCode, Failure> {
    let done = match act {
        AisAct::Canonical(asked) => canonical::print_canonical(asked),
        AisAct::Sign(asked) => sign::print_signature(asked),
        AisAct::Verify(asked) => verify::verify(asked),
        AisAct::Entail(asked) => entail::print_evidence(asked),
        AisAct::Step(asked) => step::print_step(asked),
        AisAct::Tca(asked) => assertions::tca(asked),
        AisAct::Sca(asked) => assertions::sca(asked),
        AisAct::Crl(asked) => assertions::crl(asked),
        AisAct::Envelope(asked) => envelope::envelope(asked),
        AisAct::Schema(asked) => schema::print_schema(asked),
    };
    match done {
        Ok(code) => Ok(code),
        Err(Stop::Failed(failure)) => Err(failure),
        Err(Stop::Invalid(what)) => {
            output::note(what);
            Ok(ExitCode::from(2))
        }
    }
}
