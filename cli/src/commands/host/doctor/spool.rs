//! `toolexec doctor --spool`: reports problems of a spool. Only an ordered ledger rebuild writes.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use daemon::was_begun;
use model::escape_line;
use serde_json::json;
use spool::{DaemonPresence, SpoolPaths, SpoolReport};

use super::args::DoctorCommand;
use super::ledger;
use crate::args::Format;
use crate::failure::Failure;
use crate::output;

pub(super) fn examine(spool: &Path, args: &DoctorCommand) -> Result<ExitCode, Failure> {
    if !spool::is_spool(spool) {
        output::note(format_args!(
            "{}: not a spool: work/, archive/ and quarantine/ are missing or not accessible; help: \
             check the path, or run as the daemon's user",
            spool.display()
        ));
        return Ok(ExitCode::from(2));
    }
    let spool = fs::canonicalize(spool).map_err(Failure::io(spool))?;
    // The state of embedded runs is also their spool.
    let state = match &args.state.dir {
        // A daemon's ledger is not in its spool, and its spool is open to more users.
        None if spool.join("approved").is_dir() && !spool.join("ledger").exists() => {
            return Err(Failure::Message(format!(
                "{}: the spool of a daemon, whose ledger is in its state directory; help: name \
                 that directory with --state, such as /var/lib/toolexec",
                spool.display()
            )));
        }
        None => spool.clone(),
        Some(_) => {
            let state = args.state.path()?;
            fs::canonicalize(&state).map_err(Failure::io(&state))?
        }
    };
    let places =
        SpoolPaths { state, results: spool.join("results"), log: spool.join("log"), spool };
    if args.rebuild_ledger {
        ledger::rebuild(&places)?;
    }
    let report = spool::check_spool(&places, &mut was_begun);
    match args.format {
        Format::Json => output::line(as_json(&report))?,
        Format::Human => print_report(&places, &report)?,
    }
    Ok(ExitCode::from(u8::from(!report.findings.is_empty())))
}

fn print_report(places: &SpoolPaths, report: &SpoolReport) -> Result<(), Failure> {
    for finding in &report.findings {
        let (path, trouble) = (finding.path.display().to_string(), &finding.problem);
        let problem = format!("{path}: {}: {trouble}", trouble.code());
        let problem = records::split_reason(&problem).0;
        let line = records::reason_with_help(problem, &trouble.remedy());
        output::line(escape_line(&line))?;
    }
    let daemon = match report.daemon {
        DaemonPresence::Present => "in use",
        DaemonPresence::Absent => "not in use",
    };
    let ledger = match report.ledger_lines {
        Some(lines) => format!("{lines} ledger lines"),
        None => "ledger not read".to_owned(),
    };
    let spool = escape_line(&places.spool.display().to_string());
    let SpoolReport { claims, waiting, results, findings, .. } = report;
    output::line(format_args!(
        "{spool}: {daemon}; {waiting} waiting, {claims} claimed, {results} results, {ledger}; findings: {}",
        findings.len()
    ))
}

fn as_json(report: &SpoolReport) -> serde_json::Value {
    let findings = report.findings.iter().map(|finding| {
        json!({
            "code": finding.problem.code(),
            "path": output::path(&finding.path),
            "problem": finding.problem.to_string(),
            "remedy": finding.problem.remedy(),
        })
    });
    json!({
        "daemon": report.daemon == DaemonPresence::Present,
        "claims": report.claims,
        "waiting": report.waiting,
        "results": report.results,
        "ledger_lines": report.ledger_lines,
        "findings": findings.collect::<Vec<_>>(),
    })
}
