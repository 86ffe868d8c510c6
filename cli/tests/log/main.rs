//! Black-box tests of `toolexec log`, on logs that are grown, damaged, cut back and rewritten here.
//! Other implementations check the output. No test may need a network.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod commands;
mod export;
#[allow(dead_code, reason = "the tests of the records crate need more of it")]
#[path = "../../../records/tests/records/fixture.rs"]
mod fixture;
mod test_log;
mod witness;
