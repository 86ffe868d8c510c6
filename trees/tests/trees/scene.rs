//! A directory of its own for a test, and the trees that tests make in it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare fails"
)]

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use model::Sha256;
use trees::{
    LinkRule, TreeError, TreeLimits, TreeSummary, copy_tree, digest_as_copy, digest_tree,
    stamp_tree,
};

pub(crate) const LIMITS: TreeLimits =
    TreeLimits { entries_max: 100_000, bytes_max: 1 << 30, depth_max: 64 };

/// Makes the names of directories unique within the process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A directory that is removed with the test.
pub(crate) struct TreeScene {
    pub(crate) top: PathBuf,
}

impl Drop for TreeScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl TreeScene {
    pub(crate) fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let top =
            std::env::temp_dir().join(format!("toolexec-trees-{}-{count}", std::process::id()));
        fs::create_dir(&top).unwrap();
        Self { top }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    pub(crate) fn file(&self, path: &str, bytes: &[u8], mode: u32) {
        fs::write(self.path(path), bytes).unwrap();
        self.chmod(path, mode);
    }

    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn directory(&self, path: &str) {
        fs::create_dir(self.path(path)).unwrap();
    }

    /// Digests the directory, whose links must stay inside.
    pub(crate) fn digest(&self) -> Result<TreeSummary, TreeError> {
        digest(&self.top, LinkRule::Inside, &LIMITS)
    }

    pub(crate) fn sha256(&self) -> Sha256 {
        self.digest().unwrap().sha256
    }

    pub(crate) fn stamp(&self) -> Sha256 {
        stamp(&self.top, &LIMITS).unwrap()
    }
}

/// Digests a directory, and compares both walks, which must refuse the same trees.
pub(crate) fn digest(
    top: &Path,
    rule: LinkRule,
    limits: &TreeLimits,
) -> Result<TreeSummary, TreeError> {
    let top = File::open(top).unwrap();
    let found = digest_tree(top.as_fd(), rule, limits, &mut |_| {});
    let mut reported: u64 = 0;
    let as_copy = digest_as_copy(top.as_fd(), rule, limits, &mut |more| reported += more);
    assert_eq!(as_copy.as_ref().ok(), found.as_ref().ok(), "{as_copy:?}");
    if let Ok(found) = &found {
        assert_eq!(reported, found.bytes);
    }
    found
}

pub(crate) fn stamp(top: &Path, limits: &TreeLimits) -> Result<Sha256, TreeError> {
    stamp_tree(File::open(top).unwrap().as_fd(), limits)
}

/// Copies a directory into another, and compares the reported bytes with the total.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    rule: LinkRule,
    limits: &TreeLimits,
) -> Result<TreeSummary, TreeError> {
    let (from, to) = (File::open(from).unwrap(), File::open(to).unwrap());
    let mut reported: u64 = 0;
    let copied = copy_tree(from.as_fd(), to.as_fd(), rule, limits, &mut |more| reported += more)?;
    assert_eq!(reported, copied.bytes);
    Ok(copied)
}

/// Calls `read` while a file grows.
pub(crate) fn while_it_grows<T>(file: &Path, read: impl FnOnce() -> T) -> T {
    File::create(file).unwrap().set_len(64 << 20).unwrap();
    let mut file = File::options().append(true).open(file).unwrap();
    let (stopped, (begun, is_begun)) = (AtomicBool::new(false), mpsc::channel());
    thread::scope(|scope| {
        let stopped = &stopped;
        scope.spawn(move || {
            begun.send(()).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                file.write_all(b"x").unwrap();
            }
        });
        is_begun.recv().unwrap();
        let found = read();
        stopped.store(true, Ordering::Relaxed);
        found
    })
}
