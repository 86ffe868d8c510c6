//! The arguments of `toolexec draft`. There must never be an argument that fills in a person's
//! approval: only the name of a standing approval is filled in, which the daemon compares again.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use model::{ClosedSet, Language};
use validator::{RequestedBy, RiskLevel, Sensitivity};

use crate::args::{Format, SourceOptions};

#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["words", "command", "standing"]),
    after_help = "\
Example: toolexec draft --purpose 'Mean of one column' --language python --input stats.py \\
           --input table.csv=data/2026.csv --output mean.json='the mean' --risk low \\
           --sensitivity public --justification 'reads one table' -- \\
           python stats.py --in /in/table.csv --out /out/mean.json
         toolexec draft --standing SA-20260209-160501Z-means.md --parameter last=7 \\
           --input means.py --input sales-1.csv --agent core --subject wf-1

Writes TR-<now>-<slug>.md, and copies of the inputs to TR-<now>-<slug>.inputs/, where `run` and
`submit` find them. The approval remains empty: the approver fills in its two lines. A draft that
`toolexec lint --draft` would refuse is reported and not written.
A folder is copied without .git and without what its .gitignore and .toolexecignore files leave
out.
With --env, the request names an environment by name and digest (docs/environments.md).
With --patch, the tool starts in /out/work, a writable copy of the folder. Name other inputs as
/in/NAME then. TOOL-EXEC itself writes /out/changes.patch after the run.
With --standing, the request uses a standing approval, which states everything but the values of
its parameters, the inputs and lower limits. No person signs the request. A draft that exceeds a
bound is reported and not written.
Exit status: 0 written; 2 it would be refused; 3 usage or internal error.
With --format json, the last line of stdout is one object: {\"request\",\"request_id\",\"sha256\",
\"intent_sha256\",\"inputs\",\"violations\"}. If the draft would be refused, it is {\"request\",
\"request_id\",\"violations\"}, and `request` is null."
)]
pub(crate) struct DraftCommand {
    /// State why the run is needed, in one sentence
    #[arg(
        long,
        value_name = "SENTENCE",
        required_unless_present = "standing",
        conflicts_with = "standing"
    )]
    pub(crate) purpose: Option<String>,
    /// Set the last part of the request id [default: derived from the purpose]
    #[arg(long)]
    pub(crate) slug: Option<String>,
    /// Select the language of the tool
    #[arg(
        long,
        value_parser = closed_set_value::<Language>(),
        required_unless_present = "standing",
        conflicts_with = "standing"
    )]
    pub(crate) language: Option<Language>,
    /// Set the command as separate words, which are quoted if necessary
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
    /// Set the command as one line with shell quoting; no shell runs it
    #[arg(long, value_name = "LINE")]
    pub(crate) command: Option<String>,
    /// Use the standing approval in this file, which sets command and bounds
    #[arg(long, value_name = "STANDING.md", requires = "agent")]
    pub(crate) standing: Option<PathBuf>,
    /// Set a parameter of the standing approval; can be repeated
    #[arg(
        long = "parameter",
        value_name = "NAME=VALUE",
        value_parser = parameter,
        requires = "standing"
    )]
    pub(crate) parameters: Vec<(String, String)>,
    /// Use this environment: its name, NAME@sha256:DIGEST, or 12 or more digits of its digest
    #[arg(long = "env", value_name = "ENVIRONMENT", conflicts_with = "standing")]
    pub(crate) environment: Option<String>,
    /// Add an input file or folder, readable as /in/NAME; can be repeated [default name: its own]
    #[arg(long = "input", value_name = "[NAME=]PATH")]
    pub(crate) inputs: Vec<OsString>,
    /// Add an expected output file, written as /out/PATH, with its purpose; can be repeated
    #[arg(long = "output", value_name = "PATH[=DESCRIPTION]", conflicts_with = "standing")]
    pub(crate) outputs: Vec<String>,
    /// Request the changes to the only folder of --input as changes.patch
    #[arg(long, conflicts_with = "standing")]
    pub(crate) patch: bool,
    /// Add a host that the tool must reach; can be repeated [default port: 443]
    #[arg(
        long = "host",
        value_name = "HOST[:PORT]",
        requires = "network_rationale",
        conflicts_with = "standing"
    )]
    pub(crate) hosts: Vec<String>,
    /// State why the tool needs a network
    #[arg(long, value_name = "TEXT", requires = "hosts", conflicts_with = "standing")]
    pub(crate) network_rationale: Option<String>,
    /// Request this number of processor cores, such as 2 or 0.5
    /// [default: 1, or that of the standing approval]
    #[arg(long, value_name = "CORES", allow_negative_numbers = true)]
    pub(crate) cpu: Option<String>,
    /// Request this amount of memory in MiB [default: 256, or that of the standing approval]
    #[arg(long, value_name = "MIB", allow_negative_numbers = true)]
    pub(crate) memory_mb: Option<u64>,
    /// Request this wall time in seconds [default: 60, or that of the standing approval]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) time_sec: Option<u64>,
    /// State your estimate of the risk
    #[arg(
        long,
        value_parser = closed_set_value::<RiskLevel>(),
        required_unless_present = "standing",
        conflicts_with = "standing"
    )]
    pub(crate) risk: Option<RiskLevel>,
    /// State why the run is justified
    #[arg(long, value_name = "TEXT", required_unless_present = "standing")]
    pub(crate) justification: Option<String>,
    /// State the sensitivity of the data
    #[arg(
        long,
        value_parser = closed_set_value::<Sensitivity>(),
        required_unless_present = "standing",
        conflicts_with = "standing"
    )]
    pub(crate) sensitivity: Option<Sensitivity>,
    /// State the author of the request
    #[arg(
        long,
        default_value = "human",
        value_parser = closed_set_value::<RequestedBy>()
    )]
    pub(crate) requested_by: RequestedBy,
    /// Set `x-requester`, the person who asks for the run
    #[arg(long, value_name = "NAME")]
    pub(crate) requester: Option<String>,
    /// Set `x-audience`, the host that may run the request
    #[arg(long, value_name = "NAME", conflicts_with = "standing")]
    pub(crate) audience: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// Write to this existing directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

/// The default limits of a draft that uses no standing approval.
pub(crate) const DRAFT_CPU: &str = "1";
pub(crate) const DRAFT_MEMORY_MB: u64 = 256;
pub(crate) const DRAFT_TIME_SEC: u64 = 60;

/// Parses a value of a closed set of the request schema. The help lists the values.
pub(crate) fn closed_set_value<T: ClosedSet + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::TEXTS.iter().copied()).try_map(|typed| {
        T::ALL.iter().copied().find(|value| value.as_str() == typed).ok_or("not one of the words")
    })
}

fn parameter(typed: &str) -> Result<(String, String), &'static str> {
    let (name, value) = typed.split_once('=').ok_or("no `=`; write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
