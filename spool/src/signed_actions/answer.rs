//! The daemon's answer to a signed action. It is for the process that delivered the action, and no
//! decision depends on it.

use std::ffi::OsStr;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::directory::SignedActionInbox;
use super::listing::{ACTION_SUFFIX, ANSWER_SUFFIX};
use crate::atomic_file::AtomicFile;
use crate::error::SpoolError;

/// The group of the directory may read it.
const ANSWER_MODE: u32 = 0o640;
const REASON_CHARS_MAX: usize = 2000;

/// The answer to one action: one line of JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedActionAnswer {
    /// True if the action was taken. What it approves may still be held or refused.
    pub taken: bool,
    /// The reason, if it was not.
    pub reason: Option<String>,
}

impl SignedActionAnswer {
    /// Answers that the action was taken.
    #[must_use]
    pub fn taken() -> Self {
        Self { taken: true, reason: None }
    }

    /// Answers that it was not, for this reason.
    #[must_use]
    pub fn refused(reason: &str) -> Self {
        Self { taken: false, reason: Some(reason.chars().take(REASON_CHARS_MAX).collect()) }
    }
}

impl SignedActionInbox {
    /// Writes the answer to an action, and removes the action. The answer comes first: a crash
    /// between the two has the action taken again, which must have no second effect.
    ///
    /// # Errors
    /// One of the two failed. The action is removed also if the answer cannot be written.
    pub fn answer(&self, stem: &str, answer: &SignedActionAnswer) -> Result<(), SpoolError> {
        let written = self.write_answer(stem, answer);
        let name = format!("{stem}{ACTION_SUFFIX}");
        match unlinkat(self.directory.handle(), &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => written,
            Err(errno) => Err(SpoolError::errno(&self.path().join(name), "remove")(errno)),
        }
    }

    fn write_answer(&self, stem: &str, answer: &SignedActionAnswer) -> Result<(), SpoolError> {
        let name = format!("{stem}{ANSWER_SUFFIX}");
        let path = self.path().join(&name);
        let line = serde_json::to_string(answer)
            .map_err(|error| SpoolError::io(&path, "write")(error.into()))?;
        let directory = self.directory.handle().as_fd().try_clone_to_owned();
        let directory = directory.map_err(SpoolError::io(&path, "create"))?;
        let mut fresh = AtomicFile::create_in(directory, OsStr::new(&name), ANSWER_MODE)
            .map_err(SpoolError::io(&path, "create"))?;
        let written = fresh
            .write(format!("{line}\n").as_bytes())
            .and_then(|()| fresh.set_mode(ANSWER_MODE))
            .and_then(|()| fresh.replace_without_sync());
        written.map_err(SpoolError::io(&path, "write"))
    }
}
