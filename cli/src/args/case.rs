//! Arguments of commands that read one request: the request, the rules of a host, and the pager.

use std::path::PathBuf;

use clap::Args;

/// A request, and the rules to evaluate it with.
#[derive(Args)]
pub(crate) struct CaseOptions {
    /// Read this request, a Markdown file with front matter
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
    /// Read input files from this directory [default: <stem>.inputs/ beside the request]
    #[arg(long, value_name = "DIR")]
    pub(crate) inputs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesOptions,
}

/// Rules that replace those of the host.
#[derive(Args, Clone)]
pub(crate) struct RulesOptions {
    /// Use this policy
    /// [default: /etc/toolexec/policy.yaml if it exists, else the built-in `standard`]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Accept approvals signed by keys in this file
    /// [default: /etc/toolexec/allowed_signers if it exists]
    #[arg(long = "approvers", value_name = "FILE")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Reject the keys in this file: an OpenSSH KRL, or public keys, one per line
    /// [default: /etc/toolexec/revoked if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) revoked: Option<PathBuf>,
    /// Trust the keys in this file for AIS artifacts
    /// [default: /etc/toolexec/ais_trust.yaml if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) ais_trust: Option<PathBuf>,
    /// Read permissions from this store without changing it
    /// [default: permissions/ in the state directory if it exists]
    #[arg(long, value_name = "DIR")]
    pub(crate) permissions: Option<PathBuf>,
    /// Evaluate the request for the host with this name, which `x-audience` must match
    #[arg(long, value_name = "NAME")]
    pub(crate) origin: Option<String>,
}

/// The display of a review.
#[derive(Args)]
pub(crate) struct ShowOptions {
    /// Print without a pager [default: page with $PAGER or `less -R` on a terminal]
    #[arg(long)]
    pub(crate) no_pager: bool,
}
