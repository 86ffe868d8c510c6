//! Dropping a request into the spool, in the order that makes it one: inputs, signatures, and the
//! `.md` last, by a rename. Runs as whoever drops it; the daemon trusts nothing of this.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use policies::SignatureFile;

use crate::claim::{Links, read_bounded, signatures_of};
use crate::durable;
use crate::error::SpoolError;

/// A request as somebody has it before it is dropped.
pub struct Submission {
    path: PathBuf,
    file_name: String,
    bytes: Vec<u8>,
    signatures: Vec<SignatureFile>,
    inputs: PathBuf,
}

impl Submission {
    /// Reads the request and the signatures beside it. Inputs are in `inputs`, by default
    /// `<stem>.inputs/` beside it.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(path: &Path, inputs: Option<&Path>) -> Result<Self, SpoolError> {
        let missing = || io::Error::from(io::ErrorKind::InvalidFilename);
        let file_name = path.file_name().and_then(|name| name.to_str());
        let file_name =
            file_name.ok_or_else(|| SpoolError::io(path, "read the name")(missing()))?.to_owned();
        let file = File::open(path).map_err(SpoolError::io(path, "open"))?;
        let most = validator::REQUEST_BYTES_MAX;
        let (bytes, _) = read_bounded(&file.into(), path, most, Links::Any)?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let stem = file_name.strip_suffix(".md").unwrap_or(&file_name);
        let inputs = inputs.map_or_else(|| parent.join(format!("{stem}.inputs")), Path::to_owned);
        let signatures = signatures_of(&parent, &file_name)?;
        Ok(Self { path: path.to_owned(), file_name, bytes, signatures, inputs })
    }

    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where its inputs are read from.
    #[must_use]
    pub fn inputs(&self) -> &Path {
        &self.inputs
    }

    /// Drops it: when this returns the daemon can see it, whole.
    ///
    /// # Errors
    /// The disk, or a request of this name is there already. Nothing of it can be seen then.
    pub fn drop_into(&self, approved: &Path, declared: &[&str]) -> Result<PathBuf, SpoolError> {
        let target = approved.join(&self.file_name);
        if target.exists() {
            let exists = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(SpoolError::io(&target, "drop")(exists));
        }
        let stem = self.file_name.strip_suffix(".md").unwrap_or(&self.file_name);
        if !declared.is_empty() {
            self.drop_inputs(&approved.join(format!("{stem}.inputs")), declared)?;
        }
        for signature in &self.signatures {
            let path = approved.join(&signature.name);
            let written = durable::write_new(&path, &signature.bytes, 0o640);
            written.map_err(SpoolError::io(&path, "write"))?;
        }
        let hidden = approved.join(format!(".{}.new", self.file_name));
        let dropped = durable::write_new(&hidden, &self.bytes, 0o640)
            .and_then(|()| fs::set_permissions(&hidden, Permissions::from_mode(0o640)))
            .and_then(|()| durable::sync_file(&hidden))
            .and_then(|()| durable::rename_new(&hidden, &target))
            .and_then(|()| durable::sync_dir(approved));
        dropped.map_err(SpoolError::io(&target, "drop"))?;
        Ok(target)
    }

    fn drop_inputs(&self, target: &Path, declared: &[&str]) -> Result<(), SpoolError> {
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hidden = target.with_file_name(format!(".{name}.new"));
        let copied = || -> io::Result<()> {
            // The daemon removes what it has taken, so its group must be able to.
            let make = |path: &Path| -> io::Result<()> {
                DirBuilder::new().mode(0o770).recursive(true).create(path)?;
                let mode = fs::metadata(path)?.permissions().mode();
                fs::set_permissions(path, Permissions::from_mode(mode | 0o770))
            };
            make(&hidden)?;
            for name in declared {
                let to = hidden.join(name);
                if let Some(parent) = to.parent().filter(|parent| *parent != hidden) {
                    make(parent)?;
                }
                let mut from = File::open(self.inputs.join(name))?;
                let mut copy =
                    OpenOptions::new().write(true).create_new(true).mode(0o640).open(&to)?;
                io::copy(&mut from, &mut copy)?;
                copy.set_permissions(Permissions::from_mode(0o640))?;
                copy.sync_all()?;
            }
            durable::rename_new(&hidden, target)
        };
        copied().map_err(|error| {
            crate::claim::remove_tree(&hidden);
            SpoolError::io(target, "copy the inputs")(error)
        })
    }

    /// The path it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
