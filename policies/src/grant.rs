//! The limits under which one approved request runs. Only the decision and its preview make a
//! grant, and nothing in it may come from the request without a check against policy. A grant
//! proves nothing by itself: only [`crate::Approved`] does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{EnvironmentReference, Language, Sha256, UtcTime};
use validator::{PatchOutput, Request};

use crate::approval::{Approval, Touch};
use crate::backends::GrantedBackend;
use crate::evidence::OpenedEnvironment;
use crate::hosts::GrantedNetwork;
use crate::limits::GrantedLimits;
use crate::policy::Policy;
use crate::program::ChosenProgram;
use crate::runtime::{ProcRule, TmpRule};
use crate::standing::StandingUse;

/// Everything that the next steps must know about policy for one run.
#[must_use]
#[derive(Debug)]
pub struct RunGrant {
    backend: GrantedBackend,
    runtime_name: String,
    language: Language,
    binary: PathBuf,
    root: Option<PathBuf>,
    mounts: Vec<PathBuf>,
    caches: BTreeMap<PathBuf, PathBuf>,
    environment: Option<OpenedEnvironment>,
    tmp: TmpRule,
    proc: ProcRule,
    env: Vec<(String, String)>,
    argv: Vec<String>,
    patch: Option<GrantedPatch>,
    limits: GrantedLimits,
    network: Option<GrantedNetwork>,
    layers_required: Vec<String>,
    landlock_abi_min: u32,
    cgroup_exception: bool,
    start_sec_max: u64,
    approval: Approval,
    outputs_strict: bool,
    policy_name: String,
    policy_sha256: Sha256,
}

/// The changes to a folder, which the run returns as a patch.
#[derive(Debug)]
struct GrantedPatch {
    path: String,
    folder: String,
}

impl GrantedPatch {
    fn of(patch: PatchOutput<'_>) -> Self {
        Self { path: patch.path.to_owned(), folder: patch.folder.to_owned() }
    }
}

impl RunGrant {
    pub(crate) fn new(
        request: &Request,
        policy: &Policy,
        chosen: &ChosenProgram<'_>,
        approval: Approval,
    ) -> Self {
        let (rules, runtime) = (&policy.rules, chosen.word.runtime);
        let backend = chosen.backend.as_ref();
        let limits = rules.ceilings.grant(request);
        Self {
            backend: chosen.granted_backend(request),
            runtime_name: runtime.name().to_owned(),
            language: backend
                .and_then(|it| it.filter_language())
                .unwrap_or_else(|| runtime.language()),
            binary: chosen.binary.clone(),
            root: chosen.root(),
            mounts: chosen.mounts(),
            caches: chosen.caches(),
            environment: chosen.environment.cloned(),
            tmp: runtime.tmp(),
            proc: runtime.proc(),
            env: chosen.variables(request),
            argv: chosen.argv(request),
            patch: request.patch().map(GrantedPatch::of),
            limits: backend.map_or(limits, |it| it.limits(request, limits)),
            network: rules.network.grant(request),
            layers_required: rules.layers.required.clone(),
            landlock_abi_min: rules.layers.landlock_abi_min,
            cgroup_exception: rules.layers.cgroup_exception,
            start_sec_max: rules.start_sec_max,
            approval,
            outputs_strict: rules.outputs_strict,
            policy_name: rules.name.clone(),
            policy_sha256: policy.sha256(),
        }
    }

    /// Returns the standing approval that the request uses, if any.
    #[must_use]
    pub fn standing(&self) -> Option<&StandingUse> {
        self.approval.standing.as_ref()
    }

    /// Returns the environment that the request uses, if any.
    #[must_use]
    pub fn environment(&self) -> Option<&EnvironmentReference> {
        self.environment.as_ref().map(|opened| &opened.reference)
    }

    /// Returns the facts of the environment that the decision used, if any.
    #[must_use]
    pub fn opened_environment(&self) -> Option<&OpenedEnvironment> {
        self.environment.as_ref()
    }

    /// Returns the backend, with the files that the decision used.
    #[must_use]
    pub fn backend(&self) -> &GrantedBackend {
        &self.backend
    }

