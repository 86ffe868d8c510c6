//! The accelerator of a virtual machine: the first of the policy's list that works on this host.
//! KVM works only if a guest booted with it in a sandbox here. The state directory remembers that
//! for these files, this kernel and this processor. This module boots nothing.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use model::{Sha256, UtcTime, escape_line};
use policies::{BackendRule, InstalledBackend, MicrovmRule, VmAccelerator};
use spool::{RememberedProbe, RememberedProbes};

use crate::system;

/// A failed probe is not repeated for this long, in seconds.
const RETRY_SEC: i64 = 24 * 60 * 60;
/// The most characters of a reason.
const REASON_CHARS_MAX: usize = 300;
/// The first processor is described within these bytes of `/proc/cpuinfo`.
const CPUINFO_BYTES: u64 = 16 * 1024;

/// A virtual machine of the policy with its files on this host.
#[derive(Clone, Copy)]
pub(crate) struct ProbedMachine<'a> {
    pub(crate) rule: &'a BackendRule,
    pub(crate) microvm: &'a MicrovmRule,
    pub(crate) installed: &'a InstalledBackend,
}

/// The present knowledge about an accelerator.
#[derive(Clone, PartialEq, Eq, Debug)]
enum AcceleratorProof {
    Works,
    /// It failed, within the last day, for this reason.
    Fails(String),
    Untried,
}

/// The remembered probes, and the parts of this host on which their results depend.
pub(crate) struct AcceleratorEvidence {
    probes: RememberedProbes,
    kernel: String,
    processor: String,
    now: UtcTime,
    has_changed: bool,
}

impl AcceleratorEvidence {
    /// Reads the probes of a state directory, the kernel and the processor.
    pub(crate) fn read(state: &Path) -> Self {
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        let probes = RememberedProbes::read(state);
        Self { probes, kernel, processor: processor(), now: system::now(), has_changed: false }
    }

    /// Returns the accelerator to use, if one works, and the reason why it is not the first.
    pub(crate) fn choose(
        &self,
        machine: ProbedMachine<'_>,
    ) -> (Option<VmAccelerator>, Option<String>) {
        let mut passed_over = Vec::new();
        let mut chosen = None;
        for accelerator in &machine.microvm.accelerators {
            match self.proof(machine, *accelerator) {
                AcceleratorProof::Works => {
                    chosen = Some(*accelerator);
                    break;
                }
                AcceleratorProof::Fails(why) => {
                    passed_over.push(format!("{accelerator} booted no guest here: {why}"));
                }
                AcceleratorProof::Untried => {
                    passed_over.push(format!("{accelerator} was not tried here in the last day"));
                }
            }
        }
        (chosen, (!passed_over.is_empty()).then(|| passed_over.join("; ")))
    }

    /// Returns the accelerator that must be tried before one can be chosen.
    pub(crate) fn untried(&self, machine: ProbedMachine<'_>) -> Option<VmAccelerator> {
        let listed = machine.microvm.accelerators.iter().copied();
        let mut known = listed.map(|accelerator| (accelerator, self.proof(machine, accelerator)));
        let (accelerator, proof) =
            known.find(|(_, proof)| !matches!(proof, AcceleratorProof::Fails(_)))?;
        (proof == AcceleratorProof::Untried).then_some(accelerator)
    }

    /// Remembers the result of a probe, if the accelerator needs a proof.
    pub(crate) fn remember(
        &mut self,
        machine: ProbedMachine<'_>,
        accelerator: VmAccelerator,
        failure: Option<&str>,
    ) {
        if !needs_proof(accelerator) {
            return;
        }
        let short =
            |why: &str| -> String { escape_line(why).chars().take(REASON_CHARS_MAX).collect() };
        self.probes.put(RememberedProbe {
            backend: machine.rule.name().to_owned(),
            accelerator: accelerator.as_str().to_owned(),
            key: self.key(machine, accelerator).to_string(),
            at_utc: self.now.to_string(),
            failure: failure.map(short),
        });
        self.has_changed = true;
    }

    /// Writes the probes to a state directory. Without them, the next start repeats the probes.
    pub(crate) fn write_if_changed(&self, state: &Path) {
        if self.has_changed
            && let Err(error) = self.probes.write(state)
        {
            tracing::warn!("the results of the probes are not remembered: {error}");
        }
    }

    fn proof(&self, machine: ProbedMachine<'_>, accelerator: VmAccelerator) -> AcceleratorProof {
        if !needs_proof(accelerator) {
            return AcceleratorProof::Works;
        }
        let Some(probe) = self.probes.get(&self.key(machine, accelerator)) else {
            return AcceleratorProof::Untried;
        };
        match &probe.failure {
            None => AcceleratorProof::Works,
            Some(why) if self.is_recent(probe) => AcceleratorProof::Fails(escape_line(why)),
            Some(_) => AcceleratorProof::Untried,
        }
    }

    /// A time in the future is that of a clock that was set back.
    fn is_recent(&self, probe: &RememberedProbe) -> bool {
        let Ok(at) = probe.at_utc.parse::<UtcTime>() else { return false };
        (0..RETRY_SEC).contains(&self.now.unix().saturating_sub(at.unix()))
    }

    /// Returns the digest of everything that a result depends on.
    fn key(&self, machine: ProbedMachine<'_>, accelerator: VmAccelerator) -> Sha256 {
        let mut lines = vec![
            machine.rule.name().to_owned(),
            accelerator.as_str().to_owned(),
            machine.microvm.boot_sec.to_string(),
            machine.rule.memory_extra_mb().to_string(),
            self.kernel.clone(),
            self.processor.clone(),
        ];
        let files = machine.installed.files.iter();
        lines.extend(files.map(|file| format!("{} {}", file.role, file.sha256)));
        Sha256::of(lines.join("\n").as_bytes())
    }
}

/// QEMU's translator runs on every host; the policy alone decides about it.
fn needs_proof(accelerator: VmAccelerator) -> bool {
    accelerator == VmAccelerator::Kvm
}

/// Returns the model of the processor; empty if the kernel does not name it.
fn processor() -> String {
    let mut bytes = Vec::new();
    let read = File::open("/proc/cpuinfo")
        .and_then(|file| file.take(CPUINFO_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let named = |line: &str| line.starts_with("model name") || line.starts_with("CPU part");
    let line = text.lines().find(|line| named(line)).unwrap_or_default();
    line.split_once(':').map_or("", |(_, value)| value).trim().to_owned()
}
