//! The decision of a witness (C2SP tlog-witness, `add-checkpoint`). Pure: the state of the witness
//! is an argument. A checkpoint must never be cosigned unless its log grew from the one that this
//! witness cosigned before, so only this module makes a [`JudgedCheckpoint`].

use std::fmt;

use model::Sha256;

use crate::base64;
use crate::log::checkpoint::{Checkpoint, CheckpointError, decimal, parse_note};
use crate::log::key::{LogOrigin, PublicLogKey};
use crate::log::merkle::is_consistent;

/// The longest proof that a client may send.
const PROOF_LINES_MAX: usize = 63;
const BODY_BYTES_MAX: usize = 128 * 1024;

/// A log as a witness cosigned it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessedLog {
    origin: String,
    size: u64,
    root: Sha256,
}

/// A checkpoint of a log that grew from the one that the witness cosigned before.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCheckpoint(Checkpoint);

/// The reason why a witness does not cosign. The text describes the log, whose name goes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessRefusal {
    /// Not the form of a request.
    Form,
    /// The checkpoint does not verify.
    Checkpoint(CheckpointError),
    /// The proof begins after the end of the log.
    OldBeyondSize {
        /// The number of entries from which the proof begins.
        old: u64,
        /// The number of entries in the checkpoint.
        size: u64,
    },
    /// The proof does not begin at the cosigned size. Another proof may be valid.
    OtherOld {
        /// The number of entries from which the proof begins.
        old: u64,
        /// The number of cosigned entries.
        cosigned: u64,
    },
    /// The log has fewer entries than were cosigned.
    Shrunk {
        /// The number of entries in the checkpoint.
        size: u64,
        /// The number of cosigned entries.
        cosigned: u64,
    },
    /// The log signed two roots for the same size.
    OtherRoot {
        /// The number of entries.
        size: u64,
        /// The root in the checkpoint.
        root: Sha256,
        /// The cosigned root.
        cosigned: Sha256,
    },
    /// The proof does not lead from the cosigned log to the checkpoint.
    NotExtended {
        /// The number of entries in the checkpoint.
        size: u64,
        /// The number of cosigned entries.
        cosigned: u64,
    },
}

impl fmt::Display for WitnessRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("not a request to a witness"),
            Self::Checkpoint(fault) => write!(f, "its checkpoint: {fault}"),
            Self::OldBeyondSize { old, size } => {
                write!(f, "its proof begins at {old} entries, but its checkpoint has {size}")
            }
            Self::OtherOld { old, cosigned } => {
                write!(f, "its proof begins at {old} entries, but {cosigned} were cosigned")
            }
            Self::Shrunk { size, cosigned } => {
                write!(f, "its log has {size} entries, but {cosigned} were cosigned")
            }
            Self::OtherRoot { size, root, cosigned } => write!(
                f,
                "its log of {size} entries has root {root}, but root {cosigned} was cosigned"
            ),
            Self::NotExtended { size, cosigned } => write!(
                f,
                "its log of {size} entries is not proved to begin with the {cosigned} cosigned ones"
            ),
        }
    }
}

impl std::error::Error for WitnessRefusal {}

impl WitnessRefusal {
    /// Returns whether the log contradicts the cosigned one, as far as this request shows.
    #[must_use]
    pub fn is_contradiction(&self) -> bool {
        matches!(self, Self::Shrunk { .. } | Self::OtherRoot { .. } | Self::NotExtended { .. })
    }

    /// Returns whether two signatures of the log contradict each other. An old request that is sent
    /// again cannot cause this, nor can a wrong proof.
    #[must_use]
    pub fn is_evidence(&self) -> bool {
        matches!(self, Self::OtherRoot { .. })
    }
}

impl WitnessedLog {
    /// Returns a log of which the witness has cosigned nothing.
    #[must_use]
    pub fn unseen(origin: &LogOrigin) -> Self {
        Self { origin: origin.to_string(), size: 0, root: Sha256::of(b"") }
    }

    /// Reads the note that the witness kept when it cosigned. Its signatures are not verified: the
    /// log's key may have changed since. `None` for any other text.
    #[must_use]
    pub fn of_kept(note: &str) -> Option<Self> {
        let (origin, size, root) = parse_note(note)?;
        Some(Self { origin: origin.to_owned(), size, root })
    }

    /// Returns the number of cosigned entries.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the root of the cosigned entries.
    #[must_use]
    pub fn root(&self) -> Sha256 {
        self.root
    }

    /// Checks a signed note that has no proof. A larger log is not a contradiction.
    ///
    /// # Errors
    /// [`WitnessRefusal::Checkpoint`], or a contradiction.
    pub fn check(&self, note: &str, log: &PublicLogKey) -> Result<Checkpoint, WitnessRefusal> {
        if self.origin != log.origin().as_str() {
            return Err(WitnessRefusal::Checkpoint(CheckpointError::Origin));
        }
        let checkpoint = Checkpoint::verify(note, log).map_err(WitnessRefusal::Checkpoint)?;
        let (size, root) = (checkpoint.size(), checkpoint.root());
        if size < self.size {
            return Err(WitnessRefusal::Shrunk { size, cosigned: self.size });
        }
        if size == self.size && root != self.root {
            return Err(WitnessRefusal::OtherRoot { size, root, cosigned: self.root });
        }
        Ok(checkpoint)
    }
}

impl JudgedCheckpoint {
    /// Returns the checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.0
    }
}

/// Judges the body of `add-checkpoint` for a log that the witness knows in this state.
///
/// The caller must make the new state durable before a cosignature leaves. No other request for the
/// log may be judged in between.
///
/// # Errors
/// The first [`WitnessRefusal`]. A contradiction is found before a proof from another size.
pub fn judge_add_checkpoint(
    body: &str,
    log: &PublicLogKey,
    known: &WitnessedLog,
) -> Result<JudgedCheckpoint, WitnessRefusal> {
    let (old, proof, note) = parse(body).ok_or(WitnessRefusal::Form)?;
    let checkpoint = known.check(note, log)?;
    let (size, cosigned) = (checkpoint.size(), known.size);
    if old > size {
        return Err(WitnessRefusal::OldBeyondSize { old, size });
    }
    if old != cosigned {
        return Err(WitnessRefusal::OtherOld { old, cosigned });
    }
    // Such a proof has nothing to prove, so its hashes contradict nothing.
    if (old == 0 || old == size) && !proof.is_empty() {
        return Err(WitnessRefusal::Form);
    }
    match is_consistent((cosigned, known.root), (size, checkpoint.root()), &proof) {
        true => Ok(JudgedCheckpoint(checkpoint)),
        false => Err(WitnessRefusal::NotExtended { size, cosigned }),
    }
}

/// Splits a body into the old size, the proof and the note.
fn parse(body: &str) -> Option<(u64, Vec<Sha256>, &str)> {
    if body.len() > BODY_BYTES_MAX {
        return None;
    }
    let (head, note) = body.split_once("\n\n")?;
    let mut lines = head.split('\n');
    let old = decimal(lines.next()?.strip_prefix("old ")?)?;
    let mut proof = Vec::new();
    for line in lines {
        if proof.len() == PROOF_LINES_MAX {
            return None;
        }
        proof.push(Sha256::from_bytes(base64::decode(line)?.try_into().ok()?));
    }
    Some((old, proof, note))
}
