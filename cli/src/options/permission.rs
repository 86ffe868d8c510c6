//! What may be typed about permissions.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use model::UtcTime;
use policies::permissions::{GrantId, ToolName, Traceparent};

use crate::args::{Format, SourceOptions, StateOption};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission get --agent core --subject wf-1 toolexec.run.python

An agent asks (`request`), a person answers a file, `set` takes the answer in, and `get` says from
then on what may be called. docs/permissions.md tells of the files.
Exit codes: 0 fine; 1 not permitted; 2 refused, or no such thing; 3 usage, or a store that cannot
be read: nothing is permitted then.")]
pub(crate) struct Permission {
    #[command(subcommand)]
    pub(crate) act: PermissionAct,
}

#[derive(Subcommand)]
pub(crate) enum PermissionAct {
    /// Say of each tool whether it may be called: APPROVED, DENIED or REQUESTABLE
    Get(PermissionGet),
    /// Ask a person for tools that are not approved, in a file that they answer
    Request(PermissionRequest),
    /// Take a person's answer in; or write, sign and take in an answer that is typed here
    Set(Box<PermissionSet>),
    /// List what is granted and denied, and what waits for an answer
    List(PermissionList),
    /// Take grants back, or a denial
    Revoke(PermissionRevoke),
    /// Let go of everything of a workflow that has ended
    Cleanup(PermissionCleanup),
}

/// Which permissions, and in whose trace.
#[derive(Args)]
pub(crate) struct StoreOptions {
    /// Where permissions are kept [default: permissions/ of the state]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateOption,
    /// The trace that this belongs to, as W3C has it [default: a new one]
    #[arg(long, value_name = "00-…")]
    pub(crate) traceparent: Option<Traceparent>,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

/// Which tools are asked about.
#[derive(Args)]
pub(crate) struct QuestionOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The tools, by the names that agents use
    #[arg(value_name = "TOOL", required_unless_present_any = ["from", "tool_request"])]
    pub(crate) tools: Vec<ToolName>,
    /// Read source and tools, with the inputs of calls, from JSON; - is stdin
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["tools", "agent", "tool_request"])]
    pub(crate) from: Option<PathBuf>,
    /// Ask about the run of this tool request, for the agent that it names
    #[arg(long, value_name = "REQUEST.md", conflicts_with_all = ["tools", "agent"])]
    pub(crate) tool_request: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission get --agent core --subject wf-1 toolexec.run.python
         toolexec permission get --from question.json --spend

