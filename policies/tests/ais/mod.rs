//! AIS from outside: canonical bytes against published values, signatures against forgeries, the guard
//! one change at a time. Every case is made of one good scene, so that what refuses is what was changed.

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
