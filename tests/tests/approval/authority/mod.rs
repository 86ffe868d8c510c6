//! Who may run what, asked of the real daemon: the permission manager, the gate and AIS beside the approval,
//! what each of them holds or refuses, and that every answer stands in the signed record.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod answers;
mod bound;
mod example;
mod explained;
mod gate;
mod host;
mod intent;
mod odd;
mod waiting;
