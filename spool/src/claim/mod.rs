//! Claiming: makes a private copy of a request. The original is read by handle and up to a limit,
//! and the digest is that of the copy. Any user may own the original and change it at any time;
//! after the claim only the copy counts. The original stays in place until the result is published.

mod claimed;
mod model;
mod note;
mod object;

pub use self::model::ReplaySource;
pub use claimed::Claimed;
pub use object::ClaimedObject;

pub(crate) use self::model::{ClaimKind, ClaimNote, SubmittedFileId};
pub(crate) use claimed::{InputsDirectory, Origin, open_inputs, remove_claim};
pub(crate) use note::{INTENT_FILE, note_intent, read_claim_note, read_intent, read_noted_result};
