//! A launcher of our own, with a staging directory that is removed after the probe.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sandbox::client::{LauncherAddress, LauncherProgram};

use crate::commands::host::doctor::host::model::ProgramReading;

const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the launcher of this version, which no other user could have replaced.
pub(super) fn usable_launcher(programs: &[ProgramReading]) -> Option<PathBuf> {
    let launcher = programs.iter().find(|program| program.name == "toolexec-launch")?;
    match (&launcher.found, &launcher.version) {
        (Ok(path), Ok(version)) if version == OWN_VERSION => Some(path.clone()),
        _ => None,
    }
}

/// Probes with a launcher that this program starts.
///
/// # Errors
/// The reason why the probe was not made or left something behind, and the remedy.
pub(super) fn with_own_launcher<T>(
    program: PathBuf,
    probe: impl FnOnce(LauncherAddress, &Path) -> T,
) -> Result<T, (String, String)> {
    let staging = std::env::temp_dir().join(format!("toolexec-doctor-{}", std::process::id()));
    let failed = |error: io::Error, remedy: &str| {
        (format!("{}: {error}", staging.display()), remedy.to_owned())
    };
    let made = fs::create_dir(&staging).and_then(|()| fs::canonicalize(&staging));
    let place = made.map_err(|error| failed(error, "set TMPDIR to a writable directory"))?;
    let address = LauncherAddress::Spawn(LauncherProgram::new(program, place.clone()));
    let probed = probe(address, &place);
    fs::remove_dir(&place).map_err(|error| failed(error, "remove the directory"))?;
    Ok(probed)
}
