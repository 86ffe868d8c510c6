//! The backends of a policy, and their files on a host. Plain paths and digests prove nothing; only
//! a decision grants a backend.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{Language, Sha256};

use crate::runtime::RuntimeRule;

/// The backend that is the sandbox alone.
pub(crate) const CONFINED: &str = "confined";

/// The name below `/in` of the file with the code of a request.
pub const CODE_FILE: &str = "code.py";
/// The name below `/in` of the file with the values of the code's variables.
pub const INPUTS_FILE: &str = "inputs.json";
/// The name below `/out` of the file with the value of the code.
pub const RESULT_FILE: &str = "result.json";
/// The name below `/out` of the report about a run in a virtual machine.
pub const MACHINE_REPORT_FILE: &str = "microvm.json";

model::closed_set! {
    /// The kind of a backend: what runs the tool inside the sandbox.
    pub enum BackendKind {
        /// A program of the host.
        Sandbox = "sandbox",
        /// An interpreter without access to the host's programs.
        Interpreter = "interpreter",
        /// A virtual machine.
        Microvm = "microvm",
    }
}

model::closed_set! {
    /// The accelerator of a virtual machine.
    pub enum VmAccelerator {
        /// The processor's own virtualisation, by the kernel.
        Kvm = "kvm",
        /// QEMU's translation of instructions.
        Tcg = "tcg",
    }
}

/// The source of a backend's program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BackendLocation {
    /// Beside the daemon's own program, then in `/usr/libexec/toolexec/`.
    Auto,
    /// This file. Links are followed.
    Path(PathBuf),
}

/// The parts of a backend that depend on its kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BackendForm {
    /// An interpreter, with the runtime that its runs have.
    Interpreter(Box<RuntimeRule>),
    /// A virtual machine.
    Microvm(MicrovmRule),
}

/// The virtual machine of a backend. The fields are public because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicrovmRule {
    /// The directory of the kernel, the initial RAM disk and the root images.
    pub files: PathBuf,
    /// The permitted accelerators, the preferred one first; never empty.
    pub accelerators: Vec<VmAccelerator>,
    /// The seconds within which the guest must have started.
    pub boot_sec: u64,
    /// The root images; never empty. No two offer the same word.
    pub roots: Vec<MicrovmRoot>,
}

impl MicrovmRule {
    /// Returns the root that the first word of a command chooses, and its program for the word.
    pub(crate) fn root_of(&self, word: &str) -> Option<(&MicrovmRoot, &str)> {
        self.roots.iter().find_map(|root| Some((root, root.programs.get(word)?.as_str())))
    }
}

/// A root image of a virtual machine, with the programs that it offers. The fields are public
/// because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicrovmRoot {
    /// Its name: `python` is the file `root-python`.
    pub name: String,
    /// The language of requests that may use it; any if `None`.
    pub language: Option<Language>,
    /// The paths of programs in the image, by the first word of a command.
    pub programs: BTreeMap<String, String>,
    /// The runtime that its runs have in the sandbox.
    pub runtime: RuntimeRule,
}

/// One backend that a policy offers besides `confined`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackendRule {
    pub(super) name: String,
    pub(super) program: BackendLocation,
    pub(super) form: BackendForm,
    pub(super) memory_extra_mb: u64,
    pub(super) pinned: BTreeMap<String, Sha256>,
}

