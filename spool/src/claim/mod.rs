//! Claiming: a private copy of a request, read by handle and bounded, whose digest is the copy's.
//!
//! The original may be anybody's and may change under our eyes; from here on only the copy counts. It
//! stays where it is until the result is published.

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
