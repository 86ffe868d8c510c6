//! Checkpoints: the log's signed size and root, as C2SP signed notes. A checkpoint without a
//! signature of a trusted key must never become a [`Checkpoint`].

use std::fmt;

use model::Sha256;

use crate::base64;
use crate::key_model::SigningError;
use crate::log::key::{LogKey, PublicLogKey};
use crate::log::note_key::is_note_name;

/// Enough for the signatures of many witnesses.
pub(crate) const NOTE_BYTES_MAX: usize = 64 * 1024;
const SIGNATURES_MAX: usize = 16;

/// The size and root of a log, and the note in which the log signed them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    size: u64,
    root: Sha256,
    note: String,
    log_id: Sha256,
}

/// The reason why a text is not a checkpoint of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    /// Not the form of a checkpoint.
    Form,
    /// Names another log.
    Origin,
    /// Has no signature by the log's key.
    Unsigned,
    /// The signature of the log's key does not verify.
    Signature,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "not a checkpoint",
            Self::Origin => "belongs to a log with another name",
            Self::Unsigned => "not signed by the log key",
            Self::Signature => "its signature does not verify",
        })
    }
}

impl std::error::Error for CheckpointError {}

impl Checkpoint {
    /// Signs a checkpoint with the log's key, and during a rotation with its successor too.
    pub(crate) fn sign(
        size: u64,
        root: Sha256,
        key: &LogKey,
        successor: Option<&LogKey>,
    ) -> Result<Self, SigningError> {
        let origin = key.public().origin();
        let text = format!("{origin}\n{size}\n{}\n", base64::encode(root.as_bytes()));
        let mut note = format!("{text}\n");
        for key in [Some(key), successor].into_iter().flatten() {
            let signature = [&key.public().short_id()[..], &key.sign(&text)?].concat();
            note.push_str(&format!("\u{2014} {origin} {}\n", base64::encode(&signature)));
        }
        Ok(Self { size, root, note, log_id: key.public().id() })
    }

    /// Parses a note and verifies the log's signature on it. Ignores other signatures.
    ///
    /// # Errors
    /// The first [`CheckpointError`].
    pub fn verify(note: &str, log: &PublicLogKey) -> Result<Self, CheckpointError> {
        let (text, signatures) = split_note(note).ok_or(CheckpointError::Form)?;
        let (origin, size, root) = parse(text).ok_or(CheckpointError::Form)?;
        if origin != log.origin().as_str() {
            return Err(CheckpointError::Origin);
        }
        let signatures: Option<Vec<_>> = signatures.into_iter().map(signature_line).collect();
        let mut fault = CheckpointError::Unsigned;
        for (name, blob) in signatures.ok_or(CheckpointError::Form)? {
            let Some(signature) = blob.strip_prefix(&log.short_id()) else { continue };
            if name != log.origin().as_str() {
                continue;
            }
            fault = CheckpointError::Signature;
            if signature.try_into().is_ok_and(|signature| log.accepts(text, signature)) {
                let (note, log_id) = (note.to_owned(), log.id());
                return Ok(Self { size, root, note, log_id });
            }
        }
        Err(fault)
    }

    /// Returns the number of entries in the log.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the root hash of the tree.
    #[must_use]
    pub fn root(&self) -> Sha256 {
        self.root
    }

    /// Returns the id of the log, which includes the signing key.
    pub(crate) fn log_id(&self) -> Sha256 {
        self.log_id
    }

    /// Returns the signed note, verbatim.
    #[must_use]
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Returns the names and contents of all signatures of the note.
    pub(crate) fn signatures(&self) -> Vec<(&str, Vec<u8>)> {
        let lines = split_note(&self.note).map_or_else(Vec::new, |(_, lines)| lines);
        lines.into_iter().filter_map(signature_line).collect()
    }

    pub(crate) fn unverified_signatures(&self) -> usize {
        split_note(&self.note).map_or(0, |(_, signatures)| signatures.len().saturating_sub(1))
    }

    /// Returns the signed text: the note up to its signatures.
    pub(crate) fn text(&self) -> &str {
        split_note(&self.note).map_or("", |(text, _)| text)
    }

    /// Returns whether the proof shows that this log grew into `later` without a change.
    #[must_use]
    pub fn grew_into(&self, later: &Checkpoint, proof: &[Sha256]) -> bool {
        let head = |it: &Self| (it.size, it.root);
        super::merkle::is_consistent(head(self), head(later), proof)
    }
}

/// Returns origin, size and root of a note without checking a signature.
pub(crate) fn parse_note(note: &str) -> Option<(&str, u64, Sha256)> {
    let (text, _) = split_note(note)?;
    parse(text)
}

/// Returns size and root of a note without checking a signature.
pub(crate) fn parse_head(note: &str) -> Option<(u64, Sha256)> {
    parse_note(note).map(|(_, size, root)| (size, root))
}

/// Splits a note into the signed text, which ends in a line feed, and the signature lines.
fn split_note(note: &str) -> Option<(&str, Vec<&str>)> {
    let control = |c: char| c.is_control() && c != '\n';
    if note.len() > NOTE_BYTES_MAX || note.contains(control) {
        return None;
    }
    let at = note.rfind("\n\n")?;
    let (text, rest) = note.split_at_checked(at + 1)?;
    let signatures: Vec<&str> = rest.strip_prefix('\n')?.strip_suffix('\n')?.split('\n').collect();
    (signatures.len() <= SIGNATURES_MAX).then_some((text, signatures))
}

fn parse(text: &str) -> Option<(&str, u64, Sha256)> {
    let mut lines = text.strip_suffix('\n')?.split('\n');
    let (origin, size, root) = (lines.next()?, decimal(lines.next()?)?, lines.next()?);
    let root = Sha256::from_bytes(base64::decode(root)?.try_into().ok()?);
    // Extensions may follow. They are signed and ignored.
    let extended = lines.all(|line| !line.is_empty());
    (extended && !origin.is_empty()).then_some((origin, size, root))
}

/// Parses a number in its only form.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

pub(crate) fn signature_line(line: &str) -> Option<(&str, Vec<u8>)> {
    let (name, blob) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
    let blob = base64::decode(blob)?;
    (is_note_name(name) && blob.len() > 4).then_some((name, blob))
}
