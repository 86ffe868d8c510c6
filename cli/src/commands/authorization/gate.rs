//! `toolexec gate`: evaluates events with the AANA gate, without a policy, and executes nothing. It
//! must answer every event, and must never hold more than one event in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use policies::aana::{EVENT_BYTES_MAX, GateResult, gate_bytes};

use crate::failure::Failure;
use crate::{clock, output};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// One event, one result
    Json,
    /// One event per line, one result per line
    Jsonl,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec gate event.json
         agent --events | toolexec gate - --format jsonl

Answers an event of the AANA Agent Action Contract v1 with accept, ask, defer or refuse. Reads no
policy and executes nothing. Stdout is one object: {\"contract_version\",\"tool_name\",\"tool_category\",
\"authorization_state\",\"risk_domain\",\"gate_decision\",\"recommended_action\",\"candidate_gate\",
\"aana_route\",\"runtime_recommended_route\",\"aix\",\"hard_blockers\",\"reasons\",\"evidence_ref_count\",
\"evidence_integrity\",\"authorization_report\",\"validation_errors\"}. An event without such errors
has no validation_errors. Execute only if gate_decision is pass. With --format jsonl, there is
exactly one object for every line, in order. A line that is not an event of at most 1 MiB is
refused with schema_validation_failed. docs/gate.md explains every field.
Exit status: 0 every gate_decision is pass; 1 at least one is not; 3 the file cannot be read, or a
usage error.")]
pub(crate) struct GateCommand {
    /// Read the event from this JSON file; `-` is stdin
    #[arg(value_name = "EVENT.json|-")]
    event: PathBuf,
    /// Use this format for events and results
    #[arg(long, value_enum, default_value = "json")]
    format: GateFormat,
}

pub(in crate::commands) fn gate(args: &GateCommand) -> Result<ExitCode, Failure> {
    let from_stdin = args.event.as_os_str() == "-";
    let name = if from_stdin { Path::new("stdin") } else { &args.event };
    let reader: Box<dyn BufRead> = if from_stdin {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(name).map_err(Failure::io(name))?))
    };
    let all_pass = match args.format {
        GateFormat::Json => answer_one(reader, name)?,
        GateFormat::Jsonl => answer_lines(reader, name)?,
    };
    Ok(if all_pass { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer_one(reader: impl Read, name: &Path) -> Result<bool, Failure> {
    let mut bytes = Vec::new();
    reader.take(read_limit()).read_to_end(&mut bytes).map_err(Failure::io(name))?;
    answer(&bytes)
}

/// Answers each line before reading the next one.
fn answer_lines(mut reader: impl BufRead, name: &Path) -> Result<bool, Failure> {
    let mut all_pass = true;
    while let Some(line) = next_line(&mut reader).map_err(Failure::io(name))? {
        all_pass &= answer(&line)?;
    }
    Ok(all_pass)
}

/// Prints the result and returns whether it passes.
fn answer(event: &[u8]) -> Result<bool, Failure> {
    let result: GateResult = gate_bytes(event, clock::now());
    let json = serde_json::to_string(&result).map_err(|error| {
        let help = "report this as a bug";
        Failure::Message(format!("gate: cannot encode the result: {error}; help: {help}"))
    })?;
    output::line(json)?;
    Ok(result.passes())
}

/// Returns the next line without its end. A line longer than an event is cut above the limit.
fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.by_ref().take(read_limit()).read_until(b'\n', &mut line)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Some(line));
    }
    if line.len() > EVENT_BYTES_MAX {
        reader.skip_until(b'\n')?;
    }
    Ok(if line.is_empty() { None } else { Some(line) })
}

/// One byte more than an event may have, so that an oversized event is detected.
fn read_limit() -> u64 {
    u64::try_from(EVENT_BYTES_MAX).map_or(u64::MAX, |most| most.saturating_add(1))
}
