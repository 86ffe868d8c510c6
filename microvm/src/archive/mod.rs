//! The archive in which a guest leaves its `/out`: a subset of ustar with regular files and
//! directories only. The reader refuses everything that the writer does not write.

mod fault;
mod header;
mod out_directory;
mod reader;
mod writer;

pub use fault::{ArchiveError, ArchiveFault};
pub use out_directory::OutDirectory;
pub(crate) use reader::PAGE_BYTES;
pub use reader::{ArchiveEntry, ArchiveEntryKind, ArchiveLimits, OutArchive};
pub use writer::TarWriter;
