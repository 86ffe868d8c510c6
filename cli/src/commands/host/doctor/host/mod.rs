//! `toolexec doctor` without a task: the requirements of this host for runs, and the fix for each
//! problem. It reads everything (`look`), evaluates it with a pure function (`judge`), and prints
//! the findings (`tell`). It must never change anything, except for an empty directory that the
//! sandbox probe creates and removes. It must never read a private key, and never stop at the first
//! problem.

mod finding;
mod judge;
mod look;
mod model;
mod tell;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use finding::FindingVerdict;
use model::{DoctorTarget, PACKAGED_CONFIG};

use super::args::Doctor;
use crate::args::Format;
use crate::args::files::named_directory;
use crate::failure::Failure;
use crate::output;
use crate::output::screen::Screen;

pub(super) fn examine(typed: &Doctor) -> Result<ExitCode, Failure> {
    let readings = look::look(&asked(typed)?);
    let findings = judge::judge(&readings);
    match typed.format {
        Format::Json => output::line(tell::as_json(&readings.subject, &findings))?,
        Format::Human => output::text(&tell::as_text(Screen::of(&io::stdout()), &findings))?,
    }
    let failed = findings.iter().any(|finding| finding.verdict == FindingVerdict::Failure);
    Ok(ExitCode::from(u8::from(failed)))
}

/// Checks that named files exist. A mistyped name would look like a host without any files.
fn asked(typed: &Doctor) -> Result<DoctorTarget, Failure> {
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
