//! Commands that look at a spool: by its directories, without a daemon, and without a change. A request's place
//! is where its file is. What the daemon publishes below `public/` is shown as its word only, and never as the
//! present once the daemon is gone; what a record says of itself is shown, and never taken for verified.

pub(crate) mod daemon;
pub(crate) mod hint;
pub(super) mod list;
pub(super) mod place;
pub(crate) mod reason;
pub(crate) mod results;
pub(crate) mod rows;
pub(crate) mod show;
pub(super) mod status;
pub(super) mod wait;
pub(super) mod watch;

mod names;
