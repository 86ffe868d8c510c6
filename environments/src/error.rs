//! The errors of archives. Each text names the object, says what happened, and what to do. Names
//! from archives are escaped before they are shown.

use std::fmt;
use std::io;

use model::{Sha256, quote};

use crate::fault::{EntryFault, ExceededLimit, ImageFault};

/// The reason why an archive was not unpacked. The directory holds what came before it.
#[derive(Debug)]
pub enum UnpackError {
    /// A system call failed.
    Io {
        /// The file, or the quoted name of an entry.
        object: String,
        /// The operation as a verb phrase for the message, such as `open`.
        act: &'static str,
        /// The error of the system call.
        error: io::Error,
    },
    /// An entry of a layer is refused.
    Entry {
        /// The quoted name of the entry.
        name: String,
        /// The reason.
        fault: EntryFault,
    },
    /// The image exceeds a limit.
    Limit {
        /// The image, or the quoted name of an entry.
        object: String,
        /// The exceeded limit.
        limit: ExceededLimit,
        /// The highest allowed value.
        most: u64,
    },
    /// A stream cannot be read to its end.
    Damaged {
        /// The layer or archive.
        object: String,
        /// The fault that its reader found.
        detail: String,
    },
    /// The bytes differ from the declared digest.
    Digest {
        /// The blob or layer.
        object: String,
        /// The declared digest.
        declared: Sha256,
        /// The digest of the bytes.
        found: Sha256,
    },
    /// A document of the image is not valid JSON of its kind.
    Json {
        /// The document.
        object: String,
        /// The fault that the parser found.
        detail: String,
    },
    /// The image is refused as a whole.
    Image {
        /// The file or layer.
        object: String,
        /// The reason.
        fault: ImageFault,
    },
}

impl UnpackError {
    pub(crate) fn io(
        object: impl fmt::Display,
        act: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let object = object.to_string();
        move |error| Self::Io { object, act, error }
    }

    /// The same for a bare errno.
    pub(crate) fn errno(
        object: impl fmt::Display,
        act: &'static str,
    ) -> impl FnOnce(rustix::io::Errno) -> Self {
        let object = object.to_string();
        move |errno| Self::Io { object, act, error: errno.into() }
    }

    /// The error of a stream, which may carry one of this crate.
    pub(crate) fn stream(object: &str, error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(carried) => carried,
            Err(error) if error.raw_os_error().is_some() => Self::io(object, "read")(error),
            Err(error) => Self::damaged(object, &error.to_string()),
        }
    }

    pub(crate) fn damaged(object: &str, detail: &str) -> Self {
        Self::Damaged { object: object.to_owned(), detail: model::escape_line(detail) }
    }

    /// The error for an entry whose name is not checked yet.
    pub(crate) fn entry(name: &[u8], fault: EntryFault) -> Self {
        Self::Entry { name: quote(&String::from_utf8_lossy(name)), fault }
    }

    pub(crate) fn image(object: impl fmt::Display, fault: ImageFault) -> Self {
        Self::Image { object: object.to_string(), fault }
    }
}

impl fmt::Display for UnpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { object, act, error } => {
                write!(f, "{object}: {act}: {error}; help: check the path and its disk")
            }
            Self::Entry { name, fault } => {
                write!(f, "{name}: {fault}; help: build the image again without this entry")
            }
            Self::Limit { object, limit, most } => {
                write!(f, "{object}: more than {most} {limit}; help: use a smaller image")
            }
            Self::Damaged { object, detail } => {
                write!(f, "{object}: damaged: {detail}; help: save the image again")
            }
            Self::Digest { object, declared, found } => write!(
                f,
                "{object}: has SHA-256 {found}, but the image declares {declared}; help: save the \
                 image again"
            ),
            Self::Json { object, detail } => {
                write!(f, "{object}: invalid JSON: {detail}; help: save the image again")
            }
            Self::Image { object, fault } => {
                write!(f, "{object}: {fault}; help: {}", fault.help())
            }
        }
    }
}

impl std::error::Error for UnpackError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
