//! A configuration file of an agent, by handle. Below its base directory no link is followed, and a
//! file or folder of another user is refused: it could change after it was shown.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat};
use rustix::io::Errno;

use super::model::SetupError;
use crate::args::files::named_directory;
use crate::failure::Failure;
use crate::random::random_word;

/// Limit of a file.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
const BACKUP_SUFFIX: &str = ".toolexec-backup";
const NEW_FILE: Mode = Mode::from_bits_truncate(0o644);
const NEW_FOLDER: Mode = Mode::from_bits_truncate(0o755);
const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The content of a file.
#[derive(PartialEq, Eq)]
struct ConfigContent {
    text: String,
    mode: Mode,
}

/// A configuration file, which may not exist yet.
pub(super) struct ConfigFile {
    path: PathBuf,
    base: OwnedFd,
    /// The folders from the base directory to the file.
    folders: Vec<&'static str>,
    name: &'static str,
    content: Option<ConfigContent>,
    /// The content of the backup, if there is one.
    backup: Option<ConfigContent>,
}

impl ConfigFile {
    /// Reads the file at a path below a directory. The caller named the directory.
    pub(super) fn open(
        option: &str,
        directory: &Path,
        below: &'static str,
    ) -> Result<Self, SetupError> {
        let directory = named_directory(option, directory)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let base = rustix::fs::open(&directory, flags, Mode::empty())
            .map_err(|errno| Failure::io(&directory)(errno.into()))?;
        let mut folders: Vec<&'static str> = below.split('/').collect();
        let name = folders.pop().unwrap_or_default();
        let path = directory.join(below);
        let mut file = Self { path, base, folders, name, content: None, backup: None };
        if let Some(folder) = file.folder()? {
            file.content = file.read(&folder, name)?;
            file.backup = file.read(&folder, &file.backup_name())?;
        }
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.content.as_ref().map(|it| it.text.as_str())
    }

    /// Returns the content from before the first change, if it was kept.
    pub(super) fn original(&self) -> Option<&str> {
        self.backup.as_ref().map(|it| it.text.as_str())
    }

    pub(super) fn backup_path(&self) -> PathBuf {
        self.path.with_file_name(self.backup_name())
    }

    fn backup_name(&self) -> String {
        format!("{}{BACKUP_SUFFIX}", self.name)
    }

    /// Opens the folder of the file. Returns `None` if it does not exist.
    fn folder(&self) -> Result<Option<OwnedFd>, SetupError> {
        let mut folder = self.base.try_clone().map_err(Failure::io(&self.path))?;
        for name in &self.folders {
            folder = match openat(&folder, *name, FOLDER_FLAGS, Mode::empty()) {
                Ok(below) => below,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(self.unopened(name, errno)),
            };
            self.check_owner(name, &folder)?;
        }
        Ok(Some(folder))
    }

    /// Opens the folder of the file, and creates it if it does not exist.
    fn create_folder(&self) -> Result<OwnedFd, SetupError> {
        let mut folder = self.base.try_clone().map_err(Failure::io(&self.path))?;
        for name in &self.folders {
            match mkdirat(&folder, *name, NEW_FOLDER) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
            folder = openat(&folder, *name, FOLDER_FLAGS, Mode::empty())
                .map_err(|errno| self.unopened(name, errno))?;
            self.check_owner(name, &folder)?;
        }
        Ok(folder)
    }

    fn failed(&self, errno: Errno) -> SetupError {
        Failure::io(&self.path)(errno.into()).into()
    }

    fn refused(&self, name: &str, why: &str) -> SetupError {
        SetupError::refused(format!("{}: `{name}` {why}", self.path.display()))
    }

    fn unopened(&self, name: &str, errno: Errno) -> SetupError {
        let why = match errno {
            Errno::LOOP => "is a symbolic link",
            Errno::NOTDIR => "is a symbolic link or not a folder",
            errno => return self.failed(errno),
        };
        let help = "name the real folder, or add the lines by hand";
        self.refused(name, &format!("{why}; help: {help}"))
    }

