//! Commands that check records and the log.

pub(crate) mod log;
pub(crate) mod replay;
pub(crate) mod verify;
