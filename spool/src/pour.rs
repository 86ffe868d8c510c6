//! Bytes from one file into another, hashed on the way. The digest is of what was written, so that
//! nobody can change a file between the look at it and its copy; it must never read without a bound.

use std::fs::File;
use std::io::{self, Read, Write};

use validator::{Sha256, Sha256Stream};

const BUFFER_BYTES: usize = 256 * 1024;

/// Copies at most one buffer more than `bytes_max`, and says what was written and how much.
pub(crate) fn pour(from: &mut File, to: &mut File, bytes_max: u64) -> io::Result<(Sha256, u64)> {
    let mut hash = Sha256Stream::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    while total <= bytes_max {
        let len = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&buffer[..len]);
        to.write_all(&buffer[..len])?;
        total += u64::try_from(len).unwrap_or(u64::MAX);
    }
    Ok((hash.finish(), total))
}
