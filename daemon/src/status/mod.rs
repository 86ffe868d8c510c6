//! The status of the daemon: files in `public/`, and the requests in flight.
//! No decision depends on them.

mod progress;
mod status_writer;

pub use progress::ProgressObserver;
pub(crate) use progress::{ProgressRegistry, RequestProgress};
pub use status_writer::{DaemonStatus, StatusWriter};
