//! Checks the backends of a policy file and makes their rules. It reports every problem.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{Sha256, alternatives};
use validator::Backend;

use super::model::{
    BackendForm, BackendLocation, BackendRule, CONFINED, MicrovmRule, VmAccelerator,
};
use super::raw::{RawAccelerator, RawBackend, RawBackendKind};
use super::roots;
use crate::problem::Problems;
use crate::runtime::{RuntimeRule, is_plain_absolute};

/// The role of the program among the files of a backend.
const PROGRAM: &str = "program";
/// The word for a program that is installed with the daemon.
const AUTO: &str = "auto";

/// The directory of a guest's files, as packaging/microvm/build fills it.
const MICROVM_FILES: &str = "/usr/lib/toolexec/microvm";

/// QEMU was measured with 85 MiB besides its guest's.
const MICROVM_EXTRA_MB: u64 = 112;

/// No backend needs more for itself, in MiB.
const MEMORY_EXTRA_MAX: u64 = 65_536;
const BOOT_SEC_DEFAULT: u64 = 20;
/// A guest that takes longer hangs on any host.
const BOOT_SEC_MAX: u64 = 600;

/// The backends that a policy offers besides `confined`, and that of requests that name none.
#[derive(Clone, Debug)]
pub(crate) struct BackendRules {
    default: String,
    rules: Vec<BackendRule>,
}

impl BackendRules {
    pub(crate) fn check(
        default: String,
        forms: Option<BTreeMap<String, RawBackend>>,
        runtimes: &[RuntimeRule],
        problems: &mut Problems<'_>,
    ) -> Self {
        let forms = forms.unwrap_or_default();
        if default != CONFINED && !forms.contains_key(&default) {
            let what = format!("`{default}` is not a backend of this policy");
            problems.add("backend", what, "write confined, or a name of `backends`");
        }
        let mut rules = Vec::new();
        for (name, form) in forms {
            let at = format!("backends.{name}");
            if runtimes.iter().any(|runtime| runtime.name() == name) {
                // Both have their digests under this name.
                problems.add(&at, "a runtime has this name", "rename the runtime");
            }
            let mut entry = BackendCheck { at, problems: &mut *problems };
            rules.push(entry.rule(name, form));
        }
        Self { default, rules }
    }

    /// Returns the backend of requests that name none.
    pub(crate) fn default_name(&self) -> &str {
        &self.default
    }

