//! `toolexec doctor` without a task: the requirements of this host, and the fix for each problem.
//! `probe` reads everything, the pure `evaluate` finds the problems, and `report` prints them. It
//! must never change anything but the directories that its probes create and remove, and
//! `backend-probes.json` in the state directory. It must never read a private key, and never stop at
//! the first problem.

mod evaluate;
mod finding;
mod model;
mod probe;
mod report;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use finding::FindingVerdict;
use model::{DoctorTarget, PACKAGED_CONFIG};

use super::args::DoctorCommand;
use crate::args::Format;
use crate::args::files::named_directory;
use crate::failure::Failure;
use crate::output;
use crate::output::screen::OutputScreen;

pub(super) fn examine(typed: &DoctorCommand) -> Result<ExitCode, Failure> {
    let readings = probe::probe(&target(typed)?);
    let findings = evaluate::evaluate(&readings);
    match typed.format {
        Format::Json => output::line(report::as_json(&readings.subject, &findings))?,
        Format::Human => {
            output::text(&report::as_text(OutputScreen::of(&io::stdout()), &findings))?
        }
    }
    let failed = findings.iter().any(|finding| finding.verdict == FindingVerdict::Failure);
    Ok(ExitCode::from(u8::from(failed)))
}

/// Checks that named files exist. A mistyped name would look like a host without any files.
fn target(typed: &DoctorCommand) -> Result<DoctorTarget, Failure> {
    if let Some(config) = &typed.config {
        let found = std::fs::symlink_metadata(config);
        found.map_err(Failure::io(config))?;
        let config = std::path::absolute(config).map_err(Failure::io(config))?;
        return Ok(DoctorTarget::Service { config });
    }
    if let Some(state) = &typed.state.dir {
        let state = named_directory("--state", state)?;
        return Ok(DoctorTarget::Embedded { state });
    }
    let packaged = Path::new(PACKAGED_CONFIG);
    if packaged.exists() {
        return Ok(DoctorTarget::Service { config: packaged.to_owned() });
    }
    Ok(DoctorTarget::Embedded { state: typed.state.path()? })
}
