//! Arguments of commands that read one request: the request, the rules of a host, and the pager.

use std::path::PathBuf;

use clap::Args;

/// A request, and the rules by which it is looked at.
#[derive(Args)]
pub(crate) struct CaseOptions {
    /// The request, a Markdown file with front matter
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
    /// Where its input files are [default: <stem>.inputs/ beside it]
    #[arg(long, value_name = "DIR")]
    pub(crate) inputs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesOptions,
}

/// The rules of a host, where they are not those that it keeps.
#[derive(Args, Clone)]
pub(crate) struct RulesOptions {
    /// The policy [default: /etc/toolexec/policy.yaml if it is there, else the shipped `standard`]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Keys whose signatures count [default: /etc/toolexec/allowed_signers if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Keys that count no longer: a KRL (ssh-keygen -k), or public keys, one a line
    /// [default: /etc/toolexec/revoked if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) revoked: Option<PathBuf>,
    /// Keys of AIS artifacts [default: /etc/toolexec/ais_trust.yaml if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) ais_trust: Option<PathBuf>,
    /// The store of permissions, read only [default: permissions/ of the state, if it is there]
    #[arg(long, value_name = "DIR")]
    pub(crate) permissions: Option<PathBuf>,
    /// The name of the host that the request is for, which `x-audience` must be
    #[arg(long, value_name = "NAME")]
    pub(crate) origin: Option<String>,
}

/// Where a review is shown.
#[derive(Args)]
pub(crate) struct ShowOptions {
    /// Print at once, without a pager [default: $PAGER, else `less -R`, on a terminal only]
    #[arg(long)]
    pub(crate) no_pager: bool,
}
