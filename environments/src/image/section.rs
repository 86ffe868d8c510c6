//! A part of a file as a reader: a blob, or a file inside an archive.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use super::documents::DOCUMENT_BYTES_MAX;
use crate::error::UnpackError;
use crate::fault::ImageFault;
use crate::unpack::LayerPacking;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A part of a file, read from its start to its end.
#[derive(Clone, Debug)]
pub(super) struct FileSection {
    file: Rc<File>,
    at: u64,
    end: u64,
}

impl FileSection {
    pub(super) fn new(file: &Rc<File>, at: u64, bytes: u64) -> Self {
        Self { file: Rc::clone(file), at, end: at.saturating_add(bytes) }
    }

    /// Reads a document, unless it is too large.
    pub(super) fn document(&self, object: &str) -> Result<Vec<u8>, UnpackError> {
        let bytes = self.end.saturating_sub(self.at);
        if bytes > DOCUMENT_BYTES_MAX {
            return Err(UnpackError::image(object, ImageFault::LargeDocument));
        }
        let mut document = Vec::new();
        let read = self.clone().read_to_end(&mut document);
        let read = read.map_err(UnpackError::io(object, "read"))?;
        match u64::try_from(read) == Ok(bytes) {
            true => Ok(document),
            false => Err(UnpackError::image(object, ImageFault::Size)),
        }
    }

    /// Detects the packing by the first bytes, as `docker load` does.
    pub(super) fn packing(&self, object: &str) -> Result<LayerPacking, UnpackError> {
        let mut head = Vec::new();
        let read = self.clone().take(4).read_to_end(&mut head);
        read.map_err(UnpackError::io(object, "read"))?;
        if head.starts_with(ZSTD) {
            return Err(UnpackError::image(object, ImageFault::LayerType));
        }
        Ok(if head.starts_with(GZIP) { LayerPacking::Gzip } else { LayerPacking::Plain })
    }
}

impl Read for FileSection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let read = self.file.read_at(buffer.get_mut(..length).unwrap_or_default(), self.at)?;
        self.at = self.at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(read)
    }
}
