//! Archives as a guest may leave them: good ones are copied below a directory, and each hostile one
//! is refused with its own reason before anything is written.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod good;
mod hostile;
mod tar_bytes;
