//! The control port between wrapper and guest: one request to the guest, then its messages. A
//! hostile guest writes what it likes: every length is bounded, and every message is checked.

mod fields;
mod message;
mod request;
mod stream;

pub use message::{GuestMessage, GuestToolEnd, GuestToolUsage};
pub use request::GuestRequest;
pub use stream::{MessageStream, StatusFault};

/// The ports for messages, standard output and standard error.
pub(crate) const PORT_NAMES: [&str; 3] = ["ctl", "out", "err"];
