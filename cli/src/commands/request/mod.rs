//! Commands that create requests.

pub(crate) mod draft;
pub(crate) mod lint;
