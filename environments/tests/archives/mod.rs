//! Archives: what an image unpacks to, and the traps that are refused. Each test makes its archives
//! itself, and compares all that is beside the unpacked tree before and after.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail"
)]

mod entry_trap;
mod entry_traps;
mod good_images;
mod layer_archive;
mod layout_traps;
mod limit_traps;
mod name_traps;
mod saved_image;
mod saved_traps;
mod scene;
mod test_image;
