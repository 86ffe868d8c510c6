//! What may be typed to look at a request and to say yes or no to it.

use std::path::PathBuf;

use clap::Args;

use crate::args::{CaseOptions, Format, ShowOptions, SigningOptions};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec review TR-20260209-160501Z-python-stats.md \\
           --allowed-signers /etc/toolexec/allowed_signers

Shows what will run as the daemon will see it: the command word by word, inputs, limits, hosts, the
cell, what every rule of the policy says, and the text of every input, with characters that are not
what they seem as \\u{…}, secrets masked, and installations marked. What waits for signatures is
`pending`. Only the ledger of the host knows whether a request was started before.
Exits 0 if it would run once the approvals are there, 2 if it would be refused whoever approves it.
With --format json stdout is one object, that of `toolexec explain` with the lines of the inputs.")]
pub(crate) struct Review {
    #[command(flatten)]
    pub(crate) case: CaseOptions,
    /// Show input texts whole; otherwise of each the first 400 lines
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec explain TR-20260209-160501Z-python-stats.md --format json

The same as `review` without the texts of inputs. Exits 0 if it would run once the approvals are
there, 2 if it would be refused whoever approves it.
With --format json stdout is one object: {\"file\",\"request_id\",\"sha256\",\"intent_sha256\",
\"verdict\",\"to_come\",\"rules\",\"violations\",\"lacking\",\"policy\",\"risk\",\"approval\",\"command\",
\"inputs\",\"outputs\",\"limits\",\"network\",\"cell\"}; verdict is ready, pending or refused.")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) case: CaseOptions,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec approve TR-20260209-160501Z-python-stats.md --as alice --key ~/.ssh/id_ed25519

Shows the review, asks, fills in approved_by and approved_utc where they are empty (no other byte
changes), and signs exactly the bytes that were shown, in namespace approve.tool-exec@threegate.
Every line of every input text is shown. What cannot be shown (no text, or more than 16 MiB) is
named, and you are asked once more.
The signature is <file>.sig, or <file>.<principal>.sig if that is there; nothing is overwritten.
With a security key /usr/bin/ssh-keygen makes the signature; `ssh-keygen -Y sign` makes the very
same one. Exits 0 if it is signed, 1 if you said no, 2 if the request would be refused, was
changed meanwhile, or your signature would not count by the allowed_signers that are known; nothing
is written then. With --format json (and --yes) the last line of stdout is one object: {\"request\",
\"request_id\",\"sha256\",\"filled\",\"signature\",\"principal\",\"fingerprint\",\"counts\",\"signers\",
\"signatures_min\",\"lacking\"}; `counts` is null where no allowed_signers are known, else true. What
is refused is {\"request\",\"refused\",\"violations\"}.")]
pub(crate) struct Approve {
    #[command(flatten)]
    pub(crate) case: CaseOptions,
    #[command(flatten)]
    pub(crate) signing: SigningOptions,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
    /// Do not ask: whoever calls this has read the request
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec reject TR-20260209-160501Z-python-stats.md --as bob --agent \\
    --reason 'reads too much'

Signs the bytes as they are, in namespace reject.tool-exec@threegate, into
<file>.<principal>.reject.sig; drop it beside the request with `toolexec promote`. One valid
rejection is final for these bytes; a text that is changed, or filled in, is another text. The
request need not be complete. The reason is for people: it is written to
<file>.<principal>.reject.txt, which is not signed, not promoted and read by no program. Exits 0 if
it is signed, 2 if the key is not one that may reject.
With --format json the last line of stdout is one object: {\"request\",\"sha256\",\"signature\",
\"principal\",\"fingerprint\",\"reason\"}.")]
pub(crate) struct Reject {
    /// The request, a Markdown file
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
    #[command(flatten)]
    pub(crate) signing: SigningOptions,
    /// Why, for whoever asked
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
