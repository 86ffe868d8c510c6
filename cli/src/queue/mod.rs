//! Where requests are: `list`, `status`, `show`, `wait` and `watch`, by looking at the directories of a
//! spool. They need no daemon and change nothing. What lies in a directory is the truth; what the daemon
//! tells in `public/` is shown as its word, and not at all as the present where it is not there any more.
//! What a record says of itself is shown, never taken for verified.

mod daemon;
mod hint;
mod list;
mod names;
mod one;
pub(crate) mod options;
mod page;
mod place;
mod reason;
mod results;
mod rows;
mod status;
mod wait;
mod watch;

pub(crate) use list::list;
pub(crate) use one::show;
pub(crate) use place::PACKAGED_SPOOL;
pub(crate) use results::{end_of, records_among, request_of, result_names};
pub(crate) use status::status;
pub(crate) use wait::wait;
pub(crate) use watch::watch;
