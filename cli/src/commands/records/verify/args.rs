//! The arguments of `toolexec verify`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Format, StateOption};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec verify results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats

Checks signatures, the statement in the bundle, its entry in the log and the proof of it; re-hashes
every file that the record names and refuses any other; and refuses impossible statements. Across a
tree: no request ran twice, no id or log entry is used twice, and no log has two histories. Parts
that were not checked are listed.
Exit status: 0 everything verified; 1 something did not verify; 3 usage or internal error.
Records of a fleet, each by the keys of its host; no request may have run on two hosts:
  toolexec verify results --fleet fleet.yaml --approvers allowed_signers
With a checkpoint that you saved earlier, it also checks that the log only grew:
  toolexec verify results --checkpoint saved --log /var/spool/toolexec/log
The same signature with stock tools (more in docs/verifying.md):
  toolexec keys show --format allowed-signers > signers
  ssh-keygen -Y verify -f signers -I tool-exec -n result.tool-exec@threegate -s X.md.sig < X.md")]
pub(crate) struct VerifyCommand {
    /// Verify this result directory, record, bundle, or tree of results
    #[arg(value_name = "RESULT_DIR|FILE|TREE")]
    pub(super) path: PathBuf,
    /// Trust the result keys in this file [default: the key of the state directory]
    #[arg(long = "result-keys", value_name = "FILE")]
    pub(super) allowed_signers: Option<PathBuf>,
    /// Trust the log keys in this file, one verifier line each
    /// [default: log.pub of the state directory, unless --result-keys is given]
    #[arg(long, value_name = "FILE")]
    pub(super) log_key: Option<PathBuf>,
    /// Trust the hosts in this fleet list; with --approvers, only if one of them signed it
    #[arg(
        long = "fleet",
        value_name = "FILE",
        conflicts_with_all = ["allowed_signers", "log_key", "checkpoint", "log", "dir"]
    )]
    pub(super) fleet_list: Option<PathBuf>,
    /// Verify approvals again with the keys in this file [default: not verified]
    #[arg(long, value_name = "FILE")]
    pub(super) approvers: Option<PathBuf>,
    /// Reject the keys in this file: an OpenSSH KRL, or public keys, one per line
    #[arg(long, value_name = "FILE", requires = "approvers")]
    pub(super) revoked: Option<PathBuf>,
    /// Check that the log contains this saved checkpoint
    #[arg(long, value_name = "FILE", requires = "log")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Check that the checkpoint of every record is a prefix of this log
    #[arg(long, value_name = "DIR")]
    pub(super) log: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}
