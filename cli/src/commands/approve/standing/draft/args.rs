//! The arguments of `toolexec standing draft`. There must never be one that fills in an approval.

use std::path::PathBuf;

use clap::Args;

use super::options::{TemplateParameterOption, TemplateSlotOption};
use crate::args::Format;

const SLOT_BYTES: u64 = 8 << 20;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec standing draft TR-20260209-160501Z-python-stats.md --slug means \\
           --parameter last@4=1..3650 --slot 'table=sales-*.csv' --agent core \\
           --audience desk-1 --uses 200 --uses-per-hour 20 --days 14 \\
           --effect 'Any table of that name. What runs is means.py with these bytes.'

Writes SA-<now>-<slug>.md with an empty approval. Words, inputs, environment,
limits, network, outputs, constraints, risk and sensitivity are those of the request, which may be
one of a record. Only parameters and slots may vary.
A parameter replaces word WORD of the command, counted from 1 as `toolexec review` prints them, or
the part after its last `=`. Its values are SPEC:
  1..12             a whole number between both
  day|week|month    one of these words
  identifier:32     a letter or `_`, then letters, digits and `_`; at most 32 characters
  date              a date YYYY-MM-DD
  number-list:64    whole numbers, separated by commas; at most 64 characters
A slot replaces every input whose name is FILES, with at most one `*`, by files of any content. If
that is one input, a word `/in/<name>` becomes the file of the slot.
Exit status: 0 written; 2 the request or the standing approval would be refused; 3 usage or
internal error.
With --format json, the last line of stdout is one object: {\"standing\",\"standing_id\",\"sha256\",
\"violations\"}. If the standing approval would be refused, `standing` and `sha256` are null. If the
request, a parameter or a slot is refused, no object is printed.")]
pub(crate) struct StandingDraftCommand {
    /// Take the bounds from this request, a Markdown file
    #[arg(value_name = "REQUEST.md")]
    pub(super) request: PathBuf,
    /// Set the last part of the id
    #[arg(long, value_name = "NAME")]
    pub(super) slug: String,
    /// Let requests choose a value for these words; can be repeated
    #[arg(long = "parameter", value_name = "NAME@WORD[,WORD]=SPEC")]
    pub(super) parameters: Vec<TemplateParameterOption>,
    /// Let requests choose the content of these inputs; can be repeated
    #[arg(long = "slot", value_name = "NAME=FILES")]
    pub(super) slots: Vec<TemplateSlotOption>,
    /// Set the most bytes of one file of a slot
    #[arg(long, value_name = "BYTES", default_value_t = SLOT_BYTES)]
    pub(super) slot_bytes: u64,
    /// Set the most bytes of all inputs together [default: --slot-bytes for each input]
    #[arg(long, value_name = "BYTES")]
    pub(super) inputs_bytes: Option<u64>,
    /// Permit that the content of slots is executed; the risk is then at least medium
    #[arg(long)]
    pub(super) runs_code_of_inputs: bool,
    /// Permit its use by this agent; can be repeated [default: the agent of the request]
    #[arg(long = "agent", value_name = "NAME")]
    pub(super) agents: Vec<String>,
    /// Permit its use by this workflow only [default: each workflow of the agents]
    #[arg(long, value_name = "NAME")]
    pub(super) subject: Option<String>,
    /// Permit its use on this host only [default: the `x-audience` of the request]
    #[arg(long, value_name = "HOST")]
    pub(super) audience: Option<String>,
    /// Permit this number of uses in all
    #[arg(long, value_name = "COUNT")]
    pub(super) uses: u64,
    /// Permit this number of uses within an hour
    #[arg(long, value_name = "COUNT")]
    pub(super) uses_per_hour: u64,
    /// Permit its use for this number of days from now
    #[arg(long, value_name = "DAYS")]
    pub(super) days: u64,
    /// State in words what the widest permitted run can do
    #[arg(long, value_name = "TEXT")]
    pub(super) effect: String,
    /// Write to this existing directory; the file is named after its id
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}
