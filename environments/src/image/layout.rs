//! An OCI image layout: a directory of blobs that are named by their digests. Files are opened by
//! handle beneath it, without links.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::Sha256;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;

use super::digests::{check_digest, digest_file, parse_digest};
use super::documents::{BlobDescriptor, LayoutMarker, parse};
use super::section::FileSection;
use crate::error::UnpackError;
use crate::fault::ImageFault;

const MARKER: &str = "oci-layout";
const LAYOUT_VERSION: &str = "1.0.0";

/// An open layout.
pub(super) struct ImageLayout {
    directory: OwnedFd,
    path: PathBuf,
}

impl ImageLayout {
    /// Opens a directory that has an `oci-layout` file of the known version.
    pub(super) fn open(path: &Path) -> Result<Self, UnpackError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(path, flags, Mode::empty());
        let directory = opened.map_err(UnpackError::errno(path.display(), "open"))?;
        let layout = Self { directory, path: path.to_owned() };
        let no_layout = || UnpackError::image(path.display(), ImageFault::Layout);
        let marker = layout.document(MARKER).map_err(|error| match error {
            UnpackError::Image { fault: ImageFault::Absent, .. } => no_layout(),
            other => other,
        })?;
        let marker: LayoutMarker = parse(MARKER, &marker)?;
        match marker.image_layout_version == LAYOUT_VERSION {
            true => Ok(layout),
            false => Err(no_layout()),
        }
    }

    /// Reads a document of the layout itself, which has no digest.
    pub(super) fn document(&self, name: &str) -> Result<Vec<u8>, UnpackError> {
        let (file, bytes) = self.open_file(name)?;
        FileSection::new(&Rc::new(file), 0, bytes).document(&self.shown(name))
    }

    /// Reads a document that has a digest.
    pub(super) fn blob_document(&self, blob: &BlobDescriptor) -> Result<Vec<u8>, UnpackError> {
        let (sha256, file, bytes) = self.open_blob(blob)?;
        let document = FileSection::new(&Rc::new(file), 0, bytes).document(&blob.digest)?;
        check_digest(&blob.digest, sha256, Sha256::of(&document))?;
        Ok(document)
    }

    /// Opens a layer whose packed bytes have the declared digest.
    pub(super) fn layer(&self, blob: &BlobDescriptor) -> Result<FileSection, UnpackError> {
        let (sha256, file, bytes) = self.open_blob(blob)?;
        let found = digest_file(&file).map_err(UnpackError::io(&blob.digest, "read"))?;
        check_digest(&blob.digest, sha256, found)?;
        Ok(FileSection::new(&Rc::new(file), 0, bytes))
    }

    /// Opens a blob of the declared size. Its bytes are not compared with its digest yet.
    fn open_blob(&self, blob: &BlobDescriptor) -> Result<(Sha256, File, u64), UnpackError> {
        let sha256 = parse_digest("the image", &blob.digest)?;
        let (file, bytes) = self.open_file(&format!("blobs/sha256/{sha256}"))?;
        match bytes == blob.size {
            true => Ok((sha256, file, bytes)),
            false => Err(UnpackError::image(&blob.digest, ImageFault::Size)),
        }
    }

    fn open_file(&self, name: &str) -> Result<(File, u64), UnpackError> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let within =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let object = self.shown(name);
        let opened = openat2(&self.directory, name, flags, Mode::empty(), within);
        let file = opened.map_err(|errno| match errno {
            Errno::NOENT => UnpackError::image(&object, ImageFault::Absent),
            Errno::LOOP | Errno::NXIO => UnpackError::image(&object, ImageFault::NotAFile),
            errno => UnpackError::errno(&object, "open")(errno),
        })?;
        let found = fstat(&file).map_err(UnpackError::errno(&object, "stat"))?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {}
            _ => return Err(UnpackError::image(&object, ImageFault::NotAFile)),
        }
        Ok((File::from(file), u64::try_from(found.st_size).unwrap_or(0)))
    }

    fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}
