//! Finds the backends of the policy on this host. Each file is hashed, and its digest is kept with
//! the file's inode, size and times. A file that other users can change or replace must never be
//! used.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use policies::{
    BackendFile, BackendForm, BackendLocation, BackendRule, InstalledBackend, InstalledBackends,
    MicrovmRule, Policy,
};
use records::split_reason;

use super::elf::needs_loader;
use super::model::RuntimeSearch;
use super::private_directories::PrivateDirectories;
use crate::accelerators::{AcceleratorEvidence, ProbedMachine};
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

const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
const OTHERS_WRITE: u32 = 0o002;
/// In such a directory, users can replace only their own entries.
const STICKY: u32 = 0o1000;

pub(super) fn find(
    policy: &Policy,
    search: RuntimeSearch<'_>,
    private: &PrivateDirectories,
    digests: &mut DigestCache,
) -> InstalledBackends {
    let mut backends = InstalledBackends::default();
    for rule in policy.backends().filter(|rule| search.backends.has(rule.name())) {
        match installed(rule, private, digests) {
            Ok(installed) => {
                backends.insert(rule.name(), with_accelerator(rule, installed, search.state));
            }
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
            let wrapper = with_program(rule.program(), "toolexec-microvm", private, digests)?;
            with_guest(wrapper, microvm, private, digests)
        }
    }
}

pub(super) fn choose_accelerators(
    policy: &Policy,
    found: &InstalledBackends,
    state: &Path,
) -> InstalledBackends {
    let mut chosen = found.clone();
    for rule in policy.backends() {
        if let Some(installed) = found.get(rule.name()) {
            chosen.insert(rule.name(), with_accelerator(rule, installed.clone(), state));
        }
    }
    chosen
}

/// Adds the accelerator of a virtual machine, which depends on the digests of its files.
fn with_accelerator(
    rule: &BackendRule,
    mut installed: InstalledBackend,
    state: &Path,
) -> InstalledBackend {
    if let BackendForm::Microvm(microvm) = rule.form() {
        let machine = ProbedMachine { rule, microvm, installed: &installed };
        let choice = AcceleratorEvidence::read(state).choose(machine);
        (installed.accelerator, installed.passed_over) = choice;
    }
    installed
}

/// Adds the files of the guest, and the host's programs that make and run it.
fn with_guest(
    mut wrapper: InstalledBackend,
    microvm: &MicrovmRule,
    private: &PrivateDirectories,
    digests: &mut DigestCache,
) -> Result<InstalledBackend, String> {
    let directory = real_path(&microvm.files)?;
    private.check(&directory)?;
    refuse_changeable_directory(&directory)?;
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
    let path = real_path(&path)?;
    refuse_changeable_file(&path)?;
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
    let found = file(PROGRAM.to_owned(), program.clone(), digests)?;
    let needs_loader = needs_loader(&program)
        .ok_or_else(|| format!("{}: not a program of this machine", program.display()))?;
    Ok(InstalledBackend {
        program: Path::new(BACKEND_DIR).join(file_name),
        directories: BTreeMap::from([(PathBuf::from(BACKEND_DIR), directory.to_owned())]),
        mounts: needs_loader.then(|| PathBuf::from(LOADER_DIR)).into_iter().collect(),
        files: vec![found],
        accelerator: None,
        passed_over: None,
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
    real_path(&path)
}

fn real_path(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("{shown}: no such file"),
        _ => format!("{shown}: {error}"),
    }
}

/// Refuses a file that other users can change or replace. `path` has no links.
fn refuse_changeable_file(path: &Path) -> Result<(), String> {
    refuse_changeable(path, is_writable_by_others)?;
    path.parent().map_or(Ok(()), refuse_changeable_directory)
}

/// Refuses a directory in which other users can replace a file, or that they can replace. `path`
/// has no links.
fn refuse_changeable_directory(path: &Path) -> Result<(), String> {
    refuse_changeable(path, is_writable_by_others)?;
    path.ancestors().skip(1).try_for_each(|above| refuse_changeable(above, lets_others_replace))
}

fn refuse_changeable(path: &Path, is_changeable: fn(u32) -> bool) -> Result<(), String> {
    let found = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    let ours = rustix::process::geteuid().as_raw();
    let is_foreign = found.uid() != 0 && found.uid() != ours;
    if is_foreign || is_changeable(found.mode()) {
        return Err(format!("other users can change {}", path.display()));
    }
    Ok(())
}

fn is_writable_by_others(mode: u32) -> bool {
    mode & GROUP_OR_OTHERS_WRITE != 0
}

/// Returns whether any user can replace the directories in a directory.
fn lets_others_replace(mode: u32) -> bool {
    mode & OTHERS_WRITE != 0 && mode & STICKY == 0
}
