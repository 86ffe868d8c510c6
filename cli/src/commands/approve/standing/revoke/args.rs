//! The arguments of `toolexec standing revoke`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Format, SigningOptions, StateOption};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec standing revoke SA-20260209-160501Z-means --approver alice --ssh-agent \\
           --reason 'the table has moved'

Signs a rejection of the exact bytes, in namespace reject.tool-exec@threegate, and submits it with
the standing approval. The daemon then admits no further use. This is final: a new standing
approval needs another id. Runs that have begun continue; `toolexec cancel` ends them.
The document is the named file, or the stored one of --state, or the one that the daemon publishes
in the spool. Without a spool, the embedded state is changed directly.
The reason is for people: it is printed, not signed and not submitted.
Exit status: 0 submitted or revoked; 2 not found, revoked before in the embedded state, or no
usable key; 3 usage or internal error.
With --format json, stdout is one object: {\"standing_id\",\"reference\",\"submitted\",
\"principal\",\"fingerprint\",\"reason\"}. `submitted` is null if the embedded state was changed.")]
pub(crate) struct StandingRevokeCommand {
    /// Revoke this standing approval, named by its id or its file
    #[arg(value_name = "SA-…|FILE")]
    pub(super) standing: PathBuf,
    #[command(flatten)]
    pub(super) signing: SigningOptions,
    /// Give this reason
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: String,
    /// Submit to this spool, which contains approved/
    /// [default: /var/spool/toolexec if it exists, else none: the embedded state is changed]
    #[arg(long, value_name = "DIR")]
    pub(super) spool: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}
