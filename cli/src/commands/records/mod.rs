//! Commands that check records and the log.

pub(super) mod log;
pub(super) mod replay;
pub(crate) mod verify;
