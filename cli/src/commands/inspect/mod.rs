//! Commands that inspect a spool through its directories: read-only, without a daemon. The position
//! of a request's file is its state. Statements of the daemon are labelled, and never shown as
//! current after it has died. Statements of a record are never shown as verified. With `--fleet`
//! the database of a fleet is asked in place of a spool.

pub(crate) mod change_watcher;
pub(crate) mod daemon;
mod fleet_rows;
mod fleet_wait;
pub(super) mod list;
pub(super) mod notify;
pub(super) mod place;
pub(crate) mod reason;
pub(crate) mod results;
pub(crate) mod rows;
pub(crate) mod show;
pub(super) mod status;
pub(super) mod wait;
pub(super) mod watch;

mod resolve_id;
