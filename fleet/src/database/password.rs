//! The password file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};

use super::error::DatabaseError;

/// The longest password in bytes, with its line break.
const PASSWORD_BYTES_MAX: u64 = 1024;

/// Reads the password without its trailing line break. Links are followed; a FIFO is never waited
/// for, and a file that other users may read is refused.
pub(super) fn read_password(path: &Path) -> Result<Vec<u8>, DatabaseError> {
    read(path).map_err(|error| DatabaseError::File { path: path.to_owned(), error })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty())?;
    let stat = fstat(&opened)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXO) {
        return Err(io::Error::other("every user of this host may use it"));
    }
    let mut bytes = Vec::new();
    File::from(opened).take(PASSWORD_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > PASSWORD_BYTES_MAX {
        return Err(io::Error::other("too long for a password"));
    }
    password_in(&bytes).map(<[u8]>::to_vec).map_err(io::Error::other)
}

/// Returns the password in the bytes of a file.
fn password_in(bytes: &[u8]) -> Result<&[u8], &'static str> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line {
        [] => Err("it has no password"),
        _ if line.iter().any(|byte| matches!(byte, 0 | b'\n')) => Err("it has more than one line"),
        _ => Ok(line),
    }
}

#[cfg(test)]
mod tests {
    use super::password_in;

    #[test]
    fn one_trailing_line_break_does_not_count() {
        for text in ["s e", "s e\n", "s e\r\n"] {
            assert_eq!(password_in(text.as_bytes()), Ok(b"s e".as_slice()), "{text:?}");
        }
        for text in ["", "\n", "a\nb", "a\n\n", "a\0"] {
            assert!(password_in(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
