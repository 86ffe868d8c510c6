//! The messages of witnesses: the request of C2SP tlog-witness' `add-checkpoint`, and the
//! cosignatures of tlog-cosignature in the reply. Pure: nothing here sends anything. A cosignature
//! must never count for a witness whose key did not make it, nor replace the log's own signature.
//! `witness_judge` and `witness_signer` have the side of the witness.

use std::fmt;

use ed25519_dalek::{Signature, VerifyingKey};
use model::UtcTime;

use crate::base64;
use crate::log::LogError;
use crate::log::checkpoint::{Checkpoint, signature_line};
use crate::log::key::PublicLogKey;
use crate::log::note_key::note_key;
use crate::log::view::LogView;

/// The type of an Ed25519 cosigner's key in a signed note.
pub(crate) const COSIGNATURE: u8 = 4;
/// The maximum number of lines. A witness may have a few keys.
const REPLY_LINES_MAX: usize = 8;
const REPLY_BYTES_MAX: usize = 32 * 1024;

/// The key that verifies one witness' cosignatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessKey {
    name: String,
    short_id: [u8; 4],
    key: VerifyingKey,
}

impl WitnessKey {
    /// Parses `name+hash+key` of type 0x04. Returns `None` for any other text and for a weak key.
    #[must_use]
    pub fn from_verifier_line(line: &str) -> Option<Self> {
        let (name, short_id, key) = note_key(line, COSIGNATURE)?;
        Some(Self { name: name.to_owned(), short_id, key })
    }

    /// Returns the witness' name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the time at which this key cosigned a checkpoint that was kept with its cosignatures:
    /// the latest, by the witness' clock. `None` if it did not.
    #[must_use]
    pub fn cosigned_at(&self, kept: &Checkpoint) -> Option<UtcTime> {
        let signatures = kept.signatures();
        signatures.iter().filter_map(|(name, blob)| self.cosigned(kept, name, blob)).max()
    }

    /// Returns the time at which this key cosigned the checkpoint; `None` for another signature.
    fn cosigned(&self, checkpoint: &Checkpoint, name: &str, blob: &[u8]) -> Option<UtcTime> {
        let rest = blob.strip_prefix(&self.short_id).filter(|_| name == self.name)?;
        let (time, signature) = rest.split_first_chunk::<8>()?;
        let time = i64::try_from(u64::from_be_bytes(*time)).ok()?;
        let signed = cosigned_text(checkpoint, time);
        let signature = Signature::from_bytes(signature.try_into().ok()?);
        let fits = self.key.verify_strict(signed.as_bytes(), &signature).is_ok();
        fits.then(|| UtcTime::from_unix(time))
    }
}

/// Returns the text that a witness signs, at this time in seconds of POSIX.
pub(crate) fn cosigned_text(checkpoint: &Checkpoint, time: i64) -> String {
    format!("cosignature/v1\ntime {time}\n{}", checkpoint.text())
}

/// A checkpoint cosigned by a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosignedCheckpoint {
    name: String,
    time: Option<UtcTime>,
    note: String,
}

/// The reason why a reply is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessReplyError {
    /// Not lines of signatures.
    Form,
    /// No signature by the witness' key.
    Unsigned,
}

impl fmt::Display for WitnessReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "not the signature lines of a witness",
            Self::Unsigned => "no cosignature of this checkpoint by the witness key",
        })
    }
}

impl std::error::Error for WitnessReplyError {}

impl CosignedCheckpoint {
    /// Extracts a witness' cosignatures: with a key those that it verifies, else all, unverified.
    ///
    /// # Errors
    /// [`WitnessReplyError`].
    pub fn from_reply(
        checkpoint: &Checkpoint,
        answer: &str,
        witness: Option<&WitnessKey>,
    ) -> Result<Self, WitnessReplyError> {
        let lines = answer.strip_suffix('\n').filter(|_| answer.len() <= REPLY_BYTES_MAX);
        let lines: Vec<&str> = lines.ok_or(WitnessReplyError::Form)?.split('\n').collect();
        if lines.len() > REPLY_LINES_MAX || answer.contains(|c: char| c.is_control() && c != '\n') {
            return Err(WitnessReplyError::Form);
        }
        let mut found: Option<Self> = None;
        for line in lines {
            let (name, blob) = signature_line(line).ok_or(WitnessReplyError::Form)?;
            let time = witness.and_then(|key| key.cosigned(checkpoint, name, &blob));
            if witness.is_some() && time.is_none() {
                continue;
            }
            let (name, note) = (name.to_owned(), checkpoint.note().to_owned());
            let found = found.get_or_insert(Self { name, time, note });
            found.note.push_str(line);
            found.note.push('\n');
        }
        found.ok_or(WitnessReplyError::Unsigned)
    }

    /// Returns the witness' name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the time of the cosignature by the witness' clock; `None` if it was not verified.
    #[must_use]
    pub fn time(&self) -> Option<UtcTime> {
        self.time
    }

    /// Returns the log's note with the cosignatures after the log's own signature.
    #[must_use]
    pub fn note(&self) -> &str {
        &self.note
    }
}

impl LogView {
    /// Returns the body of `add-checkpoint` for a witness that has seen `old` entries.
    ///
    /// # Errors
    /// [`LogError`]: the log never had that size, or the files cannot be read.
    pub fn add_checkpoint(&self, old: u64) -> Result<String, LogError> {
        let mut body = format!("old {old}\n");
        for hash in self.consistency(old, self.head().size())? {
            body.push_str(&base64::encode(hash.as_bytes()));
            body.push('\n');
        }
        body.push('\n');
        body.push_str(self.head().note());
        Ok(body)
    }
}

/// Parses the checkpoint in a body made by [`LogView::add_checkpoint`]; `None` for any other text.
#[must_use]
pub fn checkpoint_in(body: &str, log: &PublicLogKey) -> Option<Checkpoint> {
    let (head, note) = body.split_once("\n\n")?;
    head.strip_prefix("old ")?;
    Checkpoint::verify(note, log).ok()
}
