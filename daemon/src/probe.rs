//! Probes whether this host can start a sandbox: builds one through the launcher of a run, with
//! every layer and limit active, and ends it unused. It runs no tool code and touches no request.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use model::Layer;
use policies::{InstalledRuntimes, Policy};
use records::{reason_of, reason_with_help, split_reason};
use rustix::io::Errno;
use sandbox::client::{BuildError, Launcher, LauncherAddress};
use sandbox::plan::{
    ConfinementRequirements, ExecSpec, Limits, Plan, RuntimeSpec, SandboxDevice, SandboxNetwork,
    SandboxSpec, StagingSlot, StagingSlotId,
};
use sandbox::report::Confinement;
use validator::{Code, Violation};

use crate::environment_digests::DigestCache;
use crate::model::DaemonError;
use crate::runtimes::{self, BackendScope, RuntimeSearch};
use crate::system;

/// The result of a probe.
#[derive(Debug)]
pub enum ProbeResult {
    /// A sandbox was built, confined by these layers.
    Fit(Box<Confinement>),
    /// No sandbox can be built.
    Unfit(HostFault),
    /// The probe was not made, for this reason.
    NotTried(String),
}

/// The reason why no sandbox can be built here, and the fix for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFault {
    /// The layer that is missing, if the failure is about a layer.
    pub layer: Option<Layer>,
    /// The step that failed, with the kernel's error.
    pub step: String,
    /// The fix.
    pub help: String,
}

impl HostFault {
    pub(crate) fn of(error: &BuildError) -> Self {
        let layer = match error {
            BuildError::SetupFailed(unable) => unable.layer,
            BuildError::Launcher(..)
            | BuildError::Lost(_)
            | BuildError::Stuck(_)
            | BuildError::Cancelled(_)
            | BuildError::Unknown(_) => None,
        };
        Self { layer, step: error.to_string(), help: help(error, layer).to_owned() }
    }

    /// Returns the violation of a refusal; none if the failure is not about a layer.
    pub(crate) fn violation(&self) -> Option<Violation> {
        let code = Code::Layer(self.layer?.as_str());
        Some(Violation::error(code, self.step.as_str()).hint(self.help.as_str()))
    }

    /// Returns the reason as a record states it.
    #[must_use]
    pub fn reason(&self) -> String {
        let refused = self.violation().and_then(|violation| reason_of(&[violation]));
        refused.unwrap_or_else(|| reason_with_help(&self.step, &self.help))
    }
}

/// Records state these texts: none may read as an instruction to install or run something.
fn help(error: &BuildError, layer: Option<Layer>) -> &'static str {
    let errno = match error {
        BuildError::SetupFailed(unable) => unable.errno,
        BuildError::Launcher(_, error) | BuildError::Lost(error) | BuildError::Unknown(error) => {
            error.raw_os_error().unwrap_or(0)
        }
        BuildError::Stuck(_) | BuildError::Cancelled(_) => 0,
    };
    match (layer, error) {
        (Some(Layer::Cgroup), _) if errno == Errno::ROFS.raw_os_error() => {
            "mount the control groups read-write; in a container, give it its own cgroup tree"
        }
        (Some(Layer::Cgroup), _) => {
            "start as root or from the packaged units, or list `cgroup` in layers.exceptions of \
             the policy"
        }
        (Some(Layer::UserNamespace), _) => {
            "start as root, use the package (its AppArmor profile allows user namespaces), or \
             check the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and \
             kernel.apparmor_restrict_unprivileged_userns"
        }
        (Some(Layer::Landlock), _) => "boot a kernel with Landlock built in and listed in lsm=",
        (Some(Layer::Namespaces), _) if errno == Errno::NOSPC.raw_os_error() => {
            "raise the limits on namespaces: sysctl user.max_user_namespaces and similar keys"
        }
        (Some(Layer::Namespaces | Layer::Mounts), _) => {
            "in a container, give it CAP_SYS_ADMIN and an unmasked /proc"
        }
        (Some(Layer::Seccomp | Layer::Capabilities), _) => {
            "check the kernel, and the unit or the container of the launcher"
        }
        (None, BuildError::SetupFailed(_)) if errno == Errno::NOSPC.raw_os_error() => {
            "free space in /run, where the launcher keeps its locks (df /run)"
        }
        (None, BuildError::Launcher(..)) => {
            "check that toolexec-launch is installed and its socket listens (systemctl status \
             toolexec-launch.socket)"
        }
        (None, BuildError::SetupFailed(unable)) if unable.step.contains("/dev/kvm") => {
            "see docs/microvm.md for the modes of /dev/kvm, and for a udev rule"
        }
        (None, BuildError::SetupFailed(_)) => "check this host with `toolexec doctor`",
        (None, BuildError::Stuck(_) | BuildError::Cancelled(_)) => {
            "look for a frozen control group or a mount that does not answer; the journal has the \
             kernel stack of each process"
        }
        (None, BuildError::Lost(_) | BuildError::Unknown(_)) => {
            "see the messages of the launcher: journalctl -u toolexec-launch"
        }
    }
}

