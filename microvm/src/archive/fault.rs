//! The reasons why an archive of a guest is refused.

use std::{fmt, io};

model::closed_set! {
    /// The reason why an archive is refused.
    pub enum ArchiveFault {
        NotUstar = "not-ustar": "The header is not a ustar header.",
        Checksum = "checksum": "The checksum of the header is wrong.",
        Number = "number": "A number of the header is not octal.",
        Mode = "mode": "The mode has more than permission bits.",
        Form = "form": "The header has another form than the guest's init writes.",
        Link = "link": "The entry is a link.",
        Device = "device": "The entry is a device or a named pipe.",
        Sparse = "sparse": "The entry is a sparse file.",
        Extension = "extension": "The entry is an extended header.",
        UnknownKind = "unknown-kind": "The kind of the entry is unknown.",
        NameField = "name-field": "The name has bytes after its end.",
        EmptyName = "empty-name": "The name is empty.",
        NameNotUtf8 = "name-not-utf8": "The name is not UTF-8.",
        AbsoluteName = "absolute-name": "The name begins with a slash.",
        EmptyPart = "empty-part": "A part of the name is empty.",
        DotPart = "dot-part": "A part of the name is `.` or `..`.",
        Duplicate = "duplicate": "An earlier entry has the same name.",
        NoParent = "no-parent": "No earlier directory contains the entry.",
        DirectorySize = "directory-size": "The entry is a directory with content.",
        BeyondDisk = "beyond-disk": "The content is larger than the rest of the disk.",
        TooLarge = "too-large": "The files together exceed the limit of bytes.",
        TooMany = "too-many": "The entries exceed the limit of inodes.",
        LoneZeroBlock = "lone-zero-block": "The end mark is incomplete.",
        Truncated = "truncated": "The disk ends before the end mark.",
    }
}

/// An archive that was not read.
#[derive(Debug)]
pub enum ArchiveError {
    /// The archive breaks a rule.
    Refused {
        /// The rule.
        fault: ArchiveFault,
        /// The entry, as a printable text.
        entry: String,
    },
    /// The disk could not be read.
    Unreadable(io::Error),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { fault, entry } => write!(f, "{entry}: {fault}: {}", fault.meaning()),
            Self::Unreadable(error) => write!(f, "cannot read the disk: {error}"),
        }
    }
}

impl std::error::Error for ArchiveError {}
