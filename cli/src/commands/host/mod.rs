//! Commands about this host: keys, requirements, retention and the manual.

pub(super) mod completions;
pub(crate) mod doctor;
pub(super) mod gc;
pub(super) mod keys;
pub(super) mod man;
