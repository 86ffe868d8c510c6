//! The programs in the sandbox: directories of the host or of the runtime's own root file system,
//! and caches built once for all runs. All are read-only, and the request chooses none of them. A
//! root may be unpacked from a third party's image, so a link in it must never lead to the host:
//! its directories are opened without following links, and of its `/etc` only the loader's files
//! are used.

use std::ffi::OsString;
use std::fs::symlink_metadata;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use model::Layer;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2, readlinkat};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use super::Failed;
use super::device::{self, kvm_tree};
use super::mount::{
    CERTIFICATES, HOST, LOADER_CACHE, attach, copy_of, make_dir, make_file, make_link,
};
use crate::messages::RuntimeMount;
use crate::plan::{RuntimeSpec, SandboxDevice, SandboxNetwork, SandboxSpec};

/// The used directories of a root file system, in which distributions and images keep programs.
const ROOT_DIRS: [&str; 8] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt"];
/// Files by which programs find each other: Debian's alternatives, and the loader's cache.
const ETC_PATHS: [&str; 2] = ["etc/alternatives", "etc/ld.so.cache"];

/// The most attempts to resolve a path while mounts or renames on the host interfere.
const RESOLVED_AGAIN_MAX: u32 = 256;

/// An entry of the sandbox's root.
enum RuntimePart {
    Directory(OwnedFd),
    File(OwnedFd),
    Link(PathBuf),
}

/// Clones the launcher's own mounts for one runtime, for the sandbox's init to attach.
pub(super) fn runtime_mounts(
    plan: &SandboxSpec,
    root_links: &[(String, String)],
) -> Result<(Vec<RuntimeMount>, Vec<OwnedFd>), Failed> {
    let runtime = &plan.runtime;
    let mut parts = Vec::new();
    for mount in &runtime.mounts {
        parts.push((mount.clone(), RuntimePart::Directory(host_copy(mount)?)));
    }
    for cache in &runtime.caches {
        parts.push((cache.target.clone(), RuntimePart::Directory(host_copy(&cache.source)?)));
    }
    match &runtime.root {
        Some(root) => own_root(root, &mut parts)?,
        None => host_root(root_links, &mut parts)?,
    }
    if plan.network == SandboxNetwork::Proxy {
        certificates(&mut parts)?;
    }
    match plan.device {
        SandboxDevice::Nothing => {}
        SandboxDevice::Kvm => parts.push((device::KVM.into(), RuntimePart::File(kvm_tree()?))),
    }
    let mut trees = Vec::new();
    let to_mount = |(place, part)| match part {
        RuntimePart::Directory(tree) => {
            trees.push(tree);
            RuntimeMount::Directory(place)
        }
        RuntimePart::File(tree) => {
            trees.push(tree);
            RuntimeMount::File(place)
        }
        RuntimePart::Link(target) => RuntimeMount::Link { place, target },
    };
    let mounts = parts.into_iter().map(to_mount).collect();
    Ok((mounts, trees))
}

/// Attaches everything at its path; this process's root is the sandbox's.
pub(super) fn attach_runtime(mounts: &[RuntimeMount], trees: &[OwnedFd]) -> Result<(), Failed> {
    let mut trees = trees.iter();
    let missing = || Failed::here("runtime mounts: fewer descriptors than names");
    for mount in mounts {
        match mount {
            RuntimeMount::Directory(place) => {
                make_dir(place)?;
                attach(trees.next().ok_or_else(missing)?, place)?;
            }
            RuntimeMount::File(place) => {
                place.parent().map_or(Ok(()), make_dir)?;
                make_file(place, b"")?;
                attach(trees.next().ok_or_else(missing)?, place)?;
            }
            // On hosts where this is a real directory, it is among the mounts.
            RuntimeMount::Link { place, .. } if symlink_metadata(place).is_ok() => {}
            RuntimeMount::Link { place, target } => make_link(target, place)?,
        }
    }
    Ok(())
}

/// Returns the directories of the finished sandbox in which the tool may read and execute files.
pub(super) fn tool_dirs(runtime: &RuntimeSpec) -> Vec<PathBuf> {
    let caches = runtime.caches.iter().map(|cache| cache.target.clone());
    let mut places: Vec<PathBuf> = runtime.mounts.iter().cloned().chain(caches).collect();
    if runtime.root.is_some() {
        let tops = ROOT_DIRS.iter().map(|name| Path::new("/").join(name));
        // Links are skipped: they lead into one of the others, or outside.
        places.extend(tops.filter(|top| symlink_metadata(top).is_ok_and(|found| found.is_dir())));
    }
    places
}