impl BackendRule {
    /// Returns the name that requests write.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> BackendKind {
        match self.form {
            BackendForm::Interpreter(_) => BackendKind::Interpreter,
            BackendForm::Microvm(_) => BackendKind::Microvm,
        }
    }

    /// Returns the source of its program.
    #[must_use]
    pub fn program(&self) -> &BackendLocation {
        &self.program
    }

    /// Returns the parts that depend on the kind.
    #[must_use]
    pub fn form(&self) -> &BackendForm {
        &self.form
    }

    /// Returns the MiB of a request's memory that the backend itself uses.
    #[must_use]
    pub fn memory_extra_mb(&self) -> u64 {
        self.memory_extra_mb
    }

    /// Returns the reason why the files are not those that the policy pins, if there is one.
    #[must_use]
    pub fn pinned_fault(&self, installed: &InstalledBackend) -> Option<String> {
        self.pinned.iter().find_map(|(role, pinned)| {
            let found = installed.files.iter().find(|file| file.role == *role);
            match found {
                Some(file) if file.sha256 == *pinned => None,
                Some(file) => {
                    let path = file.path.display();
                    Some(format!("{path} has another digest than the policy pins for `{role}`"))
                }
                None => Some(format!("this host has no file `{role}`, which the policy pins")),
            }
        })
    }
}

/// A file of a backend. The fields are public because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackendFile {
    /// Its use, such as `program`.
    pub role: String,
    /// Its path on the host.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub sha256: Sha256,
}

/// A backend as installed on this host. The fields are public because plain paths prove nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledBackend {
    /// The program, as a path in the sandbox.
    pub program: PathBuf,
    /// The directory of the program, as host path by sandbox path.
    pub directories: BTreeMap<PathBuf, PathBuf>,
    /// The host directories that the program needs at their own paths.
    pub mounts: Vec<PathBuf>,
    /// Its files.
    pub files: Vec<BackendFile>,
    /// The accelerator that a virtual machine uses here. `None` for another kind, and if no
    /// accelerator of the policy works here.
    pub accelerator: Option<VmAccelerator>,
    /// The reason why the policy's preferred accelerators are not used here, if one is not.
    pub passed_over: Option<String>,
}

/// The backends found on this host, by the policy's name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstalledBackends {
    found: BTreeMap<String, InstalledBackend>,
    unavailable: BTreeMap<String, String>,
}

impl InstalledBackends {
    /// Adds an installed backend.
    pub fn insert(&mut self, name: impl Into<String>, found: InstalledBackend) {
        self.found.insert(name.into(), found);
    }

    /// Records the reason why a backend cannot be used here.
    pub fn insert_unavailable(&mut self, name: impl Into<String>, why: String) {
        self.unavailable.insert(name.into(), why);
    }

    /// Returns the installation of a backend.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&InstalledBackend> {
        self.found.get(name)
    }

    /// Returns the reason why a backend cannot be used, if more is known than its absence.
    #[must_use]
    pub fn unavailable_reason(&self, name: &str) -> Option<&str> {
        self.unavailable.get(name).map(String::as_str)
    }

    /// Returns every installed backend, ordered by name.
    pub fn found(&self) -> impl Iterator<Item = (&str, &InstalledBackend)> {
        self.found.iter().map(|(name, installed)| (name.as_str(), installed))
    }
}

/// The backend of one run. The fields are public because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedBackend {
    /// The name in requests.
    pub name: String,
    /// The kind.
    pub kind: BackendKind,
    /// The program as a path in the sandbox. `None` for `confined`, which has none of its own.
    pub program: Option<PathBuf>,
    /// Its files, with the digests that the decision used; empty for `confined`.
    pub files: Vec<BackendFile>,
    /// The virtual machine, if the kind has one.
    pub machine: Option<GrantedMachine>,
}

/// The virtual machine of one run. The fields are public because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedMachine {
    /// The accelerator that the wrapper must use.
    pub accelerator: VmAccelerator,
    /// The name of the root image.
    pub root: String,
    /// The memory of the guest, in MiB.
    pub memory_mb: u64,
    /// The time of the tool in the guest, in milliseconds: that of the request.
    pub time_ms: u64,
    /// The time that the sandbox has besides, for the guest's start and end, in milliseconds.
    pub start_ms: u64,
}

impl GrantedBackend {
    /// Makes the sandbox alone.
    #[must_use]
    pub fn confined() -> Self {
        let name = CONFINED.to_owned();
        Self { name, kind: BackendKind::Sandbox, program: None, files: Vec::new(), machine: None }
    }
}
