//! `toolexec doctor --spool`: reports problems of a spool and their fixes. Read-only, except for a
//! ledger rebuild on explicit order.

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

pub(super) fn examine(spool: &Path, asked: &DoctorCommand) -> Result<ExitCode, Failure> {
    if !spool::is_spool(spool) {
        output::note(format_args!(
            "{}: not a spool: work/, archive/ and quarantine/ are missing or not accessible",
            spool.display()
        ));
        return Ok(ExitCode::from(2));
    }
    let spool = fs::canonicalize(spool).map_err(Failure::io(spool))?;
    // The state of embedded runs is also their spool.
    let state = match &asked.state.dir {
        None => spool.clone(),
        Some(_) => {
            let state = asked.state.path()?;
            fs::canonicalize(&state).map_err(Failure::io(&state))?
        }
    };
    let places =
        SpoolPaths { state, results: spool.join("results"), log: spool.join("log"), spool };
    if asked.rebuild_ledger {
        ledger::rebuild(&places)?;
    }
    let survey = spool::check_spool(&places, &mut was_begun);
    match asked.format {
        Format::Json => output::line(as_json(&survey))?,
        Format::Human => print_report(&places, &survey)?,
    }
    Ok(ExitCode::from(u8::from(!survey.findings.is_empty())))
}

fn print_report(places: &SpoolPaths, survey: &SpoolReport) -> Result<(), Failure> {
    for finding in &survey.findings {
        let (path, trouble) = (finding.path.display().to_string(), &finding.problem);
        let problem = format!("{path}: {}: {trouble}", trouble.code());
        let problem = records::split_reason(&problem).0;
        let line = records::reason_with_help(problem, &trouble.remedy());
        output::line(escape_line(&line))?;
    }
    let daemon = match survey.daemon {
        DaemonPresence::Present => "in use",
        DaemonPresence::Absent => "not in use",
    };
    let ledger = match survey.ledger_lines {
        Some(lines) => format!("{lines} ledger lines"),
        None => "ledger not read".to_owned(),
    };
    let spool = escape_line(&places.spool.display().to_string());
    let SpoolReport { claims, waiting, results, findings, .. } = survey;
    output::line(format_args!(
        "{spool}: {daemon}; {waiting} waiting, {claims} claimed, {results} results, {ledger}; findings: {}",
        findings.len()
    ))
}

fn as_json(survey: &SpoolReport) -> serde_json::Value {
    let findings = survey.findings.iter().map(|finding| {
        json!({
            "code": finding.problem.code(),
            "path": output::path(&finding.path),
            "problem": finding.problem.to_string(),
            "remedy": finding.problem.remedy(),
        })
    });
    json!({
        "daemon": survey.daemon == DaemonPresence::Present,
        "claims": survey.claims,
        "waiting": survey.waiting,
        "results": survey.results,
        "ledger_lines": survey.ledger_lines,
        "findings": findings.collect::<Vec<_>>(),
    })
}
