//! Which requests were started: one line each, durable before exec, never removed.
//!
//! The line is the intent. Whoever has it may start the tool, once; whoever finds it there already may
//! not. Its digest and its id both use a request up, so that neither the same bytes nor another
//! request under the same id can run again. A replay of a record uses nothing up and is kept apart: its
//! line only says what recovery must tell if nobody is left to.
//!
//! Of a line that was read only its place is kept, by its keys: there are as many lines as there ever were
//! runs. Who asks for one has it read again.
//!
//! A ledger that was lost, cut or put back from an older copy would let requests run again. So each line has a
//! checksum over all lines above it, the length and checksum of what is durable are kept beside it, and results,
//! archived requests and claims are held against it at each start.

mod account;
mod entry;
mod fault;
mod file;
mod head;
mod intent;
mod keys;
mod lines;
mod rebuild;
mod scan;
mod seal;

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::MutexGuard;

use model::{RequestId, ResultId, Sha256, UtcTime};

use crate::claim::note_intent;
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::places::Spool;
use crate::stage::Staged;

pub use account::{WasBegun, check_ledger};
pub use fault::LedgerFault;
pub use rebuild::{LedgerOrder, Rebuilt, RunFacts, rebuild_ledger};

pub(crate) use entry::Entry;
pub(crate) use file::Ledger;
pub(crate) use head::{Head, HeadFile};
pub(crate) use intent::Intent;
pub(crate) use scan::{each_line, results_of};
pub(crate) use seal::Sum;

use entry::Note;
use file::Taken;

/// The name of the file with the head, in a state directory.
pub(crate) const HEAD: &str = "ledger.head";

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
                let nonce = model::escape_line(nonce);
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
        let taken =
            self.ledger().locked(|ledger| ledger.take(&intent, staged.approved().request()));
        let to = match taken.map_err(BeginError::Disk)? {
            Taken::Appended(to) => to,
            Taken::Refused(seen) => {
                return Err(BeginError::Started { staged: Box::new(staged), seen });
            }
        };
        reach(Failpoint::IntentWritten);
        self.make_durable(to).map_err(BeginError::Disk)?;
        // Never without the ledger line, and before exec: a claim with it that the ledger does not know shows that
        // the ledger is older than the run.
        match note_intent(&staged.claimed().directory, &intent) {
            Err(error) if error.want().is_some() => tracing::warn!("{error}"),
            noted => noted.map_err(BeginError::Disk)?,
        }
        reach(Failpoint::IntentDurable);
        Ok(Begun { staged, result_id, at })
    }

    /// Notes that nothing was started on the strength of this line, so that the request can be dropped again.
    /// Durable when this returns. To be called before its record is published, and only where no tool can have
    /// run.
    ///
    /// # Errors
    /// The disk; the request then stays used up.
    pub fn note_not_started(&self, begun: &Begun) -> Result<(), SpoolError> {
        let claim = begun.staged.claimed().id().as_str().to_owned();
        let note = Note::NotStarted { claim };
        let to = self.ledger().locked(|ledger| ledger.append(&note))?;
        self.make_durable(to)
    }

    /// Makes the ledger durable up to there.
    fn make_durable(&self, to: Head) -> Result<(), SpoolError> {
        // Without keeping others from writing their lines.
        let (path, file) = {
            let ledger = self.ledger();
            (ledger.path().to_owned(), ledger.handle()?)
        };
        self.barrier().pass_file(&path, &file)?;
        self.ledger().note_durable(to)
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
