//! Tests of AIS through its public interface: canonical bytes against published values, signatures
//! against forgeries, the guard one change at a time. Every case starts from one good scene, so
//! that the change causes the refusal.

mod canonical;
mod decided;
mod entailed;
mod forgeries;
mod forms;
mod guarded;
mod mutated;
mod required;
pub(crate) mod scene;
mod stores;

use crate::scene as decision;
