//! The wrapper against a fake QEMU, for each way in which a run can end. Needs bash, neither QEMU
//! nor mkfs.erofs.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod bad_endings;
mod good_endings;
mod hostile_guests;
mod scene;
#[path = "../archives/tar_bytes.rs"]
mod tar_bytes;
