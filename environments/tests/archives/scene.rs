//! A directory for a test: the tree that is unpacked, and files beside it that must stay.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use environments::{
    ImageFacts, UnpackError, UnpackLimits, unpack_docker_archive, unpack_oci_layout,
};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Small limits, which no good image of these tests exceeds.
pub(super) const LIMITS: UnpackLimits = UnpackLimits {
    entries_max: 1000,
    bytes_max: 96 * 1024 * 1024,
    path_bytes_max: 600,
    depth_max: 16,
    ratio_max: 100,
};

/// The directories of a test.
pub(super) struct ArchiveScene {
    pub(super) top: PathBuf,
}

impl Drop for ArchiveScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl ArchiveScene {
    pub(super) fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-archives-{}-{count}", std::process::id());
        let top = std::env::temp_dir().join(name);
        for directory in ["into", "beside/below", "image/blobs/sha256"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        fs::write(top.join("beside/secret"), "secret").unwrap();
        fs::write(top.join("beside/below/more"), "more").unwrap();
        symlink("secret", top.join("beside/link")).unwrap();
        Self { top }
    }

    pub(super) fn unpacked(&self) -> PathBuf {
        self.top.join("into")
    }

    pub(super) fn image(&self) -> PathBuf {
        self.top.join("image")
    }

    /// Unpacks the layout of this scene. Checks that nothing beside the tree changed.
    pub(super) fn unpack(&self, limits: &UnpackLimits) -> Result<ImageFacts, UnpackError> {
        self.watched(|into| unpack_oci_layout(&self.image(), into, limits, &mut |_| {}))
    }

    /// The same for an archive of `docker save`.
    pub(super) fn unpack_saved(&self, archive: &[u8]) -> Result<ImageFacts, UnpackError> {
        let path = self.top.join("image/saved.tar");
        fs::write(&path, archive).unwrap();
        self.watched(|into| unpack_docker_archive(&path, into, &LIMITS, &mut |_| {}))
    }

    fn watched<T>(&self, unpack: impl FnOnce(&Path) -> T) -> T {
        let before = self.outside();
        let result = unpack(&self.unpacked());
        assert_eq!(self.outside(), before, "something outside of the tree changed");
        result
    }

    fn outside(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for directory in ["beside", "image"] {
            list(&self.top.join(directory), directory, true, &mut lines);
        }
        let mut names: Vec<_> =
            fs::read_dir(&self.top).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        lines.push(format!("{names:?}"));
        lines
    }

    /// Lists the unpacked tree, one entry a line.
    pub(super) fn tree(&self) -> Vec<String> {
        let mut lines = Vec::new();
        list(&self.unpacked(), "", false, &mut lines);
        lines
    }
}

/// Lists a directory in the order of its names: kind, name, and content or target. With `all`, the
/// facts that only this host has, too.
fn list(directory: &Path, shown: &str, all: bool, lines: &mut Vec<String>) {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for name in names {
        let path = directory.join(&name);
        let found = path.symlink_metadata().unwrap();
        let shown = if shown.is_empty() { name } else { format!("{shown}/{name}") };
        let host = match all {
            true => format!(
                " mode {:o}, links {}, inode {}, changed {}.{}",
                found.mode(),
                found.nlink(),
                found.ino(),
                found.ctime(),
                found.ctime_nsec()
            ),
            false => String::new(),
        };
        if found.is_dir() {
            lines.push(format!("d {shown}{host}"));
            list(&path, &shown, all, lines);
        } else if found.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            lines.push(format!("l {shown} -> {}{host}", target.display()));
        } else {
            let kind = if found.mode() & 0o111 == 0 { 'f' } else { 'x' };
            let content = fs::read(&path).unwrap();
            lines.push(format!("{kind} {shown} {:?}{host}", String::from_utf8_lossy(&content)));
        }
    }
}
