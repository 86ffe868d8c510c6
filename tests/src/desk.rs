//! Places to work in: a scratch directory that everybody may enter, and a disk that fills up.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::programs::{PROGRAMS, programs};

/// A directory of one test with the programs in `bin/`, readable by every user; gone at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    #[must_use]
    pub fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-tests-{}-{number}", std::process::id());
        let scratch = Self(fs::canonicalize(std::env::temp_dir()).unwrap().join(name));
        fs::create_dir(&scratch.0).unwrap();
        fs::set_permissions(&scratch.0, Permissions::from_mode(0o755)).unwrap();
        let bin = scratch.dir("bin");
        for name in PROGRAMS {
            let (from, to) = (programs().join(name), bin.join(name));
            if fs::hard_link(&from, &to).is_err() {
                fs::copy(&from, &to).unwrap();
            }
        }
        scratch
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A new directory below, open to every reader.
    #[must_use]
    pub fn dir(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A file that everybody may read.
    #[must_use]
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        path
    }

    /// The examples, where every user can read them.
    #[must_use]
    pub fn examples(&self) -> PathBuf {
        let to = self.0.join("examples");
        let from = crate::workspace().join("examples");
        let copied = Command::new("cp").arg("-r").arg(from).arg(&to).status().unwrap();
        assert!(copied.success());
        let opened = Command::new("chmod").args(["-R", "a+rX"]).arg(&to).status().unwrap();
        assert!(opened.success());
        to
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        if !std::thread::panicking() {
            removed.unwrap();
        }
    }
}

/// A small file system of its own.
pub struct Disk(PathBuf);

impl Disk {
    /// Mounts one of so many KiB on a directory; `None` where this host does not let us.
    #[must_use]
    pub fn mount(path: &Path, kib: u32) -> Option<Self> {
        Self::mounted(path, &format!("size={kib}k,mode=755"))
    }

    /// The same with so few inodes that a test can use them up.
    #[must_use]
    pub fn mount_with_inodes(path: &Path, kib: u32, inodes: u32) -> Option<Self> {
        Self::mounted(path, &format!("size={kib}k,nr_inodes={inodes},mode=755"))
    }

    fn mounted(path: &Path, options: &str) -> Option<Self> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(path).output();
        mounted.is_ok_and(|said| said.status.success()).then(|| Self(path.to_owned()))
    }

    /// The same with more room.
    pub fn grow(&self, kib: u32) {
        let size = format!("remount,size={kib}k");
        assert!(Command::new("mount").args(["-o", &size]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status().unwrap();
        assert!(unmounted.success() || std::thread::panicking());
    }
}

/// The names in a directory, sorted; none if it is not there.
#[must_use]
pub fn list(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
