//! Trees that no limit bounds: deep, wide, sealed, and with links out of them.

use std::fs::{self, File, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use rustix::fs::{CWD, mkdirat};

use super::*;

/// A directory with a tree to remove, and a file beside it that must stay.
struct RemovalScene {
    top: PathBuf,
}

impl Drop for RemovalScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl RemovalScene {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("removal-{name}-{}", std::process::id()));
        fs::create_dir_all(top.join("tree")).unwrap();
        fs::create_dir(top.join("kept")).unwrap();
        File::create(top.join("kept/file")).unwrap();
        Self { top }
    }

    fn tree(&self) -> PathBuf {
        self.top.join("tree")
    }

    fn remove(&self) {
        try_remove_tree(&self.tree()).unwrap();
        assert!(fs::symlink_metadata(self.tree()).is_err());
        assert!(self.top.join("kept/file").exists());
    }
}

fn open_directory(at: impl AsFd, name: &str) -> OwnedFd {
    openat(at, name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
}

/// Makes a chain of directories, each with a file before and after the next one.
fn make_chain(top: OwnedFd, levels: usize) {
    let mut at = top;
    for _ in 0..levels {
        mkdirat(&at, "m", Mode::RWXU).unwrap();
        for name in ["a", "z"] {
            openat(&at, name, OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        }
        at = open_directory(&at, "m");
    }
}

/// Its paths are longer than the kernel accepts, and a descriptor for each level exceeds the limit.
#[test]
fn a_tree_of_5_000_levels_is_removed() {
    let scene = RemovalScene::new("deep");
    make_chain(open_directory(CWD, scene.tree().to_str().unwrap()), 5000);
    scene.remove();
}

#[test]
fn deep_directories_side_by_side_are_removed() {
    let scene = RemovalScene::new("forked");
    make_chain(open_directory(CWD, scene.tree().to_str().unwrap()), 40);
    let path = scene.tree().join("m/m/m");
    for name in ["b", "n", "y"] {
        fs::create_dir(path.join(name)).unwrap();
        make_chain(open_directory(CWD, path.join(name).to_str().unwrap()), 80);
    }
    scene.remove();
}

#[test]
fn a_directory_of_50_000_files_is_removed() {
    let scene = RemovalScene::new("wide");
    let directory = open_directory(CWD, scene.tree().to_str().unwrap());
    for number in 0..50_000 {
        let name = number.to_string();
        let flags = OFlags::CREATE | OFlags::WRONLY;
        openat(directory.as_fd(), name.as_str(), flags, Mode::RUSR).unwrap();
    }
    scene.remove();
}

#[test]
fn links_are_removed_and_their_targets_stay() {
    let scene = RemovalScene::new("links");
    symlink("../kept", scene.tree().join("relative")).unwrap();
    symlink(scene.top.join("kept"), scene.tree().join("absolute")).unwrap();
    scene.remove();
    symlink("kept", scene.tree()).unwrap();
    scene.remove();
}

#[test]
fn sealed_directories_and_single_files_are_removed() {
    let scene = RemovalScene::new("sealed");
    let inside = scene.tree().join("a/b");
    fs::create_dir_all(&inside).unwrap();
    File::create(inside.join("file")).unwrap();
    for path in [inside.as_path(), &scene.tree().join("a"), &scene.tree()] {
        fs::set_permissions(path, Permissions::from_mode(0o555)).unwrap();
    }
    scene.remove();
    File::create(scene.tree()).unwrap();
    scene.remove();
    scene.remove();
    remove_tree(&scene.top.join("no/such/tree"));
}

#[test]
fn a_directory_that_was_moved_away_ends_the_removal() {
    let scene = RemovalScene::new("moved");
    let inside = scene.tree().join("inside");
    fs::create_dir(&inside).unwrap();
    let opened = open_directory(CWD, scene.tree().to_str().unwrap());
    let above = EmptiedDirectory::new(c"tree", opened).unwrap();
    let below = File::open(&inside).unwrap();
    assert!(above.reopen(below.as_fd()).is_ok());
    crate::sync::rename_new(&inside, &scene.top.join("kept/inside")).unwrap();
    assert!(above.reopen(below.as_fd()).is_err());
}
