//! The proof that an entry is in the log, in memory and as a `.tlog-proof` text (C2SP tlog-proof
//! v1). A proof must never be made from a path that does not lead to the root of its checkpoint.

use std::fmt;

use model::Sha256;

use crate::base64;
use crate::log::checkpoint::{Checkpoint, CheckpointError, decimal};
use crate::log::key::PublicLogKey;
use crate::log::merkle::{HASHES_MAX, leaf_hash, root_of_inclusion};

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";
const PROOF_BYTES_MAX: usize = 128 * 1024;

/// An entry's index in the log, with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inclusion {
    index: u64,
    /// From the leaf to the root.
    path: Vec<Sha256>,
    checkpoint: Checkpoint,
}

/// The reason why a proof is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// Not the form of a `.tlog-proof`.
    Form,
    /// The checkpoint does not verify.
    Checkpoint(CheckpointError),
    /// The entry does not have this index, or is not in the log.
    NotIncluded,
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("not a proof of inclusion"),
            Self::Checkpoint(fault) => write!(f, "its checkpoint: {fault}"),
            Self::NotIncluded => {
                f.write_str("the proof does not lead from the entry to the checkpoint")
            }
        }
    }
}

impl std::error::Error for ProofError {}

impl Inclusion {
    /// Makes a proof if the path leads to the root. The only constructor.
    pub(crate) fn new(
        leaf: Sha256,
        index: u64,
        path: Vec<Sha256>,
        checkpoint: Checkpoint,
    ) -> Option<Self> {
        let root = root_of_inclusion(leaf, index, checkpoint.size(), &path);
        (root == Some(checkpoint.root())).then_some(Self { index, path, checkpoint })
    }

    pub(crate) fn proves(&self, leaf: Sha256) -> bool {
        let root = root_of_inclusion(leaf, self.index, self.checkpoint.size(), &self.path);
        root == Some(self.checkpoint.root())
    }

    pub(crate) fn path(&self) -> &[Sha256] {
        &self.path
    }

    /// Returns the entry's index in the log, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the checkpoint of the proof.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Returns the file `<result_id>.tlog-proof`.
    #[must_use]
    pub fn tlog_proof(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nindex {}\n", self.index);
        for hash in &self.path {
            text.push_str(&base64::encode(hash.as_bytes()));
            text.push('\n');
        }
        text.push('\n');
        text.push_str(self.checkpoint.note());
        text
    }

    /// Parses a `.tlog-proof` and verifies that it proves this entry in this log.
    ///
    /// # Errors
    /// The first [`ProofError`].
    pub fn verify(text: &str, entry: &[u8], log: &PublicLogKey) -> Result<Self, ProofError> {
        if text.len() > PROOF_BYTES_MAX {
            return Err(ProofError::Form);
        }
        let (head, note) = text.split_once("\n\n").ok_or(ProofError::Form)?;
        let (index, path) = parse(head).ok_or(ProofError::Form)?;
        let checkpoint = Checkpoint::verify(note, log).map_err(ProofError::Checkpoint)?;
        Self::new(leaf_hash(entry), index, path, checkpoint).ok_or(ProofError::NotIncluded)
    }
}

fn parse(head: &str) -> Option<(u64, Vec<Sha256>)> {
    let mut lines = head.split('\n').peekable();
    lines.next().filter(|line| *line == FIRST_LINE)?;
    // Opaque bytes of an application; this program writes none.
    if let Some(extra) = lines.next_if(|line| line.starts_with("extra ")) {
        base64::decode(extra.strip_prefix("extra ")?)?;
    }
    let index = decimal(lines.next()?.strip_prefix("index ")?)?;
    let mut path = Vec::new();
    for line in lines {
        path.push(Sha256::from_bytes(base64::decode(line)?.try_into().ok()?));
    }
    (path.len() <= HASHES_MAX).then_some((index, path))
}
