//! The arguments of `toolexec draft`. There must never be an argument that fills in an approval.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use model::{ClosedSet, Language};
use validator::{RequestedBy, RiskLevel, Sensitivity};

use crate::args::{Format, SourceOptions};

#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["words", "command"]),
    after_help = "\
Example: toolexec draft --purpose 'Mean of one column' --language python --input stats.py \\
           --input table.csv=data/2026.csv --output mean.json='the mean' --risk low \\
           --sensitivity public --justification 'reads one table' -- \\
           python stats.py --in /in/table.csv --out /out/mean.json

Writes TR-<now>-<slug>.md and copies of the inputs into TR-<now>-<slug>.inputs/, where `run` and
`promote` look for them. The approval stays empty: whoever approves fills in its two lines. What
`toolexec lint --draft` would refuse is told and not written.
Exits 0 if the draft is written, 2 if it would be refused, 3 if it could not be made.
With --format json the last line of stdout is one object:
{\"request\",\"request_id\",\"sha256\",\"intent_sha256\",\"inputs\",\"violations\"}; nothing is
written where `request` is null."
)]
pub(crate) struct Draft {
    /// Why the run is needed, in one sentence
    #[arg(long, value_name = "SENTENCE")]
    pub(crate) purpose: String,
    /// The last part of the request's name [default: made of the purpose]
    #[arg(long)]
    pub(crate) slug: Option<String>,
    /// The language of the tool
    #[arg(long, value_parser = word_of::<Language>())]
    pub(crate) language: Language,
    /// The command in its words; they are quoted where need be
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
    /// The command as one line, quoted as for a shell (none runs it)
    #[arg(long, value_name = "LINE")]
    pub(crate) command: Option<String>,
    /// A file that the tool reads as /in/NAME [default name: the file's own]
    #[arg(long = "input", value_name = "[NAME=]FILE")]
    pub(crate) inputs: Vec<OsString>,
    /// A file that the tool leaves as /out/PATH, and what it is for
    #[arg(long = "output", value_name = "PATH[=DESCRIPTION]")]
    pub(crate) outputs: Vec<String>,
    /// A host that the tool must reach [default port: 443]
    #[arg(long = "host", value_name = "HOST[:PORT]", requires = "network_rationale")]
    pub(crate) hosts: Vec<String>,
    /// Why a network is needed
    #[arg(long, value_name = "TEXT", requires = "hosts")]
    pub(crate) network_rationale: Option<String>,
    /// Processor cores, such as 2 or 0.5
    #[arg(long, value_name = "CORES", default_value = DRAFT_CPU, allow_negative_numbers = true)]
    pub(crate) cpu: String,
    /// Memory in MiB
    #[arg(long, value_name = "MIB", default_value_t = DRAFT_MEMORY_MB, allow_negative_numbers = true)]
    pub(crate) memory_mb: u64,
    /// Wall time in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = DRAFT_TIME_SEC, allow_negative_numbers = true)]
    pub(crate) time_sec: u64,
    /// Your estimate of the risk
    #[arg(long, value_parser = word_of::<RiskLevel>())]
    pub(crate) risk: RiskLevel,
    /// Why the run is justified
    #[arg(long, value_name = "TEXT")]
    pub(crate) justification: String,
    /// How sensitive the data is
    #[arg(long, value_parser = word_of::<Sensitivity>())]
    pub(crate) sensitivity: Sensitivity,
    /// Who writes the request
    #[arg(
        long,
        default_value = "human",
        value_parser = word_of::<RequestedBy>()
    )]
    pub(crate) requested_by: RequestedBy,
    /// Who asks, for `x-requester`
    #[arg(long, value_name = "NAME")]
    pub(crate) requester: Option<String>,
    /// For whom the result is, for `x-audience`
    #[arg(long, value_name = "NAME")]
    pub(crate) audience: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// Where to write; an existing directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

/// The default limits of a draft.
pub(crate) const DRAFT_CPU: &str = "1";
pub(crate) const DRAFT_MEMORY_MB: u64 = 256;
pub(crate) const DRAFT_TIME_SEC: u64 = 60;

/// Parses a value of a closed set of the request schema. The help lists the values.
fn word_of<T: ClosedSet + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::TEXTS.iter().copied()).try_map(|typed| {
        T::ALL.iter().copied().find(|value| value.as_str() == typed).ok_or("not one of the words")
    })
}
