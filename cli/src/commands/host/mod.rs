//! Commands about this host: keys, requirements, retention and the manual.

pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod keys;
pub(crate) mod man;
