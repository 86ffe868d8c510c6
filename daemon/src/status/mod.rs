//! The status of the daemon: files in `public/`, messages to systemd, and the requests in flight. No
//! component that admits, runs or signs reads them.

mod journey;
pub mod notify_host;
mod teller;

pub use journey::Watching;
pub(crate) use journey::{Journey, Telling};
pub use teller::{How, StatusTeller};
