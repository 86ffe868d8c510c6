//! Authorization in the real daemon: the permission manager, the gate and AIS beside the approval.
//! Checks the requests that each holds or refuses, and that the signed record has every result.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod answers;
mod bundles;
mod example;
mod explained;
mod gate;
mod hold_time;
mod host;
mod intent;
mod odd_objects;
