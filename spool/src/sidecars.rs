//! The files next to a request that belong to it: signatures and the AIS bundle. They are read by
//! handle and up to a limit. A file that cannot be read is reported, never left out.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use policies::{AisFile, SignatureFile};
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::beneath::{AllowedLinks, open_beneath, read_bounded};
use crate::error::SpoolError;

/// The suffix of the AIS bundle's name, after the request's stem.
pub(crate) const AIS_SUFFIX: &str = ".ais.json";

/// One file over the limit shows the policy that there are too many. The rest is reported as unread,
/// because one of the files that were read may be missing or unreadable later.
const SIGNATURES_READ_MAX: usize = policies::SIGNATURE_FILES_MAX + 1;
/// The files of a standing approval that are read: all that a listing of the inbox has.
const STANDING_SIGNATURES_MAX: usize = 128;

pub(crate) struct Sidecars {
    pub(crate) signatures: Vec<SignatureFile>,
    /// The reason for each signature that exists and was not read. It may be a rejection.
    pub(crate) unread: Vec<String>,
    pub(crate) ais: AisFile,
    /// The names of all signature files, read or not.
    pub(crate) names: Vec<String>,
}

impl Sidecars {
    /// Reads the files that belong to a request of this name.
    pub(crate) fn of(parent: &Path, file_name: &str) -> Result<Self, SpoolError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(parent).map_err(SpoolError::io(parent, "list"))? {
            names.push(entry.map_err(SpoolError::io(parent, "list"))?.file_name());
        }
        Self::read(names, parent, file_name)
    }

    /// The same for a directory that was already listed.
    pub(crate) fn among(
        names: &BTreeSet<OsString>,
        parent: &Path,
        file_name: &str,
    ) -> Result<Self, SpoolError> {
        Self::read(names.iter().cloned().collect(), parent, file_name)
    }

    fn read(names: Vec<OsString>, parent: &Path, file_name: &str) -> Result<Self, SpoolError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, parent, flags, Mode::empty());
        let directory = opened.map_err(SpoolError::errno(parent, "open"))?;
        let ais = read_ais(&directory, parent, file_name);
        let is_signature = |name: &OsString| is_signature_of(name, file_name);
        let mut names: Vec<OsString> = names.into_iter().filter(is_signature).collect();
        // A name that is not UTF-8 cannot be the file of a submitter.
        let shown = names.iter().filter_map(|name| name.to_str().map(str::to_owned)).collect();
        let mut found = Self { signatures: Vec::new(), unread: Vec::new(), ais, names: shown };
        // One rejection among many files must still be found: it revokes a standing approval.
        let read_max = match file_name.starts_with("SA-") {
            true => STANDING_SIGNATURES_MAX,
            false => SIGNATURES_READ_MAX,
        };
        add_signatures(&mut found, std::mem::take(&mut names), (&directory, parent), read_max);
        Ok(found)
    }

    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let signatures = self.signatures.iter().map(|it| (it.name.clone(), it.bytes.clone()));
        let ais = match &self.ais {
            AisFile::Read { name, bytes } => Some((name.clone(), bytes.clone())),
            AisFile::Missing | AisFile::Unread(_) => None,
        };
        signatures.chain(ais).collect()
    }
}

/// Adds every `<file>*.sig`, an unreadable one as unread, because it may be a rejection.
fn add_signatures(
    sidecars: &mut Sidecars,
    mut names: Vec<OsString>,
    (directory, parent): (&OwnedFd, &Path),
    read_max: usize,
) {
    names.sort();
    if let Some(beyond) = names.get(read_max) {
        let path = model::escape_line(&parent.join(beyond).display().to_string());
        let (count, max) = (names.len(), policies::SIGNATURE_FILES_MAX);
        let why = format!("{path}: one of {count} signature files; at most {max} are read");
        sidecars.unread.push(why);
    }
    for name in names.into_iter().take(read_max) {
        let path = parent.join(&name);
        match read_signature(directory, &path, name) {
            Ok(Some(file)) => sidecars.signatures.push(file),
            Ok(None) => {}
            Err(error) => sidecars.unread.push(model::escape_line(&error.problem())),
        }
    }
}

fn read_ais(directory: &OwnedFd, parent: &Path, file_name: &str) -> AisFile {
    let name = format!("{}{AIS_SUFFIX}", file_name.strip_suffix(".md").unwrap_or(file_name));
    let path = parent.join(&name);
    let opened = match open_beneath(directory, &name, OFlags::RDONLY) {
        Err(rustix::io::Errno::NOENT) => return AisFile::Missing,
        opened => opened.map_err(SpoolError::errno(&path, "open")),
    };
    let read = opened.and_then(|file| {
        read_bounded(&file, &path, policies::ais::BUNDLE_BYTES_MAX, AllowedLinks::One)
    });
    match read {
        Ok((bytes, _)) => AisFile::Read { name, bytes },
        Err(error) => AisFile::Unread(model::escape_line(&error.problem())),
    }
}

/// Reads the file. Returns `None` if it was removed after it was listed.
fn read_signature(
    directory: &OwnedFd,
    path: &Path,
    name: OsString,
) -> Result<Option<SignatureFile>, SpoolError> {
    // Records and messages contain the name as text.
    let unreadable = || io::Error::new(io::ErrorKind::InvalidFilename, "not plain text");
    let name = name.into_string().ok().filter(|name| model::escape_line(name) == *name);
    let name = name.ok_or_else(|| SpoolError::io(path, "read the name")(unreadable()))?;
    let file = match open_beneath(directory, &name, OFlags::RDONLY) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        opened => opened.map_err(SpoolError::errno(path, "open"))?,
    };
    let (bytes, _) = read_bounded(&file, path, policies::SIGNATURE_BYTES_MAX, AllowedLinks::One)?;
    Ok(Some(SignatureFile { name, bytes }))
}

/// Returns whether the name is `<file>*.sig`. Everything that could be taken for a signature
/// counts, so that no rejection is ignored because of its name.
pub(crate) fn is_signature_of(name: &OsStr, file_name: &str) -> bool {
    let rest = name.as_bytes().strip_prefix(file_name.as_bytes());
    rest.is_some_and(|rest| rest.ends_with(b".sig"))
}
