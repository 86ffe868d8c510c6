//! Reads the archive of a folder, which may have any bytes. All headers are checked before anything
//! is written, and one fault refuses the whole archive.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use super::header::{
    BLOCK, BLOCK_BYTES, END_BYTES, FolderTarHeader, FolderTarKind, HeaderBlock, label,
};
use super::stream::padding;
use crate::bytes::error::ByteStoreError;
use crate::bytes::fault::FolderTarFault;
use crate::bytes::model::{DEPTH_MAX, FOLDER_ENTRIES_MAX};
use crate::bytes::new_tree::NewTree;

const CHUNK_BYTES: usize = 128 * 1024;

/// Writes the entries of an archive below a directory of the tree. `folder` is its path, which
/// ends with `/`; it does not exist yet.
pub(in crate::bytes) fn unpack_folder(
    archive: &File,
    folder: &str,
    tree: &mut NewTree,
) -> Result<(), ByteStoreError> {
    let failed =
        |error: io::Error| ByteStoreError::io(folder.as_ref(), "read the archive of")(error);
    let bytes = archive.metadata().map_err(failed)?.len();
    let mut check = FolderTarCheck { archive, bytes, entries: Vec::new(), kinds: HashMap::new() };
    match check.run() {
        Ok(()) => {}
        Err(FolderTarProblem::Io(error)) => return Err(failed(error)),
        Err(FolderTarProblem::Refused { entry, fault }) => {
            return Err(ByteStoreError::Folder { folder: folder.to_owned(), entry, fault });
        }
    }
    tree.directory(folder.trim_end_matches('/'))?;
    for PlacedEntry { header, offset } in &check.entries {
        let path = format!("{folder}{}", header.name);
        match &header.kind {
            FolderTarKind::Directory => tree.directory(&path)?,
            FolderTarKind::Link(target) => tree.link(&path, target)?,
            FolderTarKind::File | FolderTarKind::Program => {
                let mut file = tree.file(&path, header.kind == FolderTarKind::Program)?;
                copy(archive, *offset, header.bytes, &mut file)
                    .map_err(tree.failed(&path, "write"))?;
            }
        }
    }
    Ok(())
}

/// Copies a part of the archive to a file.
fn copy(archive: &File, offset: u64, bytes: u64, to: &mut File) -> io::Result<()> {
    let chunk_of = |bytes: u64| usize::try_from(bytes).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
    let mut buffer = vec![0; chunk_of(bytes)];
    let (mut at, end) = (offset, offset.saturating_add(bytes));
    while at < end {
        let left = chunk_of(end - at);
        let chunk = buffer.get_mut(..left).unwrap_or_default();
        archive.read_exact_at(chunk, at)?;
        to.write_all(chunk)?;
        at += u64::try_from(left).unwrap_or(u64::MAX);
    }
    Ok(())
}

/// The reason why an archive is not unpacked.
enum FolderTarProblem {
    Refused { entry: String, fault: FolderTarFault },
    Io(io::Error),
}

/// An entry with the place of its content in the archive.
struct PlacedEntry {
    header: FolderTarHeader,
    offset: u64,
}

struct FolderTarCheck<'a> {
    archive: &'a File,
    bytes: u64,
    entries: Vec<PlacedEntry>,
    /// The kinds of the entries by their names.
    kinds: HashMap<String, FolderTarParent>,
}

/// The kind of an entry that another one may name as its directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FolderTarParent {
    Directory,
    Link,
    File,
}

