//! Answers that approvers submit to `approved/`: `<question>.answer.json` with its signature next
//! to it. They are read by handle and with limits, and moved away once accepted or rejected. A
//! rejected answer must not be processed again, and must not be lost.

use std::fs;
use std::path::{Path, PathBuf};

use policies::SignatureFile;
use policies::permissions::{ANSWER_BYTES_MAX, FileOwner};
use rustix::fs::{OFlags, fstat};

use crate::beneath::{AllowedLinks, open_beneath, read_bounded};
use crate::error::SpoolError;
use crate::inbox::Inbox;
use crate::paths::{Spool, make_dir};
use crate::sidecars::Sidecars;
use crate::sync;

const SUFFIX: &str = ".answer.json";
const NAME_BYTES_MAX: usize = 200;
/// The most answers of the same name that are kept.
const NAMESAKES_MAX: u32 = 1000;

/// A submitted answer.
#[must_use]
pub struct SubmittedAnswer {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The owner and mode of its file.
    pub owner: FileOwner,
    /// The signatures beside it.
    pub signatures: Vec<SignatureFile>,
}

/// The decision about an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerDecision {
    /// Accepted: it is moved to `archive/permissions/`.
    Accepted,
    /// Rejected: it is moved to `quarantine/permissions/`.
    Rejected,
}

impl Inbox {
    /// Returns the names of the submitted answers, sorted.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn answers(&self) -> Result<Vec<String>, SpoolError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path()).map_err(SpoolError::io(self.path(), "list"))? {
            let entry = entry.map_err(SpoolError::io(self.path(), "list"))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            let fits = name.len() <= NAME_BYTES_MAX && name.chars().all(plain);
            if fits && name.ends_with(SUFFIX) && !name.starts_with('.') {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads one answer.
    ///
    /// # Errors
    /// It was removed, is not a regular file with one link, is too large, or cannot be read.
    pub fn read_answer(&self, name: &str) -> Result<SubmittedAnswer, SpoolError> {
        let path = self.path().join(name);
        let file = open_beneath(self.handle(), name, OFlags::RDONLY)
            .map_err(SpoolError::errno(&path, "open"))?;
        let stat = fstat(&file).map_err(SpoolError::errno(&path, "stat"))?;
        let (bytes, _) = read_bounded(&file, &path, ANSWER_BYTES_MAX, AllowedLinks::One)?;
        let owner = FileOwner { uid: stat.st_uid, mode: stat.st_mode };
        let signatures = Sidecars::of(self.path(), name)?.signatures;
        Ok(SubmittedAnswer { bytes, owner, signatures })
    }
}

impl Spool {
    /// Moves an answer and its signatures away, and keeps earlier ones of the same name.
    ///
    /// # Errors
    /// The answer cannot be moved, so it would be processed again.
    pub fn move_answer(
        &self,
        dropbox: &Inbox,
        name: &str,
        fate: AnswerDecision,
    ) -> Result<(), SpoolError> {
        let top = match fate {
            AnswerDecision::Accepted => self.archive(),
            AnswerDecision::Rejected => self.quarantine(),
        };
        let place = make_dir(&top.join("permissions"), 0o700)?;
        for signature in Sidecars::of(dropbox.path(), name)?.signatures {
            let from = dropbox.path().join(&signature.name);
            move_aside(&from, &place, &signature.name)?;
        }
        move_aside(&dropbox.path().join(name), &place, name)
    }
}

fn move_aside(from: &Path, place: &Path, name: &str) -> Result<(), SpoolError> {
    let named = |number: u32| -> PathBuf {
        if number == 0 { place.join(name) } else { place.join(format!("{name}.{number}")) }
    };
    let mut last = None;
    for number in 0..NAMESAKES_MAX {
        match sync::rename_new(from, &named(number)) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => last = Some(error),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(SpoolError::io(from, "move")(error)),
        }
    }
    let full = last.unwrap_or_else(|| std::io::ErrorKind::AlreadyExists.into());
    Err(SpoolError::io(from, "move")(full))
}
