//! The options for the inspected directory: a spool, or a user's embedded state.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;

use crate::args::StateOption;
use crate::failure::Failure;
use crate::output::human;

/// The spool or state to inspect.
#[derive(Args)]
pub(crate) struct PlaceOptions {
    /// Inspect this spool [default: /var/spool/toolexec if it exists, else the embedded state]
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    spool: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
}

pub(in crate::commands) const PACKAGED_SPOOL: &str = "/var/spool/toolexec";

impl PlaceOptions {
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(spool) = &self.spool {
            return spool_at(spool);
        }
        let packaged = Path::new(PACKAGED_SPOOL);
        if self.state.dir.is_none() && packaged.is_dir() {
            return Ok(packaged.to_owned());
        }
        let state = self.state.path()?;
        match &self.state.dir {
            Some(_) => {
                checked_directory(&state, "state", "--state", &["results", "keys", "ledger"])
            }
            // A user who has never run anything has no state, which is not an error.
            None => Ok(state),
        }
    }

    /// Returns the option that names the same place, for suggested commands.
    pub(super) fn option(&self) -> String {
        match (&self.spool, &self.state.dir) {
            (Some(spool), _) => format!(" --spool {}", human::name(spool)),
            (None, Some(state)) => format!(" --state {}", human::name(state)),
            (None, None) => String::new(),
        }
    }
}

pub(super) fn spool_at(path: &Path) -> Result<PathBuf, Failure> {
    checked_directory(path, "spool", "--spool", &["approved", "results"])
}

/// Checks that a named directory contains at least one of the expected parts.
fn checked_directory(
    path: &Path,
    what: &str,
    option: &str,
    parts: &[&str],
) -> Result<PathBuf, Failure> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let path = path.display();
            return Err(Failure::Message(format!(
                "{path}: does not exist; help: name a {what} with {option}"
            )));
        }
        found => found.map_err(Failure::io(path))?,
    };
    if !found.is_dir() {
        return Err(Failure::Message(format!(
            "{}: not a directory; help: name a {what} with {option}",
            path.display()
        )));
    }
    for part in parts {
        let part = path.join(part);
        if part.try_exists().map_err(Failure::io(&part))? {
            return Ok(path.to_owned());
        }
    }
    Err(Failure::Message(format!(
        "{}: not a {what}: it contains none of {}/; help: name one with {option}",
        path.display(),
        parts.join("/, ")
    )))
}
