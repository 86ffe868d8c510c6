//! Commands that write requests.

pub(crate) mod draft;
pub(crate) mod lint;