    /// Returns the name of the runtime in the policy; of a further backend, the name of that.
    #[must_use]
    pub fn runtime_name(&self) -> &str {
        &self.runtime_name
    }

    /// Returns the language whose list of system calls the run has: that of the runtime and of the
    /// request, except in a virtual machine.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the program to execute: an absolute path in the sandbox. It is also its path on the
    /// host, unless the run has a root of its own or the program is of an environment.
    #[must_use]
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Returns the host directory that replaces the host's own programs.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns the host directories that the sandbox sees read-only: policy's and interpreter's.
    #[must_use]
    pub fn mounts(&self) -> &[PathBuf] {
        &self.mounts
    }

    /// Returns the caches that the sandbox sees read-only, as host path by sandbox path.
    #[must_use]
    pub fn caches(&self) -> &BTreeMap<PathBuf, PathBuf> {
        &self.caches
    }

    /// Returns the permitted use of `/tmp`.
    #[must_use]
    pub fn tmp(&self) -> TmpRule {
        self.tmp
    }

    /// Returns the part of `/proc` that the sandbox sees.
    #[must_use]
    pub fn proc(&self) -> ProcRule {
        self.proc
    }

    /// Returns the complete list of environment variables.
    #[must_use]
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Returns the complete argument vector.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Returns the path below /in of the folder in whose writable copy the tool starts; `None` if
    /// it starts in /in.
    #[must_use]
    pub fn work_folder(&self) -> Option<&str> {
        self.patch.as_ref().map(|patch| patch.folder.as_str())
    }

    /// Returns the path below /out of the patch of that folder.
    #[must_use]
    pub fn patch_path(&self) -> Option<&str> {
        self.patch.as_ref().map(|patch| patch.path.as_str())
    }

    /// Returns the limits of the run.
    #[must_use]
    pub fn limits(&self) -> &GrantedLimits {
        &self.limits
    }

    /// Returns the size limit of all inputs together, in bytes.
    #[must_use]
    pub fn input_bytes_max(&self) -> u64 {
        self.limits.input_bytes
    }

    /// Returns the hosts that the run may reach, or `None` without a network.
    #[must_use]
    pub fn network(&self) -> Option<&GrantedNetwork> {
        self.network.as_ref()
    }

    /// Returns the confinement layers that the sandbox must have.
    #[must_use]
    pub fn layers_required(&self) -> &[String] {
        &self.layers_required
    }

    /// Returns the Landlock ABI that the kernel must offer.
    #[must_use]
    pub fn landlock_abi_min(&self) -> u32 {
        self.landlock_abi_min
    }

    /// Returns whether the run may use the other mechanisms if no cgroup is writable.
    #[must_use]
    pub fn cgroup_exception(&self) -> bool {
        self.cgroup_exception
    }

    /// Returns the seconds that the sandbox may take until it is ready for the tool.
    #[must_use]
    pub fn start_sec_max(&self) -> u64 {
        self.start_sec_max
    }

    /// Returns the description of the approval for the record.
    #[must_use]
    pub fn approval_text(&self) -> &str {
        &self.approval.text
    }

    /// Principal and key fingerprint of each signature that approves.
    #[must_use]
    pub fn approvals(&self) -> &[(String, String)] {
        &self.approval.signed
    }

    /// Returns the touch data of each security key that signed, by key fingerprint.
    #[must_use]
    pub fn touches(&self) -> &[(String, Touch)] {
        &self.approval.touches
    }

    /// Returns the last second in which a start may use the approval, if policy sets a maximum age.
    #[must_use]
    pub fn approval_expires(&self) -> Option<UtcTime> {
        self.approval.expires
    }

    /// Returns whether a missing or undeclared output makes the outcome `output_rejected`.
    #[must_use]
    pub fn outputs_strict(&self) -> bool {
        self.outputs_strict
    }

    /// Returns the name of the policy.
    #[must_use]
    pub fn policy_name(&self) -> &str {
        &self.policy_name
    }

    /// Returns the digest of the policy's bytes.
    #[must_use]
    pub fn policy_sha256(&self) -> Sha256 {
        self.policy_sha256
    }
}
