//! The status of the daemon: files in `public/`, messages to systemd, and the requests in flight. Status output
//! is write-only: no component reads it to make a decision.

mod journey;
pub mod notify_host;
mod teller;

pub use journey::Watching;
pub(crate) use journey::{Journey, Telling};
pub use teller::{How, StatusTeller};
