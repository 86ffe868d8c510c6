//! The run of a probe's command in a sandbox, with inputs and results of its own.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::PathBuf;

use ::model::{Language, Outcome};
use policies::{CODE_FILE, INPUTS_FILE, InstalledBackend};
use sandbox::plan::{
    Cache, ConfinementRequirements, ExecSpec, Plan, RuntimeSpec, SandboxNetwork, SandboxSpec,
    StagingSlot, StagingSlotId, TmpUse,
};
use spool::write_input;

use super::model::{CODE, INPUTS, ProbeBench, ProbeCommand};
use crate::plan::device;
use crate::probe::HostFault;
use crate::system;

/// The end of a probe's command, and the text of its result file.
pub(super) struct ProbeEnd {
    outcome: Outcome,
    result: Result<String, String>,
    last_line: String,
}

impl ProbeEnd {
    /// Returns the result of a command that ended well.
    pub(super) fn good(self) -> Result<String, String> {
        match self.outcome {
            Outcome::Ok => self.result,
            outcome => Err(format!("the probe ended with {outcome}: {}", self.last_line)),
        }
    }

    /// Returns the result file, which a command that failed may have left too.
    pub(super) fn left(&self) -> Option<&str> {
        self.result.as_deref().ok()
    }
}

/// Runs the command of a probe in a sandbox.
pub(super) fn run(
    bench: ProbeBench<'_>,
    installed: &InstalledBackend,
    command: ProbeCommand,
) -> Result<ProbeEnd, String> {
    let inputs = ProbeDirectory::make(bench, 0o755)?;
    for (name, text) in [(CODE_FILE, CODE), (INPUTS_FILE, INPUTS)] {
        let path = inputs.path.join(name);
        write_input(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let results = ProbeDirectory::make(bench, 0o700)?;
    let shown = results.path.display();
    let directory = File::open(&results.path).map_err(|error| format!("{shown}: {error}"))?;
    let name = command.result;
    let plan = plan(bench, installed, command, inputs.slot()?);
    let ready = bench.launcher.build(plan).map_err(|error| HostFault::of(&error).reason())?;
    let started = ready.start(directory.as_fd());
    let running = started.map_err(|error| HostFault::of(&error).reason())?;
    let finished = running.finish(bench.is_cancelled).map_err(|error| error.to_string())?;
    let stderr = fs::read(results.path.join("stderr")).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&stderr);
    let value = results.path.join("artifacts").join(name);
    Ok(ProbeEnd {
        outcome: finished.outcome(),
        result: fs::read_to_string(&value).map_err(|error| format!("{}: {error}", value.display())),
        last_line: stderr.lines().last().unwrap_or("no message").to_owned(),
    })
}

fn plan(
    bench: ProbeBench<'_>,
    installed: &InstalledBackend,
    command: ProbeCommand,
    slot: StagingSlot,
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
        landlock_abi_min: bench.policy.landlock_abi_min(),
        cgroup_exception: bench.policy.cgroup_exception(),
    };
    let (network, device) = (SandboxNetwork::Nothing, device(command.accelerator));
    let sandbox = SandboxSpec { slot, runtime, network, device, requirements };
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
    fn make(bench: ProbeBench<'_>, mode: u32) -> Result<Self, String> {
        let name = system::new_claim_id().map_err(|error| error.to_string())?;
        let name = name.as_str().to_owned();
        let path = bench.staging.join(&name);
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