/// Adds the host's links `/bin`, `/lib64` and similar if they lead into mounted directories, and
/// the loader cache, by which the host's loader finds libraries outside the default directories.
fn host_root(
    root_links: &[(String, String)],
    parts: &mut Vec<(PathBuf, RuntimePart)>,
) -> Result<(), Failed> {
    for (name, target) in root_links {
        parts.push((Path::new("/").join(name), RuntimePart::Link(target.into())));
    }
    let cache = Path::new(LOADER_CACHE);
    if cache.is_file() {
        parts.push((cache.to_owned(), RuntimePart::File(copy_of(cache)?)));
    }
    Ok(())
}

/// Adds the CA certificates for TLS: always the host's, even for a runtime with its own root.
fn certificates(parts: &mut Vec<(PathBuf, RuntimePart)>) -> Result<(), Failed> {
    for path in CERTIFICATES.iter().map(Path::new).filter(|path| path.exists()) {
        let tree = copy_of(path)?;
        let part =
            if path.is_dir() { RuntimePart::Directory(tree) } else { RuntimePart::File(tree) };
        parts.push((path.to_owned(), part));
    }
    Ok(())
}

/// Clones a directory of the host, with the attributes that it has in the launcher's own root.
fn host_copy(path: &Path) -> Result<OwnedFd, Failed> {
    let step = format!("clone {}", path.display());
    let opened = host_directory(path).map_err(Failed::without(Layer::Mounts, &step))?;
    tree_of(&opened, &step)
}

/// Opens a directory of the host, which is mounted below `HOST` in the base root. Links in it
/// resolve as on the host, if the target is there, and never to files that only the launcher has.
fn host_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let host = open(HOST, flags, Mode::empty())?;
    let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let opened = (0..RESOLVED_AGAIN_MAX)
        .map(|_| openat2(&host, path, flags, Mode::empty(), within))
        // openat2(2): a mount or a rename anywhere interfered with a `..` in a link.
        .find(|opened| opened.as_ref().err() != Some(&Errno::AGAIN))
        .unwrap_or(Err(Errno::AGAIN))?;
    // A link can also lead to a parent of an allowed directory, which belongs to the base root.
    if fstat(&opened)?.st_dev == fstat(&host)?.st_dev {
        return Err(Errno::NOENT);
    }
    Ok(opened)
}

fn own_root(root: &Path, parts: &mut Vec<(PathBuf, RuntimePart)>) -> Result<(), Failed> {
    let step = format!("open the root file system {}", root.display());
    let top = host_directory(root).map_err(Failed::at(&step))?;
    for name in ROOT_DIRS.iter().chain(&ETC_PATHS) {
        if let Some(part) = part_of(&top, name)? {
            parts.push((Path::new("/").join(name), part));
        }
    }
    Ok(())
}

/// Opens one entry of a root file system, without following any link.
fn part_of(top: &OwnedFd, name: &str) -> Result<Option<RuntimePart>, Failed> {
    let step = format!("open {name} of the root file system");
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat2(top, name, flags, Mode::empty(), beneath) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno).map_err(Failed::at(&step)),
    };
    let kind = fstat(&opened).map_err(Failed::at(&step))?.st_mode;
    match FileType::from_raw_mode(kind) {
        FileType::Directory => Ok(Some(RuntimePart::Directory(tree_of(&opened, &step)?))),
        FileType::RegularFile => Ok(Some(RuntimePart::File(tree_of(&opened, &step)?))),
        FileType::Symlink => {
            let target = readlinkat(&opened, "", Vec::new()).map_err(Failed::at(&step))?;
            let target = OsString::from_vec(target.into_bytes());
            Ok(Some(RuntimePart::Link(PathBuf::from(target))))
        }
        // The root file system has no such entry.
        _ => Ok(None),
    }
}

fn tree_of(opened: &OwnedFd, step: &str) -> Result<OwnedFd, Failed> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(opened, "", flags).map_err(Failed::without(Layer::Mounts, step))
}
