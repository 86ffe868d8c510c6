//! Packing and unpacking with a database in memory, and stores that are directories.

mod any_folder;
mod results;
pub(in crate::bytes) mod scene;
mod stores;
mod submissions;