    pub(crate) fn get(&self, name: &str) -> Option<&BackendRule> {
        self.iter().find(|rule| rule.name() == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BackendRule> {
        self.rules.iter()
    }
}

struct BackendCheck<'a, 'b> {
    at: String,
    problems: &'a mut Problems<'b>,
}

impl BackendCheck<'_, '_> {
    fn report(&mut self, key: &str, what: impl Into<String>, advice: &str) {
        self.problems.add(&format!("{}.{key}", self.at), what, advice);
    }

    fn rule(&mut self, name: String, form: RawBackend) -> BackendRule {
        self.name(&name);
        let memory_extra_mb = self.memory_extra_mb(&form);
        if !(1..=MEMORY_EXTRA_MAX).contains(&memory_extra_mb) {
            let advice = format!("write 1 to {MEMORY_EXTRA_MAX} MiB");
            self.report("memory_extra_mb", format!("{memory_extra_mb} is out of range"), &advice);
        }
        let program = self.program(form.program.as_deref());
        let pinned = self.pinned(&form);
        let form = match form.kind {
            RawBackendKind::Interpreter => {
                self.refuse_microvm_keys(&form);
                BackendForm::Interpreter(Box::new(RuntimeRule::of_interpreter(&name)))
            }
            RawBackendKind::Microvm => BackendForm::Microvm(self.microvm(&name, &form)),
        };
        BackendRule { name, program, form, memory_extra_mb, pinned }
    }

    fn memory_extra_mb(&mut self, form: &RawBackend) -> u64 {
        match (&form.memory_extra_mb, form.kind) {
            (Some(written), _) => written.0,
            (None, RawBackendKind::Microvm) => MICROVM_EXTRA_MB,
            (None, RawBackendKind::Interpreter) => {
                self.report("memory_extra_mb", "missing", "write the MiB that the program uses");
                1
            }
        }
    }

    fn name(&mut self, name: &str) {
        let at = self.at.clone();
        if name == CONFINED {
            let what = "is always offered, and cannot be changed";
            self.problems.add(&at, what, "remove the entry");
        } else if Backend::named(name).is_none() {
            let others = Backend::TEXTS.iter().copied().filter(|text| *text != CONFINED);
            let advice = format!("write {}", alternatives(&others.collect::<Vec<_>>()));
            self.problems.add(&at, "no request can name this backend", &advice);
        }
    }

    fn program(&mut self, written: Option<&str>) -> BackendLocation {
        match written {
            None | Some(AUTO) => BackendLocation::Auto,
            Some(path) => BackendLocation::Path(self.absolute(PROGRAM, path)),
        }
    }

    fn absolute(&mut self, key: &str, written: &str) -> PathBuf {
        let path = PathBuf::from(written);
        if !is_plain_absolute(&path) || path.file_name().is_none() {
            let what = format!("`{}` is not an absolute path", written.escape_default());
            self.report(key, what, "write it from the root, without `..`");
        }
        path
    }

    fn pinned(&mut self, form: &RawBackend) -> BTreeMap<String, Sha256> {
        let mut pinned = BTreeMap::new();
        for (role, hex) in form.sha256.iter().flatten() {
            let is_known = match form.kind {
                RawBackendKind::Interpreter => role == PROGRAM,
                RawBackendKind::Microvm => is_role(role),
            };
            if !is_known {
                let what = format!("`{}` is not a file of this kind", role.escape_default());
                self.report(
                    "sha256",
                    what,
                    "see `sha256` in docs/policy.md for the files of each kind",
                );
            }
            match hex.parse().ok().filter(|sha256: &Sha256| sha256.to_string() == *hex) {
                Some(sha256) => {
                    pinned.insert(role.clone(), sha256);
                }
                None => {
                    let what = format!("`{}` is not a digest", hex.escape_default());
                    self.report("sha256", what, "write the 64 digits that `sha256sum` prints");
                }
            }
        }
        pinned
    }

    fn refuse_microvm_keys(&mut self, form: &RawBackend) {
        let written = [
            ("files", form.files.is_some()),
            ("accel", form.accel.is_some()),
            ("boot_sec", form.boot_sec.is_some()),
            ("roots", form.roots.is_some()),
        ];
        for (key, _) in written.into_iter().filter(|(_, is_written)| *is_written) {
            self.report(key, "is for `kind: microvm` only", "remove the key");
        }
    }

    fn microvm(&mut self, name: &str, form: &RawBackend) -> MicrovmRule {
        let files = self.absolute("files", form.files.as_deref().unwrap_or(MICROVM_FILES));
        let boot_sec = form.boot_sec.as_ref().map_or(BOOT_SEC_DEFAULT, |count| count.0);
        if !(1..=BOOT_SEC_MAX).contains(&boot_sec) {
            let advice = format!("write 1 to {BOOT_SEC_MAX} seconds");
            self.report("boot_sec", format!("{boot_sec} is out of range"), &advice);
        }
        let accelerators = self.accelerators(form.accel.as_deref().unwrap_or_default());
        let at = format!("{}.roots", self.at);
        let roots = match &form.roots {
            Some(written) => roots::check(name, written, &at, self.problems),
            None => roots::usual(name),
        };
        MicrovmRule { files, accelerators, boot_sec, roots }
    }

    fn accelerators(&mut self, written: &[RawAccelerator]) -> Vec<VmAccelerator> {
        if written.is_empty() {
            self.report("accel", "is empty", "write [kvm], [tcg], or [kvm, tcg]");
        }
        let mut found = Vec::new();
        for accelerator in written {
            let accelerator = match accelerator {
                RawAccelerator::Kvm => VmAccelerator::Kvm,
                RawAccelerator::Tcg => VmAccelerator::Tcg,
            };
            if found.contains(&accelerator) {
                let what = format!("`{accelerator}` appears twice");
                self.report("accel", what, "keep one of them");
            } else {
                found.push(accelerator);
            }
        }
        found
    }
}

/// Checks the spelling of a role, such as `kernel` or `root-python`.
fn is_role(role: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=40).contains(&role.len()) && role.bytes().all(allowed)
}