question.json is {\"source\": {\"name\": \"core\", \"subject\": \"wf-1\", \"accesscontrol\": null}, \"tools\":
{\"toolexec.run.python\": {\"requests\": [{\"input\": {\"argv\": [\"python\", \"a.py\"]}}]}}}. It reads and
uses nothing up, but for --spend. Exits 0 if every tool is APPROVED, 1 if one is not, 2 if the
question is none. With --format json stdout is one object: {\"source\",\"states\",\"reasons\",\"spent\",
\"traceparent\"}; `states` is the map of tools to states.")]
pub(crate) struct PermissionGet {
    #[command(flatten)]
    pub(crate) question: QuestionOptions,
    /// The calls begin now: use up what is good for a number of calls only, all or nothing
    #[arg(long)]
    pub(crate) spend: bool,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission request --agent core --subject wf-1 toolexec.run.python \\
           --drafts ./drafts

Writes <drafts>/permissions/[<domain>/]PR-<now>-<random>.json. What is approved is left out, what
is denied is never asked for again, and what is asked already is not asked twice. Exits 0 if it is
asked, 2 if nothing can be asked. With --format json stdout is one object:
{\"id\",\"sha256\",\"files\",\"new\",\"data\", \"traceparent\"}; `data` is the contract's, null where the same
waits already.")]
pub(crate) struct PermissionRequest {
    #[command(flatten)]
    pub(crate) question: QuestionOptions,
    /// Where drafts are [default: drafts/ of the state]
    #[arg(long, value_name = "DIR")]
    pub(crate) drafts: Option<PathBuf>,
    /// File it for these people; may be repeated [default: permissions/ itself]
    #[arg(long = "domain", value_name = "NAME")]
    pub(crate) domains: Vec<String>,
    /// Leave the inputs of calls out of the file
    #[arg(long)]
    pub(crate) withhold_inputs: bool,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TypedArguments {
    Any,
    AsRequested,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission set --request drafts/permissions/PR-….json \\
           --grant toolexec.run.python --uses 1
         toolexec permission set PR-….json.answer.json \\
           --allowed-signers /etc/toolexec/allowed_signers

With --request it writes <request>.answer.json, signs it with --key into <answer>.sig, and takes it
in. An answer counts if <answer>.sig (or --signature) is a signature of its bytes in namespace
permission.tool-exec@threegate by somebody of --allowed-signers, or if its file belongs to a --uid
and nobody else may write it. Where neither is given your own files count. A tool that was asked
for and is not granted is denied. Exits 0 if it counts, 2 if not. With --format json stdout is one
object: {\"request\",\"granted\",\"denied\",\"by\",\"answer\",\"traceparent\"}.")]
pub(crate) struct PermissionSet {
    /// An answer that lies ready
    #[arg(value_name = "ANSWER.json", required_unless_present = "request")]
    pub(crate) answer: Option<PathBuf>,
    /// The request that is answered here
    #[arg(long, value_name = "REQUEST.json", conflicts_with = "answer")]
    pub(crate) request: Option<PathBuf>,
    /// Grant this tool; may be repeated
    #[arg(long, value_name = "TOOL", requires = "request")]
    pub(crate) grant: Vec<ToolName>,
    /// Deny this tool; may be repeated
    #[arg(long, value_name = "TOOL", requires = "request")]
    pub(crate) deny: Vec<ToolName>,
    /// Words for whoever reads the trail
    #[arg(long, value_name = "TEXT", requires = "request")]
    pub(crate) commentary: Option<String>,
    /// Each grant is good for so many calls [default: any number]
    #[arg(long, value_name = "N", requires = "grant")]
    pub(crate) uses: Option<std::num::NonZeroU32>,
    /// Each grant ends then, YYYY-MM-DDTHH:MM:SSZ [default: when the workflow is cleaned up]
    #[arg(long, value_name = "UTC", requires = "grant")]
    pub(crate) expires: Option<UtcTime>,
    /// For which inputs each grant is
    #[arg(long, value_enum, default_value = "any", requires = "grant")]
    pub(crate) arguments: TypedArguments,
    /// Sign the answer with this OpenSSH private key
    #[arg(long, value_name = "FILE", requires = "request")]
    pub(crate) key: Option<PathBuf>,
    /// Write (and sign) the answer only: somebody else takes it in
    #[arg(long, requires = "request")]
    pub(crate) no_set: bool,
    /// Signatures of the answer [default: <answer>.sig if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) signature: Vec<PathBuf>,
    /// Keys whose signatures count
    #[arg(long, value_name = "FILE")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Keys that count no longer: a KRL (ssh-keygen -k), or public keys, one a line
    #[arg(long, value_name = "FILE", requires = "allowed_signers")]
    pub(crate) revoked: Option<PathBuf>,
    /// A user of this host whose own files count unsigned; may be repeated
    #[arg(long = "uid", value_name = "UID")]
    pub(crate) uids: Vec<u32>,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission list --agent core --subject wf-1

With --format json each line of stdout is one object: {\"source\",\"tool\",\"state\",\"denied\",\"grants\"}
or {\"waiting\",\"source\",\"tools\",\"expires_utc\"}; with --trail, the entries of the trail.")]
pub(crate) struct PermissionList {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// Every change in place of what stands: when, in which trace, by whom, what
    #[arg(long, conflicts_with = "agent")]
    pub(crate) trail: bool,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission revoke --agent core --subject wf-1 toolexec.run.python
         toolexec permission revoke --grant G12.0

The tool is REQUESTABLE from then on, and answers to what was asked about it before count no more.
A denial stays, but for --denial, which takes it back: the tool may be asked for again, and no
older grant comes back. Exits 0 if something was taken back, 2 if there is no such thing. With
--format json stdout is one object: {\"source\",\"tool\",\"grants\",\"lifted\",\"traceparent\"}.")]
pub(crate) struct PermissionRevoke {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The tool
    #[arg(value_name = "TOOL", required_unless_present = "grant", requires = "agent")]
    pub(crate) tool: Option<ToolName>,
    /// This grant alone, by its name
    #[arg(long, value_name = "G….…", conflicts_with = "denial")]
    pub(crate) grant: Option<GrantId>,
    /// The denial of the tool
    #[arg(long, requires = "tool")]
    pub(crate) denial: bool,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission cleanup --agent core --subject wf-1

Nothing of exactly this agent, workflow and scope is kept; to do it twice is no mistake. With
--format json stdout is one object: {\"source\",\"cleaned\",\"traceparent\"}.")]
pub(crate) struct PermissionCleanup {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
}
