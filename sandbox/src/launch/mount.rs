//! Mounts, paths, and helpers that both views share. Every helper acts on exactly its path.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use model::Layer;
use rustix::fs::CWD;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount};

use super::Failed;

/// The staging root, read-only and without executable files.
pub(super) const STAGING: &str = "/staging";
/// Contains the host's directories that plans may name, each at its own path.
pub(super) const HOST: &str = "/host";
/// The mount point of a sandbox's root.
pub(super) const SANDBOX_ROOT: &str = "/sandbox";
pub(super) const LOADER_CACHE: &str = "/etc/ld.so.cache";
/// The CA certificates and library settings for a sandbox with a network, at the paths of each
/// distribution. Never `/etc/ssl` as a whole: it contains private keys as well.
pub(super) const CERTIFICATES: [&str; 4] =
    ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"];
/// Device nodes of a sandbox, bind-mounted: a user namespace does not permit mknod.
pub(super) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// An existing file that file modes allow but no Landlock rule grants: see `probe`.
pub(super) const PROBE_FILE: &str = "/.canary";
/// The tool's writable directories, each a tmpfs that is full until the limits set its size.
pub(super) const WRITABLE: [&str; 3] = ["out", "tmp", "dev/shm"];

/// Clones a mount of this root, with its attributes.
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

/// Returns the location of an absolute path below another directory.
pub(super) fn below(base: &Path, absolute: &Path) -> PathBuf {
    base.join(absolute.strip_prefix("/").unwrap_or(absolute))
}

pub(super) fn make_dir(path: &Path) -> Result<(), Failed> {
    let made = DirBuilder::new().mode(0o755).recursive(true).create(path);
    made.map_err(Failed::at(&format!("create {}", path.display())))
}

pub(super) fn make_file(path: &Path, content: &[u8]) -> Result<(), Failed> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o444).open(path);
    let written = made.and_then(|mut file| file.write_all(content));
    written.map_err(Failed::at(&format!("create {}", path.display())))
}

/// Makes `base` the root and detaches everything else.
pub(super) fn change_root(base: &Path) -> Result<(), Failed> {
    let layer = Layer::Mounts;
    rustix::process::chdir(base).map_err(Failed::without(layer, "enter the new root"))?;
    rustix::process::pivot_root(".", ".")
        .map_err(Failed::without(layer, "pivot to the new root"))?;
    // The old root is mounted over the new one now; "." is still the new one below it.
    unmount(".", UnmountFlags::DETACH).map_err(Failed::without(layer, "unmount the old root"))?;
    rustix::process::chdir("/").map_err(Failed::without(layer, "enter /"))
}

pub(super) fn make_link(target: impl AsRef<Path>, path: &Path) -> Result<(), Failed> {
    symlink(target, path).map_err(Failed::at(&format!("create {}", path.display())))
}
