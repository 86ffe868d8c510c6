//! Options for the state directory, the results and the rules of an embedded run.

use std::path::PathBuf;

use clap::Args;

use super::state::StateOption;
use crate::failure::Failure;

/// Where and by which rules something is run.
#[derive(Args)]
pub(crate) struct HostOptions {
    /// Where the result goes; made if missing [default: results/ of the state]
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateOption,
    /// A policy file instead of the built-in `embedded`
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Keys whose signatures approve, where the policy asks for signatures
    #[arg(long, value_name = "FILE")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Keys that count no longer: a KRL (ssh-keygen -k), or public keys, one a line
    #[arg(long, value_name = "FILE", requires = "allowed_signers")]
    pub(crate) revoked: Option<PathBuf>,
    /// Keys of AIS artifacts, where the policy asks for a bundle (docs/ais.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) ais_trust: Option<PathBuf>,
}

impl HostOptions {
    /// Returns the results directory: the option's value, or `results/` of the state.
    pub(crate) fn results_of(&self) -> Result<PathBuf, Failure> {
        match &self.results {
            Some(results) => Ok(results.clone()),
            None => Ok(self.state.path()?.join("results")),
        }
    }
}
