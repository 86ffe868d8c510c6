//! Random bytes of the kernel.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Returns this many random bytes, at most 256: getrandom(2) returns so few completely or not at
/// all.
///
/// # Errors
/// The kernel refuses them, as it does for a process whose filter forbids the call.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    const { assert!(N <= 256) };
    let mut bytes = [0; N];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}
