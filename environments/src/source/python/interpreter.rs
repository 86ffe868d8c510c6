//! The Python interpreter of the sandbox: its version decides which packages fit.

use std::path::PathBuf;

use crate::source::error::SourceError;
use crate::source::model::SourceTools;
use crate::source::program::{command, run};

const PRINT_VERSION: &str = "import sys; print('%d.%d' % sys.version_info[:2])";

/// An interpreter and its version.
pub(super) struct PythonInterpreter {
    /// The same path on the host and in the sandbox.
    pub(super) path: PathBuf,
    /// Major and minor, such as `3.11`.
    pub(super) version: String,
}

impl PythonInterpreter {
    pub(super) fn of(tools: &SourceTools) -> Result<Self, SourceError> {
        let path = tools.python.clone();
        if !path.is_file() {
            let what = format!("{}: no such interpreter", path.display());
            return Err(SourceError::missing(what, "name one with --python"));
        }
        let what = format!("{} --version", path.display());
        let mut asked = command(&path, tools)?;
        let printed = run(asked.args(["-I", "-c", PRINT_VERSION]), &what, tools)?;
        let version = printed.trim().to_owned();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        match version.split_once('.').is_some_and(|(a, b)| is_number(a) && is_number(b)) {
            true => Ok(Self { path, version }),
            false => {
                let what = format!("{}: not a Python interpreter", path.display());
                Err(SourceError::refused(what, "name one with --python"))
            }
        }
    }
}
