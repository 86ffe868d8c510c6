//! Entries of the log that are of no record: what it says of itself. Each kind has one form, and what
//! is not of that form must never be taken for one.

mod key_change;

pub(crate) use key_change::ChangingKey;
pub use key_change::{KEY_CHANGE_NAMESPACE, KeyChange, KeyChangeFault, KeyRole};
