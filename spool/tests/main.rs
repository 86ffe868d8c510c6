//! Tests of the spool, on a real disk and in a model.

mod folders;
mod model;
mod permissions;
mod recover;
mod scene;
mod signatures;
mod stage;
