//! The arguments of `toolexec verify`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Format, StateOption};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec verify results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats

Checks signatures, the statement in the bundle, its place in the log and the proof of it, re-hashes
every file that the record names and refuses any that it does not name, and refuses what a record
says of itself that cannot be. Across a tree: no request that ran twice, no id or log entry that is
used twice, no log with two faces. What was not checked is said.
Exits 0 if everything verified, 1 if something did not, 3 if it cannot be checked.
With the checkpoint that you saved last time, also that the log only grew:
  toolexec verify results --checkpoint saved --log /var/spool/toolexec/log
The same signature with stock tools (more in docs/verifying.md):
  toolexec keys show --format allowed-signers > signers
  ssh-keygen -Y verify -f signers -I tool-exec -n result.tool-exec@threegate -s X.md.sig < X.md")]
pub(crate) struct Verify {
    /// A result directory, its record, a bundle alone, or a tree with results below it
    #[arg(value_name = "RESULT_DIR|FILE|TREE")]
    pub(super) path: PathBuf,
    /// Keys of results to trust [default: the key of the state]
    #[arg(long, value_name = "FILE")]
    pub(super) allowed_signers: Option<PathBuf>,
    /// Keys of the log, a verifier line each [default: with the state's key, the state's log.pub]
    #[arg(long, value_name = "FILE")]
    pub(super) log_key: Option<PathBuf>,
    /// Whose approvals count: have them verified again
    #[arg(long, value_name = "FILE")]
    pub(super) approvers: Option<PathBuf>,
    /// Keys that count no longer: a KRL (ssh-keygen -k), or public keys, one a line
    #[arg(long, value_name = "FILE", requires = "approvers")]
    pub(super) revoked: Option<PathBuf>,
    /// A checkpoint of the log that you saved earlier
    #[arg(long, value_name = "FILE", requires = "log")]
    pub(super) checkpoint: Option<PathBuf>,
    /// The log as it is now: every record's checkpoint must be one that it grew from
    #[arg(long, value_name = "DIR")]
    pub(super) log: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}
