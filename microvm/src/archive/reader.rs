//! Reads the headers of an archive from the guest's disk. The guest wrote the disk and has ended.
//! All headers are checked before anything is written; the first fault refuses the whole archive.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use super::fault::{ArchiveError, ArchiveFault};
use super::header::{BLOCK, BLOCK_BYTES, TarBlock, TarHeader, decode, label};

/// Files in memory take whole pages.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// The limits of the whole archive.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// The most entries, files and directories together.
    pub entries: u64,
    /// The most bytes of all files, each in whole pages. An incomplete page of the limit is whole.
    pub bytes: u64,
}

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArchiveEntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// Its owner may execute it.
        executable: bool,
    },
}

/// One entry, whose name is relative, unique and in an earlier directory.
#[derive(Clone, Debug)]
pub struct ArchiveEntry {
    /// The path below `/out`.
    pub name: String,
    /// File or directory.
    pub kind: ArchiveEntryKind,
    /// The bytes of its content.
    pub size: u64,
    pub(super) offset: u64,
}

/// The entries of an archive without a fault.
#[derive(Debug)]
pub struct OutArchive {
    entries: Vec<ArchiveEntry>,
    bytes: u64,
}

impl OutArchive {
    /// Reads and checks every header.
    ///
    /// # Errors
    /// `Refused` at the first fault; `Unreadable` if the disk cannot be read.
    pub fn read<R: Read + Seek>(disk: &mut R, limits: ArchiveLimits) -> Result<Self, ArchiveError> {
        let disk_bytes = disk.seek(SeekFrom::End(0)).map_err(ArchiveError::Unreadable)?;
        let mut check = ArchiveCheck {
            limits,
            disk_bytes,
            pages: 0,
            kinds: BTreeMap::new(),
            archive: Self { entries: Vec::new(), bytes: 0 },
        };
        let mut at = 0;
        while let Some(block) = check.header_block(disk, at)? {
            let refused = |fault| ArchiveError::Refused { fault, entry: label(&block) };
            let header = decode(&block).map_err(refused)?;
            let offset = at.saturating_add(BLOCK);
            at = offset.saturating_add(header.size.div_ceil(BLOCK).saturating_mul(BLOCK));
            check.admit(header, offset).map_err(refused)?;
        }
        Ok(check.archive)
    }

    /// Keeps the first files and all directories. Returns the names of the other files.
    pub fn keep_files(&mut self, files_max: u64) -> Vec<String> {
        let mut files_left = files_max;
        let is_left_out = |entry: &mut ArchiveEntry| {
            let is_file = entry.kind != ArchiveEntryKind::Directory;
            let is_beyond = is_file && files_left == 0;
            files_left = files_left.saturating_sub(u64::from(is_file));
            is_beyond
        };
        let left_out: Vec<ArchiveEntry> = self.entries.extract_if(.., is_left_out).collect();
        let bytes = left_out.iter().map(|entry| entry.size).fold(0, u64::saturating_add);
        self.bytes = self.bytes.saturating_sub(bytes);
        left_out.into_iter().map(|entry| entry.name).collect()
    }

    /// Returns the entries, each directory before its content.
    #[must_use]
    pub fn entries(&self) -> &[ArchiveEntry] {
        &self.entries
    }

    /// Returns the bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

struct ArchiveCheck {
    limits: ArchiveLimits,
    disk_bytes: u64,
    pages: u64,
    kinds: BTreeMap<String, ArchiveEntryKind>,
    archive: OutArchive,
}

impl ArchiveCheck {
    /// Reads the block of a header, or `None` at the end mark of two blocks of zeros.
    fn header_block<R: Read + Seek>(
        &self,
        disk: &mut R,
        at: u64,
    ) -> Result<Option<TarBlock>, ArchiveError> {
        let block = self.block(disk, at)?;
        if block.iter().any(|byte| *byte != 0) {
            return Ok(Some(block));
        }
        let second = self.block(disk, at.saturating_add(BLOCK))?;
        if second.iter().any(|byte| *byte != 0) {
            return Err(self.refused_after_last(ArchiveFault::LoneZeroBlock));
        }
        Ok(None)
    }

    fn block<R: Read + Seek>(&self, disk: &mut R, at: u64) -> Result<TarBlock, ArchiveError> {
        if at.saturating_add(BLOCK) > self.disk_bytes {
            return Err(self.refused_after_last(ArchiveFault::Truncated));
        }
        let mut block = [0; BLOCK_BYTES];
        disk.seek(SeekFrom::Start(at)).map_err(ArchiveError::Unreadable)?;
        disk.read_exact(&mut block).map_err(ArchiveError::Unreadable)?;
        Ok(block)
    }

    fn refused_after_last(&self, fault: ArchiveFault) -> ArchiveError {
        let entry = match self.archive.entries.last() {
            Some(last) => format!("after {:?}", last.name),
            None => "the beginning".to_owned(),
        };
        ArchiveError::Refused { fault, entry }
    }

    fn admit(&mut self, header: TarHeader, offset: u64) -> Result<(), ArchiveFault> {
        let TarHeader { name, is_directory, executable, size } = header;
        let count = u64::try_from(self.archive.entries.len()).unwrap_or(u64::MAX);
        if count >= self.limits.entries {
            return Err(ArchiveFault::TooMany);
        }
        if is_directory && size > 0 {
            return Err(ArchiveFault::DirectorySize);
        }
        if size > self.disk_bytes.saturating_sub(offset) {
            return Err(ArchiveFault::BeyondDisk);
        }
        let pages = self.pages.saturating_add(size.div_ceil(PAGE_BYTES));
        if pages > self.limits.bytes.div_ceil(PAGE_BYTES) {
            return Err(ArchiveFault::TooLarge);
        }
        if let Some((parent, _)) = name.rsplit_once('/')
            && self.kinds.get(parent) != Some(&ArchiveEntryKind::Directory)
        {
            return Err(ArchiveFault::NoParent);
        }
        let kind = if is_directory {
            ArchiveEntryKind::Directory
        } else {
            ArchiveEntryKind::File { executable }
        };
        if self.kinds.insert(name.clone(), kind).is_some() {
            return Err(ArchiveFault::Duplicate);
        }
        self.pages = pages;
        self.archive.bytes = self.archive.bytes.saturating_add(size);
        self.archive.entries.push(ArchiveEntry { name, kind, size, offset });
        Ok(())
    }
}
