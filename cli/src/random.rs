//! Random bytes of the kernel.

use crate::failure::Failure;

/// Returns this many random bytes, at most 256.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], Failure> {
    spool::random_bytes().map_err(|error| {
        let help = "check what confines this process (a container)";
        Failure::Message(format!("random numbers: {error}; help: {help}"))
    })
}

/// Returns eight random hexadecimal digits.
pub(crate) fn random_word() -> Result<String, Failure> {
    Ok(format!("{:08x}", u32::from_be_bytes(random_bytes()?)))
}
