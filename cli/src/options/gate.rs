//! What may be typed to ask the AANA gate.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// One event, one result
    Json,
    /// An event a line, a result a line
    Jsonl,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec gate event.json
         agent --events | toolexec gate - --format jsonl

Answers an event of the AANA Agent Action Contract v1 with accept, ask, defer or refuse; reads no
policy, executes nothing. Stdout is one object: {\"contract_version\",\"tool_name\",\"tool_category\",
\"authorization_state\",\"risk_domain\",\"gate_decision\",\"recommended_action\",\"candidate_gate\",
\"aana_route\",\"runtime_recommended_route\",\"aix\",\"hard_blockers\",\"reasons\",\"evidence_ref_count\",
\"evidence_integrity\",\"authorization_report\",\"validation_errors\"}. Execute only if gate_decision is
pass. With --format jsonl there is exactly one object for every line, in order; what is no event of
at most 1 MiB is refused with schema_validation_failed. docs/gate.md explains every field. Exits 0
if (every) gate_decision is pass, 1 if not, 3 if the file cannot be read.")]
pub(crate) struct Gate {
    /// The event, a JSON file; `-` is stdin
    #[arg(value_name = "EVENT.json|-")]
    pub(crate) event: PathBuf,
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: GateFormat,
}
