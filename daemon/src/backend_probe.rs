//! Probes the backends of a policy: an interpreter runs code and a virtual machine boots, each in a
//! sandbox as for a request. It touches no request, ledger or record. Only a probe that ran proves
//! that a backend works here.

mod machine;
mod model;

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ::model::{Language, Outcome};
use policies::{
    BackendForm, BackendRule, CODE_FILE, INPUTS_FILE, InstalledBackend, Policy, RESULT_FILE,
    code_arguments,
};
use sandbox::client::{Launcher, LauncherAddress};
use sandbox::plan::{
    Cache, ConfinementRequirements, ExecSpec, Limits, Plan, ProcView, RuntimeSpec, SandboxNetwork,
    SandboxSpec, StagingSlot, StagingSlotId, TmpUse,
};
use spool::write_input;

use self::model::ProbeCommand;
use crate::environment_digests::DigestCache;
use crate::probe::HostFault;
use crate::{runtimes, system};

const CODE: &str = "sum(rows)";
const INPUTS: &str = "{\"rows\": [1, 2, 3]}";
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

/// Tries each backend of the policy. `staging` is the launcher's staging directory, and `caches` is
/// that of the runtime caches.
#[must_use]
pub fn probe_backends(
    reach: LauncherAddress,
    staging: &Path,
    policy: &Policy,
    caches: &Path,
) -> Vec<BackendProbe> {
    let binaries = runtimes::find(policy, caches, &mut DigestCache::default());
    let launcher = Launcher::new(runtimes::allow_mounts(reach, policy, &binaries, None));
    let backends = binaries.backends();
    let probed = policy.backends().map(|rule| {
        let name = rule.name().to_owned();
        let found = match backends.get(&name) {
            Some(installed) => probe(rule, installed, &launcher, (staging, policy)),
            None => Err(backends.unavailable_reason(&name).unwrap_or("not found").to_owned()),
        };
        BackendProbe { name, found }
    });
    probed.collect()
}

fn probe(
    rule: &BackendRule,
    installed: &InstalledBackend,
    launcher: &Launcher,
    (staging, policy): (&Path, &Policy),
) -> Result<String, String> {
    if let Some(fault) = rule.pinned_fault(installed) {
        return Err(fault);
    }
    let inputs = ProbeDirectory::make(staging, 0o755)?;
    for (name, text) in [(CODE_FILE, CODE), (INPUTS_FILE, INPUTS)] {
        let path = inputs.path.join(name);
        write_input(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let results = ProbeDirectory::make(staging, 0o700)?;
    let command = match rule.form() {
        BackendForm::Interpreter(_) => code_command(),
        BackendForm::Microvm(microvm) => machine::command(rule, microvm, installed),
    };
    let result = command.result;
    let plan = plan(installed, command, inputs.slot()?, policy);
    let value = run(plan, launcher, (&results, result))?;
    let found = match rule.form() {
        BackendForm::Interpreter(_) if value == RESULT => String::new(),
        BackendForm::Interpreter(_) => {
            return Err(format!("the result of `{CODE}` is not {}", RESULT.trim_end()));
        }
        BackendForm::Microvm(_) => format!("{}: ", machine::judge(&value)?),
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

/// Runs the command, and returns the text of its result file.
fn run(
    plan: Plan,
    launcher: &Launcher,
    (results, name): (&ProbeDirectory, &str),
) -> Result<String, String> {
    let shown = results.path.display();
    let directory = File::open(&results.path).map_err(|error| format!("{shown}: {error}"))?;
    let ready = launcher.build(plan).map_err(|error| HostFault::of(&error).reason())?;
    let started = ready.start(directory.as_fd());
    let running = started.map_err(|error| HostFault::of(&error).reason())?;
    let finished = running.finish(|| false).map_err(|error| error.to_string())?;
    let outcome = finished.outcome();
    if outcome != Outcome::Ok {
        let stderr = fs::read(results.path.join("stderr")).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr);
        let last = stderr.lines().last().unwrap_or("no message");
        return Err(format!("the probe ended with {outcome}: {last}"));
    }
    let value = results.path.join("artifacts").join(name);
    fs::read_to_string(&value).map_err(|error| format!("{}: {error}", value.display()))
}

fn plan(
    installed: &InstalledBackend,
    command: ProbeCommand,
    slot: StagingSlot,
    policy: &Policy,
) -> Plan {
    let directories = installed.directories.iter();
    let caches = directories
        .map(|(target, source)| Cache { source: source.clone(), target: target.clone() })
        .collect();
    let runtime = RuntimeSpec {
        language: Language::Python,
        binary: installed.program.clone(),
        root: None,
        mounts: installed.mounts.clone(),
        caches,
        tmp: TmpUse::Data,
        proc_view: command.proc_view,
    };
    let requirements = ConfinementRequirements {
        landlock_abi_min: policy.landlock_abi_min(),
        cgroup_exception: policy.cgroup_exception(),
    };
    let sandbox = SandboxSpec { slot, runtime, network: SandboxNetwork::Nothing, requirements };
    let argv = [installed.program.display().to_string()].into_iter().chain(command.words).collect();
    let exec = ExecSpec { argv, env: Vec::new(), limits: command.limits, work: None };
    Plan { sandbox, exec }
}

/// A directory below the staging root, removed on drop with its files.
struct ProbeDirectory {
    name: String,
    path: PathBuf,
}

impl ProbeDirectory {
    fn make(staging: &Path, mode: u32) -> Result<Self, String> {
        let name = system::new_claim_id().map_err(|error| error.to_string())?;
        let name = name.as_str().to_owned();
        let path = staging.join(&name);
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        DirBuilder::new().mode(mode).create(&path).map_err(failed)?;
        let made = Self { name, path: path.clone() };
        // The umask of the caller must not hide the directory from the tool's uid.
        fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(failed)?;
        Ok(made)
    }

    fn slot(&self) -> Result<StagingSlot, String> {
        let id = StagingSlotId::new(&self.name).ok_or("the claim id is not a valid slot id")?;
        let found = fs::metadata(&self.path);
        let found = found.map_err(|error| format!("{}: {error}", self.path.display()))?;
        Ok(StagingSlot { id, device: found.dev(), inode: found.ino() })
    }
}

impl Drop for ProbeDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!("{}: not removed until the next start: {error}", self.path.display());
        }
    }
}
