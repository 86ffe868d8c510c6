//! What lies beside a request and belongs to it: signatures, and the AIS bundle. Read by handle and
//! bounded; what is there and cannot be read is told, never left out.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use policies::{AisFile, SignatureFile};
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::beneath::{Links, open_beneath, read_bounded};
use crate::error::SpoolError;

/// The end of the name of the AIS bundle beside a request, after the request's stem.
pub(crate) const AIS_SUFFIX: &str = ".ais.json";

/// The files beside one request.
pub(crate) struct Companions {
    pub(crate) signatures: Vec<SignatureFile>,
    /// Of each signature that is there and was not read why: it may be the one that rejects.
    pub(crate) unread: Vec<String>,
    pub(crate) ais: AisFile,
    /// The names of the signatures that lay there, whether they were read or not.
    pub(crate) names: Vec<String>,
}

impl Companions {
    /// Looks at what lies beside a request of this name.
    pub(crate) fn of(parent: &Path, file_name: &str) -> Result<Self, SpoolError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(parent).map_err(SpoolError::io(parent, "list"))? {
            names.push(entry.map_err(SpoolError::io(parent, "list"))?.file_name());
        }
        Self::read(names, parent, file_name)
    }

    /// The same where it is known what lies there.
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
        // What is no text is nobody's who submits requests.
        let shown = names.iter().filter_map(|name| name.to_str().map(str::to_owned)).collect();
        let mut found = Self { signatures: Vec::new(), unread: Vec::new(), ais, names: shown };
        add_signatures(&mut found, std::mem::take(&mut names), &directory, parent);
        Ok(found)
    }

    /// Every file that was read, by name.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let signatures = self.signatures.iter().map(|it| (it.name.clone(), it.bytes.clone()));
        let ais = match &self.ais {
            AisFile::Read { name, bytes } => Some((name.clone(), bytes.clone())),
            AisFile::Missing | AisFile::Unread(_) => None,
        };
        signatures.chain(ais).collect()
    }
}

/// The signatures beside a request: every `<file>*.sig`. One that is there and is not read is never
/// left out: it is told as unread, for it may be the one that rejects.
fn add_signatures(
    companions: &mut Companions,
    mut names: Vec<OsString>,
    directory: &OwnedFd,
    parent: &Path,
) {
    names.sort();
    // One too many is enough for the policy to see that there are too many, and what is not looked
    // at is told: one of the others may be gone, or unreadable.
    const READ_MAX: usize = policies::SIGNATURE_FILES_MAX + 1;
    if let Some(beyond) = names.get(READ_MAX) {
        let path = model::escape_line(&parent.join(beyond).display().to_string());
        let (count, max) = (names.len(), policies::SIGNATURE_FILES_MAX);
        let why = format!("{path}: one of {count} signature files; at most {max} are read");
        companions.unread.push(why);
    }
    for name in names.into_iter().take(READ_MAX) {
        let path = parent.join(&name);
        match read_signature(directory, &path, name) {
            Ok(Some(file)) => companions.signatures.push(file),
            Ok(None) => {}
            Err(error) => companions.unread.push(model::escape_line(&error.to_string())),
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
    let read = opened
        .and_then(|file| read_bounded(&file, &path, policies::ais::BUNDLE_BYTES_MAX, Links::One));
    match read {
        Ok((bytes, _)) => AisFile::Read { name, bytes },
        Err(error) => AisFile::Unread(model::escape_line(&error.to_string())),
    }
}

/// The file, or nothing where it went away since it was listed.
fn read_signature(
    directory: &OwnedFd,
    path: &Path,
    name: OsString,
) -> Result<Option<SignatureFile>, SpoolError> {
    // Records and messages hold the name as text.
    let unreadable = || io::Error::new(io::ErrorKind::InvalidFilename, "the name is no plain text");
    let name = name.into_string().ok().filter(|name| model::escape_line(name) == *name);
    let name = name.ok_or_else(|| SpoolError::io(path, "read the name")(unreadable()))?;
    let file = match open_beneath(directory, &name, OFlags::RDONLY) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        opened => opened.map_err(SpoolError::errno(path, "open"))?,
    };
    let (bytes, _) = read_bounded(&file, path, policies::SIGNATURE_BYTES_MAX, Links::One)?;
    Ok(Some(SignatureFile { name, bytes }))
}

/// `<file>*.sig`: what anybody could take for a signature of the file is one, or a rejection might
/// be passed over for its name.
pub(crate) fn is_signature_of(name: &OsStr, file_name: &str) -> bool {
    let rest = name.as_bytes().strip_prefix(file_name.as_bytes());
    rest.is_some_and(|rest| rest.ends_with(b".sig"))
}
