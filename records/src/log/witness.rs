//! What a witness is told and what it answers: C2SP tlog-witness' `add-checkpoint`, and the cosignatures
//! of tlog-cosignature. Pure: nothing here sends anything. A cosignature must never count as one of a
//! witness whose key did not make it, nor a witness' word as the log's.

use std::fmt;

use ed25519_dalek::{Signature, VerifyingKey};
use model::UtcTime;

use crate::base64;
use crate::log::LogError;
use crate::log::checkpoint::{Checkpoint, signature_line};
use crate::log::key::{PublicLogKey, note_key};
use crate::log::view::LogView;

/// The type of an Ed25519 cosigner's key in a signed note.
const COSIGNATURE: u8 = 4;
/// A witness may have a few keys.
const LINES_MAX: usize = 8;
const ANSWER_BYTES_MAX: usize = 32 * 1024;

/// What checks one witness' cosignatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessKey {
    name: String,
    short_id: [u8; 4],
    key: VerifyingKey,
}

impl WitnessKey {
    /// Reads `name+hash+key` of type 0x04; `None` for any other text, and for a weak key.
    #[must_use]
    pub fn from_verifier_line(line: &str) -> Option<Self> {
        let (name, short_id, key) = note_key(line, COSIGNATURE)?;
        Some(Self { name: name.to_owned(), short_id, key })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The time that it cosigned this checkpoint; `None` where the signature is not its own.
    fn cosigned(&self, checkpoint: &Checkpoint, name: &str, blob: &[u8]) -> Option<UtcTime> {
        let rest = blob.strip_prefix(&self.short_id).filter(|_| name == self.name)?;
        let (time, signature) = rest.split_first_chunk::<8>()?;
        let time = i64::try_from(u64::from_be_bytes(*time)).ok()?;
        let signed = format!("cosignature/v1\ntime {time}\n{}", checkpoint.text());
        let signature = Signature::from_bytes(signature.try_into().ok()?);
        let fits = self.key.verify_strict(signed.as_bytes(), &signature).is_ok();
        fits.then(|| UtcTime::from_unix(time))
    }
}

/// A checkpoint with a witness' word on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigned {
    name: String,
    time: Option<UtcTime>,
    note: String,
}

/// Why an answer is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFault {
    /// Not lines of signatures.
    Form,
    /// No signature by the witness' key.
    Unsigned,
}

impl fmt::Display for AnswerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "not the signature lines that a witness answers with",
            Self::Unsigned => "no cosignature of this checkpoint by the witness' key",
        })
    }
}

impl std::error::Error for AnswerFault {}

impl Cosigned {
    /// Takes the cosignatures out of a witness' answer: with its key those that it made, without one
    /// all, which then prove nothing yet.
    ///
    /// # Errors
    /// [`AnswerFault`].
    pub fn of_answer(
        checkpoint: &Checkpoint,
        answer: &str,
        witness: Option<&WitnessKey>,
    ) -> Result<Self, AnswerFault> {
        let lines = answer.strip_suffix('\n').filter(|_| answer.len() <= ANSWER_BYTES_MAX);
        let lines: Vec<&str> = lines.ok_or(AnswerFault::Form)?.split('\n').collect();
        if lines.len() > LINES_MAX || answer.contains(|c: char| c.is_control() && c != '\n') {
            return Err(AnswerFault::Form);
        }
        let mut found: Option<Self> = None;
        for line in lines {
            let (name, blob) = signature_line(line).ok_or(AnswerFault::Form)?;
            let time = witness.and_then(|key| key.cosigned(checkpoint, name, &blob));
            if witness.is_some() && time.is_none() {
                continue;
            }
            let (name, note) = (name.to_owned(), checkpoint.note().to_owned());
            let found = found.get_or_insert(Self { name, time, note });
            found.note.push_str(line);
            found.note.push('\n');
        }
        found.ok_or(AnswerFault::Unsigned)
    }

    /// Of the witness.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it cosigned, by its own clock; `None` where nobody checked that it did.
    #[must_use]
    pub fn time(&self) -> Option<UtcTime> {
        self.time
    }

    /// The log's note with the cosignatures behind its own signature.
    #[must_use]
    pub fn note(&self) -> &str {
        &self.note
    }
}

impl LogView {
    /// The body of `add-checkpoint` for a witness that has seen `old` entries.
    ///
    /// # Errors
    /// [`LogError`]: the log never was so large, or the files cannot be read.
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

/// The checkpoint in a body that [`LogView::add_checkpoint`] made; `None` for any other text.
#[must_use]
pub fn checkpoint_in(body: &str, log: &PublicLogKey) -> Option<Checkpoint> {
    let (head, note) = body.split_once("\n\n")?;
    head.strip_prefix("old ")?;
    Checkpoint::verify(note, log).ok()
}