/// Builds a sandbox with the launcher that `reach` names. `staging` is the launcher's staging
/// directory, and `state` is the state directory with the runtime caches.
#[must_use]
pub fn probe(reach: LauncherAddress, staging: &Path, policy: &Policy, state: &Path) -> ProbeResult {
    let search = RuntimeSearch { state, backends: &BackendScope::Nothing };
    let binaries = runtimes::find(policy, search, &mut DigestCache::default());
    let launcher = Launcher::new(runtimes::allow_mounts(reach, policy, &binaries, None));
    probe_with(&launcher, staging, policy, &binaries)
}

/// With a launcher that is already running.
pub(crate) fn probe_with(
    launcher: &Launcher,
    staging: &Path,
    policy: &Policy,
    binaries: &InstalledRuntimes,
) -> ProbeResult {
    let Some(runtime) = runtime(policy, binaries) else {
        return ProbeResult::NotTried("no runtime of the policy is installed".to_owned());
    };
    let (_directory, slot) = match ProbeInputs::make(staging) {
        Ok(made) => made,
        Err(why) => return ProbeResult::NotTried(why),
    };
    let demands = ConfinementRequirements {
        landlock_abi_min: policy.landlock_abi_min(),
        cgroup_exception: policy.cgroup_exception(),
    };
    let argv = vec![runtime.binary.display().to_string()];
    let sandbox = SandboxSpec {
        slot,
        runtime,
        network: SandboxNetwork::Nothing,
        device: SandboxDevice::Nothing,
        requirements: demands,
    };
    let order = ExecSpec { argv, env: Vec::new(), limits: Limits::SMALL, work: None };
    let plan = Plan { sandbox, exec: order };
    let built = match launcher.build(plan.clone()) {
        // A launcher that found the host unfit exits, and may have done so just before.
        Err(BuildError::Lost(_)) => launcher.build(plan),
        built => built,
    };
    match built {
        Ok(ready) => ProbeResult::Fit(Box::new(ready.confinement().clone())),
        Err(error) => ProbeResult::Unfit(HostFault::of(&error)),
    }
}

fn runtime(policy: &Policy, binaries: &InstalledRuntimes) -> Option<RuntimeSpec> {
    let installed = |runtime: &policies::RuntimeRule| binaries.get(runtime.name()).cloned();
    let (runtime, installed) =
        policy.runtimes().find_map(|runtime| Some((runtime, installed(runtime)?)))?;
    Some(RuntimeSpec {
        language: runtime.language(),
        binary: installed.binary,
        root: runtime.root().map(Path::to_owned),
        mounts: runtime.mounts().iter().cloned().chain(installed.prefix).collect(),
        caches: Vec::new(),
        tmp: sandbox::plan::TmpUse::Data,
        proc_view: sandbox::plan::ProcView::Pid,
    })
}

/// The inputs of a probe: an empty directory below the staging root, removed on drop.
struct ProbeInputs(PathBuf);

impl ProbeInputs {
    fn make(staging: &Path) -> Result<(Self, StagingSlot), String> {
        let problem = |error: DaemonError| split_reason(&error.to_string()).0.to_owned();
        let name = system::new_claim_id().map_err(problem)?;
        let id = StagingSlotId::new(name.as_str()).ok_or("the claim id is not a valid slot id")?;
        let path = staging.join(name.as_str());
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        DirBuilder::new().mode(0o755).create(&path).map_err(failed)?;
        let made = Self(path.clone());
        // The umask of the caller must not hide the directory from the tool's uid.
        fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(failed)?;
        let found = fs::metadata(&path).map_err(failed)?;
        Ok((made, StagingSlot { id, device: found.dev(), inode: found.ino() }))
    }
}

impl Drop for ProbeInputs {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            tracing::warn!("{}: not removed until the next start: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use sandbox::frame::SetupFailure;

    use super::*;

    fn errors() -> Vec<BuildError> {
        let errnos = [
            0,
            Errno::ROFS.raw_os_error(),
            Errno::PERM.raw_os_error(),
            Errno::NOSPC.raw_os_error(),
            Errno::NOSYS.raw_os_error(),
        ];
        let layers = Layer::ALL.iter().copied().map(Some).chain([None]);
        let unable = |layer, errno| {
            BuildError::SetupFailed(SetupFailure {
                layer,
                step: "make something".to_owned(),
                errno,
            })
        };
        let mut errors: Vec<BuildError> =
            layers.flat_map(|layer| errnos.map(|errno| unable(layer, errno))).collect();
        let closed = || std::io::Error::other("it closed the connection");
        errors.push(BuildError::Lost(closed()));
        errors.push(BuildError::Unknown(closed()));
        errors.push(BuildError::Launcher("/run/launch.sock".into(), closed()));
        errors
    }

    #[test]
    fn every_fault_has_cause_layer_and_help() {
        for error in errors() {
            let fault = HostFault::of(&error);
            let reason = fault.reason();
            assert!(reason.contains(&error.to_string()), "{reason}");
            assert!(reason.ends_with(&format!("; help: {}", fault.help)), "{reason}");
            if let Some(layer) = fault.layer {
                assert!(reason.starts_with(&format!("layer.{}: ", layer.as_str())), "{reason}");
            }
            assert_eq!(validator::withholding_code(&reason), None, "{reason}");
        }
    }
}
