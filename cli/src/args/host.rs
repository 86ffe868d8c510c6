//! Options for the state directory, the results and the rules of an embedded run.

use std::path::PathBuf;

use clap::Args;

use super::state::StateOption;
use crate::failure::Failure;

/// The state, results and rules of an embedded run.
#[derive(Args)]
pub(crate) struct HostOptions {
    /// Write results to this directory, creating it if missing
    /// [default: results/ in the state directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateOption,
    /// Use this policy [default: the built-in `embedded`]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Accept approvals signed by keys in this file, if the policy requires signatures
    #[arg(long = "approvers", value_name = "FILE")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Reject the keys in this file: an OpenSSH KRL, or public keys, one per line
    #[arg(long, value_name = "FILE", requires = "allowed_signers")]
    pub(crate) revoked: Option<PathBuf>,
    /// Trust the keys in this file for AIS artifacts, if the policy requires a bundle (docs/ais.md)
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
