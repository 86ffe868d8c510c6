//! The files of an outer archive, with their places in it. Nothing of it is unpacked.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};

use super::section::FileSection;
use crate::error::UnpackError;
use crate::fault::ImageFault;
use crate::unpack::{EntryExtensions, EntryPath, LayerEntryKind, LayerPacking, UnpackMeter};

/// The regular files of an archive on the disk.
pub(super) struct ArchiveIndex {
    files: BTreeMap<String, FileSection>,
}

impl ArchiveIndex {
    /// Reads the headers of an archive. The meter counts its entries.
    pub(super) fn read(path: &Path, meter: &UnpackMeter) -> Result<Self, UnpackError> {
        let object = path.display().to_string();
        let (file, length) = open_archive(path)?;
        let whole = FileSection::new(&file, 0, length);
        if whole.packing(&object)? != LayerPacking::Plain {
            return Err(UnpackError::image(&object, ImageFault::Packed));
        }
        let unreadable = |error| UnpackError::stream(&object, error);
        let mut files = BTreeMap::new();
        let mut extensions = EntryExtensions::default();
        let mut archive = tar::Archive::new(&*file);
        for raw in archive.entries_with_seek().map_err(unreadable)?.raw(true) {
            let mut raw = raw.map_err(unreadable)?;
            meter.count_entry()?;
            let at = raw.raw_file_position();
            let Some(entry) = extensions.join(&object, &mut raw)? else { continue };
            if entry.kind != LayerEntryKind::File {
                continue;
            }
            let name = EntryPath::parse(&entry.name, meter.limits())?;
            if at.checked_add(entry.size).is_none_or(|end| end > length) {
                return Err(UnpackError::damaged(&object, &format!("it ends in {}", name.shown())));
            }
            let section = FileSection::new(&file, at, entry.size);
            if files.insert(name.as_str().to_owned(), section).is_some() {
                return Err(UnpackError::image(name.shown(), ImageFault::TwoFiles));
            }
        }
        Ok(Self { files })
    }

    /// Returns a file of the archive.
    pub(super) fn file(&self, name: &str) -> Result<FileSection, UnpackError> {
        let found = self.files.get(name.trim_start_matches("./")).cloned();
        found.ok_or_else(|| UnpackError::image(model::quote(name), ImageFault::Absent))
    }
}

fn open_archive(path: &Path) -> Result<(Rc<File>, u64), UnpackError> {
    let object = path.display();
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty()).map_err(UnpackError::errno(object, "open"))?;
    let found = fstat(&file).map_err(UnpackError::errno(path.display(), "stat"))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(UnpackError::image(path.display(), ImageFault::NotAFile));
    }
    Ok((Rc::new(File::from(file)), u64::try_from(found.st_size).unwrap_or(0)))
}
