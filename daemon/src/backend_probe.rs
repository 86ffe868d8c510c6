//! Probes the backends of a policy: an interpreter runs code and a virtual machine boots, each in a
//! sandbox as for a request. It touches no request, ledger or record. Only a probe that ran proves
//! that a backend works here.

mod machine;
mod model;
mod sandbox_run;

use std::path::Path;

use policies::{
    BackendForm, BackendRule, InstalledBackend, InstalledBackends, Policy, RESULT_FILE,
    code_arguments,
};
use sandbox::client::{Launcher, LauncherAddress};
use sandbox::plan::{Limits, ProcView};

pub(crate) use self::model::ProbeBench;

use self::model::{CODE, ProbeCommand};
use self::sandbox_run::run;
use crate::accelerators::{AcceleratorEvidence, ProbedMachine};
use crate::environment_digests::DigestCache;
use crate::runtimes::{self, BackendScope, RuntimeSearch};

/// The whole result file.
const RESULT: &str = "{\"type\":\"int\",\"value\":6}\n";
const TIME_MS: u64 = 10_000;
const CODE_MEMORY_MB: u64 = 32;
const SANDBOX_MEMORY_BYTES: u64 = 96 << 20;
const PIDS_MAX: u32 = 16;
const OPEN_FILES_MAX: u32 = 64;

/// The result of one backend's probe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackendProbe {
    /// The name of the backend.
    pub name: String,
    /// A description of the backend that ran the code, or the reason why none did.
    pub found: Result<String, String>,
}

/// Tries each backend of the policy, and remembers in the state directory `state` which accelerator
/// booted a guest. `staging` is the launcher's staging directory.
#[must_use]
pub fn probe_backends(
    reach: LauncherAddress,
    staging: &Path,
    policy: &Policy,
    state: &Path,
) -> Vec<BackendProbe> {
    let search = RuntimeSearch { state, backends: &BackendScope::All };
    let binaries = runtimes::find(policy, search, &mut DigestCache::default());
    let launcher = Launcher::new(runtimes::allow_mounts(reach, policy, &binaries, None));
    let bench = ProbeBench { launcher: &launcher, staging, policy, is_cancelled: &|| false };
    let mut evidence = AcceleratorEvidence::read(state);
    let backends = binaries.backends();
    let mut probed = Vec::new();
    for rule in policy.backends() {
        let name = rule.name().to_owned();
        let found = match backends.get(&name) {
            Some(installed) => probe(bench, rule, installed, &mut evidence),
            None => Err(backends.unavailable_reason(&name).unwrap_or("not found").to_owned()),
        };
        probed.push(BackendProbe { name, found });
    }
    evidence.write_if_changed(state);
    probed
}

/// Boots a guest with each accelerator that must be tried before one can be chosen, and remembers
/// the results in the state directory. Returns whether there are any.
pub(crate) fn try_accelerators(
    bench: ProbeBench<'_>,
    backends: &InstalledBackends,
    search: RuntimeSearch<'_>,
) -> bool {
    let mut evidence = AcceleratorEvidence::read(search.state);
    let mut is_tried = false;
    for machine in machines(bench.policy, backends, search.backends) {
        let Some(accelerator) = evidence.untried(machine) else { continue };
        let booted = machine::boot(bench, machine, accelerator);
        // A probe that was ended shows nothing.
        if (bench.is_cancelled)() {
            break;
        }
        evidence.remember(machine, accelerator, booted.as_ref().err().map(String::as_str));
        is_tried = true;
    }
    evidence.write_if_changed(search.state);
    is_tried
}

/// Returns whether an accelerator must be tried before one can be chosen.
pub(crate) fn has_untried(
    policy: &Policy,
    backends: &InstalledBackends,
    search: RuntimeSearch<'_>,
) -> bool {
    let mut machines = machines(policy, backends, search.backends).peekable();
    // Without a virtual machine, nothing is read.
    if machines.peek().is_none() {
        return false;
    }
    let evidence = AcceleratorEvidence::read(search.state);
    machines.any(|machine| evidence.untried(machine).is_some())
}

/// Returns the virtual machines in scope that are installed with the files that the policy pins.
fn machines<'a>(
    policy: &'a Policy,
    backends: &'a InstalledBackends,
    scope: &'a BackendScope,
) -> impl Iterator<Item = ProbedMachine<'a>> {
    policy.backends().filter_map(move |rule| {
        let BackendForm::Microvm(microvm) = rule.form() else { return None };
        let installed = backends.get(rule.name())?;
        let is_pinned = rule.pinned_fault(installed).is_none();
        let is_meant = is_pinned && scope.has(rule.name());
        is_meant.then_some(ProbedMachine { rule, microvm, installed })
    })
}

fn probe(
    bench: ProbeBench<'_>,
    rule: &BackendRule,
    installed: &InstalledBackend,
    evidence: &mut AcceleratorEvidence,
) -> Result<String, String> {
    if let Some(fault) = rule.pinned_fault(installed) {
        return Err(fault);
    }
    let found = match rule.form() {
        BackendForm::Interpreter(_) => {
            let value = run(bench, installed, code_command())?.good()?;
            if value != RESULT {
                return Err(format!("the result of `{CODE}` is not {}", RESULT.trim_end()));
            }
            String::new()
        }
        BackendForm::Microvm(microvm) => {
            let machine = ProbedMachine { rule, microvm, installed };
            format!("{}: ", machine::boot_first(bench, machine, evidence)?)
        }
    };
    let digests = installed.files.iter();
    let digests: Vec<String> =
        digests.map(|file| format!("{}, sha256 {}", file.path.display(), file.sha256)).collect();
    Ok(format!("{}: {found}{}", rule.kind(), digests.join("; ")))
}

fn code_command() -> ProbeCommand {
    ProbeCommand {
        words: code_arguments(TIME_MS, CODE_MEMORY_MB),
        result: RESULT_FILE,
        proc_view: ProcView::None,
        accelerator: None,
        limits: Limits {
            wall_ms_max: TIME_MS,
            cpu_ms_max: TIME_MS,
            memory_bytes_max: SANDBOX_MEMORY_BYTES,
            pids_max: PIDS_MAX,
            open_files_max: OPEN_FILES_MAX,
            ..Limits::SMALL
        },
    }
}
