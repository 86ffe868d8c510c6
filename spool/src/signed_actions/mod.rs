//! The directory `signed/`, where a process that may do nothing else delivers signed actions:
//! `<stem>.action`, placed by a rename. Nothing in it is followed or trusted. The answer to each is
//! `<stem>.answer`. Without the directory nothing can be delivered.
//!
//! A look must never do more than its limits allow.

mod answer;
mod directory;
mod listing;
mod marks;
#[cfg(test)]
mod tests;

pub use answer::SignedActionAnswer;
pub use directory::{DeliveredAction, SignedActionInbox, SignedActionLook};
pub use marks::SignedActionMarks;
