//! Which requests were started: one line each, durable before exec, never removed.
//!
//! The line is the intent. Whoever has it may start the tool, once; whoever finds it there already may
//! not. Its digest and its id both use a request up, so that neither the same bytes nor another
//! request under the same id can run again. A replay of a record uses nothing up and is kept apart: its
//! line only says what recovery must tell if nobody is left to.
//!
//! Of a line that was read only its place is kept, by its keys: there are as many lines as there ever were
//! runs. Who asks for one has it read again.

mod file;
mod intent;
mod keys;
mod lines;
mod scan;

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::MutexGuard;

use validator::{RequestId, ResultId, Sha256, UtcTime};

use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::places::Spool;
use crate::stage::Staged;

pub(crate) use file::Ledger;
pub(crate) use intent::Intent;
pub(crate) use scan::results_of;

/// A started request, as the ledger remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// These very bytes were started before.
    SameBytes { result_id: String, record: PathBuf },
    /// Another request with this id was.
    SameId { result_id: String, record: PathBuf },
    /// Another request with the nonce of its AIS envelope was.
    SameNonce { nonce: String },
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameBytes { record, .. } => {
                write!(f, "these bytes were run before; the record is {}", record.display())
            }
            Self::SameNonce { nonce } => {
                let nonce = validator::escape_line(nonce);
                write!(f, "the nonce `{nonce}` of its envelope was used before")
            }
            Self::SameId { record, .. } => {
                write!(
                    f,
                    "another request was run under this id; its record is {}",
                    record.display()
                )
            }
        }
    }
}

/// The proof that this start is durably known, and that it is the request's first and only one, or the
/// declared replay of a record.
#[must_use = "the request is used up: what happens now must be recorded"]
pub struct Begun {
    staged: Staged,
    result_id: ResultId,
    at: UtcTime,
}

impl Begun {
    /// The parts, for what comes after the run.
    pub fn into_staged(self) -> Staged {
        self.staged
    }

    pub fn staged(&self) -> &Staged {
        &self.staged
    }

    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// When.
    #[must_use]
    pub fn at(&self) -> UtcTime {
        self.at
    }
}

/// Why a request was not begun.
pub enum BeginError {
    /// It was started meanwhile, by another process. What was staged comes back.
    Started {
        staged: Box<Staged>,
        seen: Seen,
    },
    Disk(SpoolError),
}

impl Spool {
    /// Whether a request was started before, by its bytes or by its id.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn seen(&self, sha256: &Sha256, id: &RequestId) -> Result<Option<Seen>, SpoolError> {
        self.ledger().locked(|ledger| ledger.look_up(sha256, id))
    }

    /// When the last of them was begun, by the ledger's own word.
    pub(crate) fn last_begun(&self) -> Option<UtcTime> {
        self.ledger().last_begun()
    }

    /// Every nonce of an AIS envelope that a start used up, as of the last look at the ledger. Nobody
    /// begins anything while it is held.
    #[must_use]
    pub fn nonces_used(&self) -> NoncesUsed<'_> {
        NoncesUsed(self.ledger())
    }

    /// The barrier before exec: the claim's files and the ledger line are on the disk when this
    /// returns, and no other process can get a [`Begun`] for the same request
    /// that is no replay.
    ///
    /// # Errors
    /// [`BeginError`]; nothing may be run then.
    pub fn begin(
        &self,
        staged: Staged,
        result_id: ResultId,
        at: UtcTime,
    ) -> Result<Begun, BeginError> {
        // First, so that whoever finds a line finds what it speaks of.
        self.barrier().pass(&[&staged.claimed().directory]).map_err(BeginError::Disk)?;
        reach(Failpoint::ClaimDurable);
        let intent = Intent::of(&staged, &result_id, at, self.results());
        let written =
            self.ledger().locked(|ledger| ledger.take(intent, staged.approved().request()));
        let (path, seen) = written.map_err(BeginError::Disk)?;
        if let Some(seen) = seen {
            return Err(BeginError::Started { staged: Box::new(staged), seen });
        }
        reach(Failpoint::IntentWritten);
        // Without keeping others from writing theirs.
        let file = self.ledger().handle().map_err(BeginError::Disk)?;
        self.barrier().pass_file(&path, &file).map_err(BeginError::Disk)?;
        reach(Failpoint::IntentDurable);
        Ok(Begun { staged, result_id, at })
    }
}

/// The nonces that were used up, held still.
pub struct NoncesUsed<'a>(MutexGuard<'a, Ledger>);

impl Deref for NoncesUsed<'_> {
    type Target = HashSet<String>;

    fn deref(&self) -> &Self::Target {
        self.0.nonces()
    }
}

#[cfg(test)]
mod tests;
