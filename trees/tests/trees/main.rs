//! Tests of the digest, the copy and the stamp of a tree.

mod copy;
mod generated;
mod refused;
mod scene;
mod script;
mod stamp;
mod vectors;
