//! Random bytes of the kernel.

use rustix::rand::{GetRandomFlags, getrandom};

use crate::failure::Failure;

/// Returns this many random bytes, at most 256: getrandom(2) returns so few completely or not at all.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], Failure> {
    const { assert!(N <= 256) };
    let mut bytes = [0; N];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|errno| {
        let help = "check what confines this process (a container)";
        Failure::Message(format!("random numbers: {errno}; help: {help}"))
    })?;
    Ok(bytes)
}

/// Returns eight random hexadecimal digits.
pub(crate) fn random_word() -> Result<String, Failure> {
    Ok(format!("{:08x}", u32::from_be_bytes(random_bytes()?)))
}
