//! Claiming: makes a private copy of a request. The original is read by handle and up to a limit,
//! and the digest is that of the copy.
//!
//! Any user may own the original and change it at any time; after the claim only the copy counts.
//! The original stays in place until the result is published.

mod claimed;
mod model;
mod note;
mod object;

pub use self::model::Replayed;
pub use claimed::Claimed;
pub use object::ClaimedObject;

pub(crate) use self::model::{ClaimNote, Dropped, Kind};
pub(crate) use claimed::{Inputs, Origin, open_inputs, remove_claim};
pub(crate) use note::{INTENT, claim_note, intent_in, note_intent, noted_result};
