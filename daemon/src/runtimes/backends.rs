//! Finds the backends of the policy on this host. Each file is hashed, and its digest is kept with
//! the file's inode, size and times. A file that other users can change must never be used.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use policies::{
    BackendFile, BackendForm, BackendLocation, BackendRule, InstalledBackend, InstalledBackends,
    MicrovmRule, Policy, VmAccelerator,
};
use records::split_reason;

use super::elf::needs_loader;
use super::private_directories::PrivateDirectories;
use crate::environment_digests::DigestCache;
use crate::programs::find_program;

/// The directory of a backend's program in the sandbox.
const BACKEND_DIR: &str = "/cache/backend";
/// The directory of a guest's files in the sandbox.
const FILES_DIR: &str = "/cache/microvm";
/// The programs of the host that make and run a guest, by their roles. The wrapper starts these.
const MACHINE_PROGRAMS: [(&str, &str); 2] =
    [("qemu", "/usr/bin/qemu-system-x86_64"), ("mkfs", "/usr/bin/mkfs.erofs")];
/// The directory with the loader and the C library of the host.
const LOADER_DIR: &str = "/usr";
const PROGRAM: &str = "program";

const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

pub(super) fn find(
    policy: &Policy,
    private: &PrivateDirectories,
    digests: &mut DigestCache,
) -> InstalledBackends {
    let mut backends = InstalledBackends::default();
    for rule in policy.backends() {
        match installed(rule, private, digests) {
            Ok(installed) => backends.insert(rule.name(), installed),
            Err(why) => backends.insert_unavailable(rule.name(), why),
        }
    }
    backends
}

fn installed(
    rule: &BackendRule,
    private: &PrivateDirectories,
    digests: &mut DigestCache,
) -> Result<InstalledBackend, String> {
    match rule.form() {
        BackendForm::Interpreter(_) => {
            with_program(rule.program(), "toolexec-monty", private, digests)
        }
        BackendForm::Microvm(microvm) => {
            let accelerator = accelerator(microvm)?;
            let wrapper = with_program(rule.program(), "toolexec-microvm", private, digests)?;
            let wrapper = InstalledBackend { accelerator: Some(accelerator), ..wrapper };
            with_guest(wrapper, microvm, private, digests)
        }
    }
}

/// Returns the first accelerator of the policy that a sandbox can use. No sandbox of this version
/// sees `/dev/kvm`.
fn accelerator(microvm: &MicrovmRule) -> Result<VmAccelerator, String> {
    let usable = |accelerator: &&VmAccelerator| **accelerator == VmAccelerator::Tcg;
    microvm.accelerators.iter().find(usable).copied().ok_or_else(|| {
        "its accel is [kvm], and this version shows /dev/kvm to no sandbox".to_owned()
    })
}

/// Adds the files of the guest, and the host's programs that make and run it.
fn with_guest(
    mut wrapper: InstalledBackend,
    microvm: &MicrovmRule,
    private: &PrivateDirectories,
    digests: &mut DigestCache,
) -> Result<InstalledBackend, String> {
    let directory = fs::canonicalize(&microvm.files)
        .map_err(|error| format!("{}: {error}", microvm.files.display()))?;
    private.check(&directory)?;
    refuse_writable_by_others(&directory)?;
    let roots = microvm.roots.iter().map(|root| format!("root-{}", root.name));
    let names = ["kernel".to_owned(), "initrd".to_owned()].into_iter().chain(roots);
    let of_guest = names.map(|name| (directory.join(&name), name));
    let of_host = MACHINE_PROGRAMS.map(|(role, path)| (PathBuf::from(path), role.to_owned()));
    for (path, role) in of_host.into_iter().chain(of_guest) {
        wrapper.files.push(file(role, path, digests)?);
    }
    wrapper.directories.insert(PathBuf::from(FILES_DIR), directory);
    wrapper.mounts = vec![PathBuf::from(LOADER_DIR)];
    Ok(wrapper)
}

fn file(role: String, path: PathBuf, digests: &mut DigestCache) -> Result<BackendFile, String> {
    let missing = |_| format!("{}: no such file", path.display());
    let path = fs::canonicalize(&path).map_err(missing)?;
    refuse_writable_by_others(&path)?;
    let sha256 = digests
        .of_file(&path)
        .map_err(|error| split_reason(&error.to_string()).0.to_owned())?
        .ok_or_else(|| format!("{}: no such file", path.display()))?;
    Ok(BackendFile { role, path, sha256 })
}

/// Returns the installation of a backend's own program.
fn with_program(
    location: &BackendLocation,
    name: &str,
    private: &PrivateDirectories,
    digests: &mut DigestCache,
) -> Result<InstalledBackend, String> {
    let program = program_of(location, name)?;
    let (Some(directory), Some(file_name)) = (program.parent(), program.file_name()) else {
        return Err(format!("{}: not a program", program.display()));
    };
    private.check(directory)?;
    refuse_writable_by_others(directory)?;
    let needs_loader = needs_loader(&program)
        .ok_or_else(|| format!("{}: not a program of this machine", program.display()))?;
    let found = file(PROGRAM.to_owned(), program.clone(), digests)?;
    Ok(InstalledBackend {
        program: Path::new(BACKEND_DIR).join(file_name),
        directories: BTreeMap::from([(PathBuf::from(BACKEND_DIR), directory.to_owned())]),
        mounts: needs_loader.then(|| PathBuf::from(LOADER_DIR)).into_iter().collect(),
        files: vec![found],
        accelerator: None,
    })
}

/// Returns the real path of the program.
fn program_of(location: &BackendLocation, name: &str) -> Result<PathBuf, String> {
    let path = match location {
        BackendLocation::Auto => {
            find_program(name).map_err(|why| split_reason(&why).0.to_owned())?
        }
        BackendLocation::Path(path) => path.clone(),
    };
    fs::canonicalize(&path).map_err(|error| format!("{}: {error}", path.display()))
}

fn refuse_writable_by_others(path: &Path) -> Result<(), String> {
    let found = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let ours = rustix::process::geteuid().as_raw();
    let is_foreign = found.uid() != 0 && found.uid() != ours;
    if is_foreign || is_writable_by_others(&found) {
        return Err(format!("other users can change {}", path.display()));
    }
    Ok(())
}

fn is_writable_by_others(found: &Metadata) -> bool {
    found.mode() & OTHERS_WRITE != 0 && !(found.is_dir() && found.mode() & STICKY != 0)
}
