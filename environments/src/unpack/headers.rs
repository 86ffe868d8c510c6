//! Joins each entry of an archive with the extended headers before it. Where readers of archives
//! would disagree about an entry, it is refused.

use std::io::Read;

use tar::{EntryType, Header};

use super::pax::{PaxRecord, decimal, pax_records};
use crate::error::UnpackError;
use crate::fault::EntryFault;

const EXTENSION_BYTES_MAX: u64 = 1024 * 1024;
const SPARSE_KEYS: &[u8] = b"GNU.sparse.";

/// The kinds of entries that this crate knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LayerEntryKind {
    File,
    Directory,
    Symlink,
    HardLink,
    Device,
    Fifo,
}

/// One entry. Neither its name nor its target is checked yet.
#[derive(Debug)]
pub(crate) struct LayerEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: LayerEntryKind,
    pub(crate) size: u64,
    pub(super) target: Vec<u8>,
    pub(super) executable: bool,
}

/// The facts of the extended headers about the entry behind them.
#[derive(Default)]
pub(crate) struct EntryExtensions {
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    pax: bool,
    pending: bool,
}

impl EntryExtensions {
    /// Returns whether no extended header waits for its entry.
    pub(crate) fn is_empty(&self) -> bool {
        !self.pending
    }

    /// Takes a raw entry. Returns an entry unless it was an extended header.
    pub(crate) fn join<R: Read>(
        &mut self,
        label: &str,
        raw: &mut tar::Entry<'_, R>,
    ) -> Result<Option<LayerEntry>, UnpackError> {
        let kind = raw.header().entry_type();
        if !matches!(
            kind,
            EntryType::GNULongName
                | EntryType::GNULongLink
                | EntryType::XHeader
                | EntryType::XGlobalHeader
        ) {
            return std::mem::take(self).finish(raw.header()).map(Some);
        }
        let text = extension_text(label, raw)?;
        self.extend(kind, &text).map_err(|fault| UnpackError::entry(&text, fault))?;
        Ok(None)
    }

    fn extend(&mut self, kind: EntryType, text: &[u8]) -> Result<(), EntryFault> {
        match kind {
            EntryType::XGlobalHeader => return check_global(text),
            EntryType::GNULongName => set_once(&mut self.name, without_end(text))?,
            EntryType::GNULongLink => set_once(&mut self.target, without_end(text))?,
            _ if self.pax => return Err(EntryFault::Extension),
            _ => {
                self.pax = true;
                for record in pax_records(text).ok_or(EntryFault::Extension)? {
                    self.take_record(&record)?;
                }
            }
        }
        self.pending = true;
        Ok(())
    }

    fn take_record(&mut self, record: &PaxRecord<'_>) -> Result<(), EntryFault> {
        match record.key {
            b"path" => set_once(&mut self.name, record.value),
            b"linkpath" => set_once(&mut self.target, record.value),
            b"size" => {
                let size = decimal(record.value).ok_or(EntryFault::Extension)?;
                match self.size.replace(size) {
                    None => Ok(()),
                    Some(_) => Err(EntryFault::OtherSize),
                }
            }
            key if key.starts_with(SPARSE_KEYS) => Err(EntryFault::Sparse),
            // Times, owners and extended attributes do not count.
            _ => Ok(()),
        }
    }

    fn finish(self, header: &Header) -> Result<LayerEntry, UnpackError> {
        let name = self.name.unwrap_or_else(|| header.path_bytes().into_owned());
        let target = self.target.or_else(|| Some(header.link_name_bytes()?.into_owned()));
        let refuse = |fault| UnpackError::entry(&name, fault);
        let kind = kind_of(header.entry_type()).map_err(refuse)?;
        let size = header.entry_size().map_err(|_| refuse(EntryFault::Number))?;
        let mode = header.mode().map_err(|_| refuse(EntryFault::Number))?;
        if self.size.is_some_and(|other| other != size) {
            return Err(refuse(EntryFault::OtherSize));
        }
        if kind != LayerEntryKind::File && size != 0 {
            return Err(refuse(EntryFault::Content));
        }
        if kind != LayerEntryKind::Directory && name.ends_with(b"/") {
            return Err(refuse(EntryFault::TrailingSlash));
        }
        let target = target.unwrap_or_default();
        Ok(LayerEntry { name, kind, size, target, executable: mode & 0o111 != 0 })
    }
}

fn kind_of(kind: EntryType) -> Result<LayerEntryKind, EntryFault> {
    match kind {
        EntryType::Regular | EntryType::Continuous => Ok(LayerEntryKind::File),
        EntryType::Directory => Ok(LayerEntryKind::Directory),
        EntryType::Symlink => Ok(LayerEntryKind::Symlink),
        EntryType::Link => Ok(LayerEntryKind::HardLink),
        EntryType::Char | EntryType::Block => Ok(LayerEntryKind::Device),
        EntryType::Fifo => Ok(LayerEntryKind::Fifo),
        EntryType::GNUSparse => Err(EntryFault::Sparse),
        _ => Err(EntryFault::UnknownKind),
    }
}

fn extension_text<R: Read>(
    label: &str,
    raw: &mut tar::Entry<'_, R>,
) -> Result<Vec<u8>, UnpackError> {
    if raw.size() > EXTENSION_BYTES_MAX {
        return Err(UnpackError::entry(&raw.header().path_bytes(), EntryFault::LongExtension));
    }
    let mut text = Vec::new();
    let read = raw.read_to_end(&mut text).map_err(|error| UnpackError::stream(label, error))?;
    match usize::try_from(raw.size()) == Ok(read) {
        true => Ok(text),
        false => Err(UnpackError::damaged(label, "it ends in an extended header")),
    }
}

/// A header for all entries, as git writes one, may only comment.
fn check_global(text: &[u8]) -> Result<(), EntryFault> {
    let records = pax_records(text).ok_or(EntryFault::Extension)?;
    let names =
        |key: &[u8]| matches!(key, b"path" | b"linkpath" | b"size") || key.starts_with(SPARSE_KEYS);
    match records.iter().any(|record| names(record.key)) {
        true => Err(EntryFault::GlobalName),
        false => Ok(()),
    }
}

fn set_once(field: &mut Option<Vec<u8>>, value: &[u8]) -> Result<(), EntryFault> {
    match field.replace(value.to_owned()) {
        None => Ok(()),
        Some(_) => Err(EntryFault::TwoNames),
    }
}

/// GNU tar ends a long name with a NUL.
fn without_end(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\0").unwrap_or(text)
}
