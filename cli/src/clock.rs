//! The time of day.

pub(crate) use spool::clock::now;
