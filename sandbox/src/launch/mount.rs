//! Mounts, the places of files inside and outside of a sandbox, and the small steps that both views share.
//! A step here acts on exactly the path that it is given.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use model::Layer;
use rustix::fs::CWD;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount};

use super::Failed;

/// The staging root, read-only and with nothing executable.
pub(super) const STAGING: &str = "/staging";
/// Below it the host's directories that orders may name, each at its own path.
pub(super) const HOST: &str = "/host";
/// The place where a sandbox's root is mounted.
pub(super) const CELL: &str = "/cell";
pub(super) const LOADER_CACHE: &str = "/etc/ld.so.cache";
/// The certificates that a sandbox with a network knows servers by, and the library's own settings, in each
/// place where a distribution keeps them. Never `/etc/ssl` as a whole: it has keys beside them.
pub(super) const CERTIFICATES: [&str; 4] =
    ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"];
/// The device nodes of a sandbox, bound from the host: mknod is not allowed in a user namespace.
pub(super) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// A file that exists, that file modes allow, and that no Landlock rule grants: see `probe`.
pub(super) const CANARY: &str = "/.canary";
/// The tool's own places, each a tmpfs: its sizes come with the order, and until then nothing fits.
pub(super) const WRITABLE: [&str; 3] = ["out", "tmp", "dev/shm"];

/// A mount of this root once more, with the attributes that it has here.
pub(super) fn copy_of(path: &Path) -> Result<OwnedFd, Failed> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags)
        .map_err(Failed::without(Layer::Mounts, &format!("clone {}", path.display())))
}

pub(super) fn attach(tree: &OwnedFd, target: &Path) -> Result<(), Failed> {
    move_mount(tree, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(Failed::without(Layer::Mounts, &format!("attach {}", target.display())))
}

/// An absolute path at its place below another directory.
pub(super) fn below(base: &Path, absolute: &Path) -> PathBuf {
    base.join(absolute.strip_prefix("/").unwrap_or(absolute))
}

pub(super) fn make_dir(path: &Path) -> Result<(), Failed> {
    let made = DirBuilder::new().mode(0o755).recursive(true).create(path);
    made.map_err(Failed::at(&format!("make {}", path.display())))
}

pub(super) fn make_file(path: &Path, content: &[u8]) -> Result<(), Failed> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o444).open(path);
    let written = made.and_then(|mut file| file.write_all(content));
    written.map_err(Failed::at(&format!("make {}", path.display())))
}

/// Makes `base` the root and lets everything else go.
pub(super) fn change_root(base: &Path) -> Result<(), Failed> {
    let layer = Layer::Mounts;
    rustix::process::chdir(base).map_err(Failed::without(layer, "enter the root"))?;
    rustix::process::pivot_root(".", ".").map_err(Failed::without(layer, "pivot_root"))?;
    // The old root is on top of the new one now; "." is still the new one below it.
    unmount(".", UnmountFlags::DETACH).map_err(Failed::without(layer, "let the old root go"))?;
    rustix::process::chdir("/").map_err(Failed::without(layer, "enter /"))
}

pub(super) fn make_link(target: impl AsRef<Path>, path: &Path) -> Result<(), Failed> {
    symlink(target, path).map_err(Failed::at(&format!("make {}", path.display())))
}