impl FolderTarCheck<'_> {
    /// Checks every header up to the end of the file.
    fn run(&mut self) -> Result<(), FolderTarProblem> {
        let mut at = 0;
        while let Some(block) = self.header_block(at)? {
            let refused = |fault| FolderTarProblem::Refused { entry: label(&block), fault };
            let header = FolderTarHeader::decode(&block).map_err(refused)?;
            let offset = at.saturating_add(BLOCK);
            self.admit(&header, offset).map_err(refused)?;
            let end = offset.saturating_add(header.bytes);
            let padded = end.saturating_add(padding(header.bytes));
            self.check_padding(end, padded).map_err(|problem| match problem {
                None => refused(FolderTarFault::Padding),
                Some(error) => FolderTarProblem::Io(error),
            })?;
            self.entries.push(PlacedEntry { header, offset });
            at = padded;
        }
        Ok(())
    }

    /// Reads the block of a header, or `None` at the end mark, with which the file must end.
    fn header_block(&self, at: u64) -> Result<Option<HeaderBlock>, FolderTarProblem> {
        let block = self.block(at)?;
        if block.iter().any(|byte| *byte != 0) {
            return Ok(Some(block));
        }
        let second = self.block(at.saturating_add(BLOCK))?;
        if second.iter().any(|byte| *byte != 0) {
            return Err(self.after_last(FolderTarFault::LoneZeroBlock));
        }
        let end = at.saturating_add(u64::try_from(END_BYTES).unwrap_or(u64::MAX));
        match end == self.bytes {
            true => Ok(None),
            false => Err(self.after_last(FolderTarFault::AfterEnd)),
        }
    }

    fn block(&self, at: u64) -> Result<HeaderBlock, FolderTarProblem> {
        if at.saturating_add(BLOCK) > self.bytes {
            return Err(self.after_last(FolderTarFault::Truncated));
        }
        let mut block = [0; BLOCK_BYTES];
        self.archive.read_exact_at(&mut block, at).map_err(FolderTarProblem::Io)?;
        Ok(block)
    }

    fn after_last(&self, fault: FolderTarFault) -> FolderTarProblem {
        let entry = match self.entries.last() {
            Some(last) => format!("after {}", last.header.name),
            None => "the beginning".to_owned(),
        };
        FolderTarProblem::Refused { entry, fault }
    }

    /// Checks an entry against those before it, and remembers it.
    fn admit(&mut self, header: &FolderTarHeader, offset: u64) -> Result<(), FolderTarFault> {
        let FolderTarHeader { name, kind, bytes } = header;
        if self.entries.len() >= FOLDER_ENTRIES_MAX {
            return Err(FolderTarFault::TooManyEntries);
        }
        if name.split('/').count() > DEPTH_MAX {
            return Err(FolderTarFault::TooDeep);
        }
        let padded = bytes.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
        if padded > self.bytes.saturating_sub(offset) {
            return Err(FolderTarFault::BeyondEnd);
        }
        if self.kinds.contains_key(name) {
            return Err(FolderTarFault::Duplicate);
        }
        if let Some((parent, _)) = name.rsplit_once('/') {
            match self.kinds.get(parent) {
                Some(FolderTarParent::Directory) => {}
                Some(FolderTarParent::Link) => return Err(FolderTarFault::ThroughLink),
                Some(FolderTarParent::File) | None => return Err(FolderTarFault::NoParent),
            }
        }
        let last = self.entries.last().map(|it| it.header.name.as_str());
        if last.is_some_and(|last| last.split('/').cmp(name.split('/')).is_ge()) {
            return Err(FolderTarFault::Order);
        }
        let kind = match kind {
            FolderTarKind::Directory => FolderTarParent::Directory,
            FolderTarKind::Link(_) => FolderTarParent::Link,
            FolderTarKind::File | FolderTarKind::Program => FolderTarParent::File,
        };
        self.kinds.insert(name.clone(), kind);
        Ok(())
    }

    /// Checks that the bytes after a content are zeros. `None` if they are not.
    fn check_padding(&self, from: u64, to: u64) -> Result<(), Option<io::Error>> {
        let mut padding = [0; BLOCK_BYTES];
        let length = usize::try_from(to.saturating_sub(from)).unwrap_or(BLOCK_BYTES);
        let bytes = padding.get_mut(..length).unwrap_or_default();
        self.archive.read_exact_at(bytes, from).map_err(Some)?;
        match bytes.iter().all(|byte| *byte == 0) {
            true => Ok(()),
            false => Err(None),
        }
    }
}
