//! The reasons why a patch was not written. What the output has of it then must not be used.

use std::fmt;
use std::io;

/// A patch that was not written.
#[derive(Debug)]
pub enum PatchError {
    /// The patch would have more bytes than the limit.
    TooLarge,
    /// A file of the patch could not be read, or the patch could not be written.
    Io(io::Error),
}

impl From<io::Error> for PatchError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str(
                "the patch has more bytes than the limit; help: change fewer files, or raise the \
                 limit",
            ),
            Self::Io(error) => write!(f, "the patch: {error}"),
        }
    }
}

impl std::error::Error for PatchError {}
