//! Scratch directories that every user can enter, small file systems for disk-full tests, and the
//! removal of what a killed launcher leaves on the host.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::programs::{PROGRAMS, programs};

/// A directory of one test, removed at the end. Every user can read it. `bin/` has the programs.
pub struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Creates the directory and links the programs into it.
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

    /// Creates a subdirectory that every user can read.
    #[must_use]
    pub fn dir(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Writes a file that every user can read.
    #[must_use]
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        path
    }

    /// Copies the examples so that every user can read them.
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

impl Default for ScratchDir {
    fn default() -> Self {
        Self::new()
    }
}

/// Removes a directory with read-only copies of folders, which only root can empty as they are.
fn remove_read_only(place: &Path) -> std::io::Result<()> {
    Command::new("chmod").args(["-R", "u+w"]).arg(place).status()?;
    fs::remove_dir_all(place)
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0).or_else(|_| remove_read_only(&self.0));
        if !std::thread::panicking() {
            removed.unwrap();
        }
    }
}

/// The messages of mount(8) without the right to mount. AppArmor causes the last one.
const NO_MOUNT_RIGHT: [&str; 5] = [
    "must be superuser",
    "only root can",
    "permission denied",
    "Operation not permitted",
    "cannot mount none read-only",
];

/// A small tmpfs, unmounted when dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a tmpfs of `kib` KiB on a directory. Returns `None` if this host does not allow it.
    ///
    /// # Panics
    /// Panics if the mount fails for another reason.
    #[must_use]
    pub fn mount(path: &Path, kib: u32) -> Option<Self> {
        Self::mounted(path, &format!("size={kib}k,mode=755"))
    }

    /// Like [`Self::mount`], with so few inodes that a test can use them up.
    #[must_use]
    pub fn mount_with_inodes(path: &Path, kib: u32, inodes: u32) -> Option<Self> {
        Self::mounted(path, &format!("size={kib}k,nr_inodes={inodes},mode=755"))
    }

    fn mounted(path: &Path, options: &str) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.env("LC_ALL", "C").args(["-t", "tmpfs", "-o", options, "none"]).arg(path);
        let output = mount.output().unwrap();
        if output.status.success() {
            return Some(Self(path.to_owned()));
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let denied = NO_MOUNT_RIGHT.iter().any(|message| stderr.contains(message));
        assert!(denied, "no tmpfs on {}: {stderr}", path.display());
        None
    }

    /// Remounts the file system with `kib` KiB.
    pub fn grow(&self, kib: u32) {
        let size = format!("remount,size={kib}k");
        assert!(Command::new("mount").args(["-o", &size]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A process that was just killed may hold the file system a little longer.
        let begun = Instant::now();
        loop {
            let output = Command::new("umount").arg(&self.0).output().unwrap();
            if output.status.success() {
                return;
            }
            if begun.elapsed() > Duration::from_secs(20) {
                assert!(std::thread::panicking(), "{output:?}");
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Removes a control group that a killed launcher left, so that the host stays clean. Its last
/// processes may still be ending, and another launcher may remove it first.
///
/// # Panics
/// Panics if the group still exists after 20 seconds.
#[track_caller]
pub fn remove_control_group(group: &Path) {
    let begun = Instant::now();
    while let Err(error) = fs::remove_dir(group) {
        if error.kind() == std::io::ErrorKind::NotFound {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{}: {error}", group.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the names in a directory, sorted. A missing directory has none.
#[must_use]
pub fn list(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
