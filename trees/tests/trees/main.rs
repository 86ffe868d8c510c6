//! Tests of the digest and the stamp of a tree.

mod generated;
mod refused;
mod scene;
mod script;
mod stamp;
mod vectors;
