//! The arguments of `toolexec approve`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{CaseOptions, Format, ShowOptions, SigningOptions};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec approve TR-20260209-160501Z-python-stats.md --approver alice \\
           --key ~/.ssh/id_ed25519

Shows the review, asks, fills in approved_by and approved_utc if they are empty, and signs exactly
the bytes that were shown, in namespace approve.tool-exec@threegate. No other byte changes. Every
line of every input text is shown. Content that cannot be shown (binary, or beyond 16 MiB) is named
and needs a second confirmation.
With several requests, one question follows all reviews, and one signature in namespace
batch.tool-exec@threegate covers their list (lines of `sha256sum`), a copy beside each request.
Either all are approved or none; --format json prints a line for each.
A standing approval, SA-….md, is shown and signed in the same way, alone and in namespace
standing.tool-exec@threegate. One such signature admits every run within its bounds.
The signature is <file>.sig, or <file>.<principal>.sig if that exists; nothing is overwritten. With
a security key /usr/bin/ssh-keygen signs; `ssh-keygen -Y sign` makes the same signature.
Exit status: 0 signed; 1 you declined; 2 the request would be refused, it changed meanwhile, or the
signature would not count; 3 usage or internal error. With status 1 or 2 nothing is written.
With --format json (and --yes), the last line of stdout is one object: {\"request\",\"request_id\",
\"sha256\",\"filled\",\"signature\",\"principal\",\"fingerprint\",\"counts\",\"signers\",\"signatures_min\",
\"pending\"}. `counts` is null if no allowed_signers are known, otherwise true. For a standing
approval, `standing_id` replaces `request_id`, and `signers` and `signatures_min` are absent. A
refusal is {\"request\",\"refused\",\"violations\"}.")]
pub(crate) struct ApproveCommand {
    #[command(flatten)]
    pub(crate) case: CaseOptions,
    /// Approve these requests too, with one signature for all
    #[arg(value_name = "REQUEST.md", id = "more", conflicts_with = "inputs")]
    pub(crate) more: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) signing: SigningOptions,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    /// Sign without asking; use only after reviewing the request
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