    fn check_owner(&self, name: &str, file: impl AsFd) -> Result<(), SetupError> {
        let owner = fstat(file).map_err(|errno| self.failed(errno))?.st_uid;
        match owner == rustix::process::geteuid().as_raw() {
            true => Ok(()),
            false => Err(self.refused(
                name,
                &format!("belongs to user {owner}; help: run this command as its owner"),
            )),
        }
    }

    /// Reads a file of the folder. Returns `None` if it does not exist.
    fn read(&self, folder: &OwnedFd, name: &str) -> Result<Option<ConfigContent>, SetupError> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.unopened(name, errno)),
        };
        let stat = fstat(&file).map_err(|errno| self.failed(errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(self.refused(name, "is not a regular file; help: remove it"));
        }
        self.check_owner(name, &file)?;
        let mut bytes = Vec::new();
        file.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(Failure::io(&self.path))?;
        if bytes.len() > usize::try_from(CONFIG_BYTES_MAX).unwrap_or(usize::MAX) {
            let why = format!("is larger than {CONFIG_BYTES_MAX} bytes");
            return Err(self.refused(name, &format!("{why}; help: add the lines by hand")));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| self.refused(name, "is not UTF-8 text; help: add the lines by hand"))?;
        Ok(Some(ConfigContent { text, mode: Mode::from_raw_mode(stat.st_mode) }))
    }

    /// Replaces the content atomically, or creates the file. With `keep`, the content from before
    /// is kept as the backup unless there is one.
    pub(super) fn write(&self, text: &str, keep: bool) -> Result<(), SetupError> {
        let folder = self.create_folder()?;
        let mode = self.content.as_ref().map_or(NEW_FILE, |it| it.mode);
        if let (true, Some(content), None) = (keep, &self.content, &self.backup) {
            self.create(&folder, &self.backup_name(), &content.text, mode)?;
        }
        // Random, so that no file of that name can exist by intention.
        let part = format!(".toolexec-{}", random_word()?);
        let written = self
            .create(&folder, &part, text, mode)
            .and_then(|()| self.check_unchanged(&folder))
            .and_then(|()| {
                let renamed = rustix::fs::renameat(&folder, part.as_str(), &folder, self.name);
                renamed.map_err(|errno| self.failed(errno))
            });
        if written.is_err() {
            rustix::fs::unlinkat(&folder, part.as_str(), AtFlags::empty()).unwrap_or_default();
        }
        written.and_then(|()| self.sync(&folder))
    }

    /// Removes the file.
    pub(super) fn remove(&self) -> Result<(), SetupError> {
        let Some(folder) = self.folder()? else { return Ok(()) };
        self.check_unchanged(&folder)?;
        self.unlink(&folder, self.name)
    }

    /// Removes the backup, whose content the file has again.
    pub(super) fn remove_backup(&self) -> Result<(), SetupError> {
        match self.folder()? {
            Some(folder) => self.unlink(&folder, &self.backup_name()),
            None => Ok(()),
        }
    }

    fn unlink(&self, folder: &OwnedFd, name: &str) -> Result<(), SetupError> {
        match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => self.sync(folder),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    fn sync(&self, folder: &OwnedFd) -> Result<(), SetupError> {
        rustix::fs::fsync(folder).map_err(|errno| self.failed(errno))
    }

    /// Creates a durable file. One of that name must not exist.
    fn create(
        &self,
        folder: &OwnedFd,
        name: &str,
        text: &str,
        mode: Mode,
    ) -> Result<(), SetupError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(folder, name, flags, mode).map_err(|errno| self.failed(errno))?;
        let mut file = File::from(file);
        let written = file.write_all(text.as_bytes()).and_then(|()| {
            // The umask must not change the mode of an existing file.
            if self.content.is_some() {
                fchmod(&file, mode)?;
            }
            file.sync_all()
        });
        written.map_err(Failure::io(&self.path)).map_err(SetupError::from)
    }

    /// Refuses if another program, such as the agent, has changed the file since it was read.
    fn check_unchanged(&self, folder: &OwnedFd) -> Result<(), SetupError> {
        match self.read(folder, self.name)? == self.content {
            true => Ok(()),
            false => Err(self.refused(self.name, "has changed meanwhile; help: run this again")),
        }
    }
}
