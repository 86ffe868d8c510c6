//! Further backends in runs: code and scripts in the interpreter monty, its limits, a changed
//! program, and `lint`; commands in a virtual machine, and a hostile one. Each run here is in a
//! real sandbox.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod changes;
mod guest_build;
mod kvm;
mod lint;
mod microvm;
mod microvm_scene;
mod runs;
mod scene;
mod static_programs;
