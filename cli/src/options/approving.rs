//! What may be typed to look at a request and to say yes or no to it.

use std::path::PathBuf;

use clap::Args;

use super::Format;

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

/// Who signs, and with what.
#[derive(Args)]
pub(crate) struct SigningOptions {
    /// Your name, as allowed_signers has it
    #[arg(long = "as", value_name = "PRINCIPAL")]
    pub(crate) principal: String,
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    /// The agent's key with this fingerprint, where it holds several
    #[arg(long, value_name = "SHA256:…", requires = "agent")]
    pub(crate) fingerprint: Option<records::KeyFingerprint>,
    /// Write <file>.LABEL.sig; a label is only a label
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyOptions {
    /// An OpenSSH private key: Ed25519, ECDSA P-256, or the file of a security key
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// A key of the agent at $SSH_AUTH_SOCK
    #[arg(long)]
    pub(crate) agent: bool,
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
