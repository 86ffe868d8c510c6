//! The virtual machine that runs the tool of a request: its command line, and the limits of the
//! sandbox around it. It must never pass anything of the request but its limits and the words of
//! its command, and the guest must never have more than the request asks for.

use validator::Request;

use crate::backends::{
    BackendRule, GrantedBackend, GrantedMachine, InstalledBackend, MACHINE_REPORT_FILE,
    MicrovmRoot, MicrovmRule, VmAccelerator,
};
use crate::limits::{Ceilings, GrantedLimits};

const MIB: u64 = 1 << 20;
/// 100 percent, in thousandths of a percent.
const ONE_HUNDRED_PERCENT: u64 = 100_000;

/// A smaller guest does not boot and run an interpreter.
const GUEST_MEMORY_MB_MIN: u64 = 128;
/// The most memory that the wrapper can give to a guest.
const GUEST_MEMORY_MB_MAX: u64 = 1 << 20;
/// `/out` of the sandbox also holds the report, which has at most this size.
const REPORT_BYTES_MAX: u64 = 2 * MIB;
/// The threads of QEMU (64 of which only write to disks) and of the wrapper.
const SANDBOX_PIDS_MIN: u64 = 96;
/// The descriptors of QEMU.
const SANDBOX_FILES_MIN: u64 = 128;
/// The time for the end of QEMU, and to copy the files.
const END_SEC: u64 = 2;
/// The time to make the disks, besides that for the bytes of `/in`.
const DISKS_SEC: u64 = 5;
/// The bytes of `/in` that become an image in one second.
const IMAGE_BYTES_PER_SEC: u64 = 64 * MIB;
/// The guest archives `/out` in the time of a boot, but not less than this, and in that for its
/// bytes. The wrapper limits it to the same sum: `MachineLimits::archive_time`.
const ARCHIVE_SEC_MIN: u64 = 10;
const ARCHIVE_BYTES_PER_SEC: u64 = 4 * MIB;
/// The headers of an entry of the archive, and the padding after its content.
const ENTRY_BYTES: u64 = 1024;
/// The end mark of the archive.
const ARCHIVE_END_BYTES: u64 = 64 * 1024;

/// The directory of the guest's files in the sandbox.
const FILES_DIR: &str = "/cache/microvm";

/// The virtual machine of a run, as the policy and this host have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChosenMachine<'a> {
    pub(crate) rule: &'a BackendRule,
    pub(crate) microvm: &'a MicrovmRule,
    pub(crate) root: &'a MicrovmRoot,
    pub(crate) installed: &'a InstalledBackend,
    pub(crate) accelerator: VmAccelerator,
    pub(crate) ceilings: &'a Ceilings,
}

/// The memory of a guest and of its `/out`, which the sandbox holds a second time as an archive.
/// The headers of the archive have their own share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachineMemory {
    pub(crate) guest_mb: u64,
    pub(crate) out_bytes: u64,
}

impl MachineMemory {
    /// Returns the shares of a request's memory, or the MiB that a request needs at least.
    pub(crate) fn of(
        request: &Request,
        rule: &BackendRule,
        ceilings: &Ceilings,
    ) -> Result<Self, u64> {
        let whole = ceilings.out_milli_percent.saturating_add(ONE_HUNDRED_PERCENT);
        let headers = ceilings.out_inodes.saturating_mul(ENTRY_BYTES).div_ceil(MIB);
        let extra_mb = rule.memory_extra_mb().saturating_add(headers);
        let left = request.memory_limit_mb().saturating_sub(extra_mb);
        let guest_mb = left.saturating_mul(ONE_HUNDRED_PERCENT) / whole;
        if guest_mb < GUEST_MEMORY_MB_MIN {
            let least = GUEST_MEMORY_MB_MIN.saturating_mul(whole).div_ceil(ONE_HUNDRED_PERCENT);
            return Err(least.saturating_add(extra_mb));
        }
        let guest_mb = guest_mb.min(GUEST_MEMORY_MB_MAX);
        let share = guest_mb.saturating_mul(MIB).saturating_mul(ceilings.out_milli_percent);
        // No file of the tool is larger than all of them.
        let out_bytes = (share / ONE_HUNDRED_PERCENT).min(ceilings.file_bytes).max(1);
        Ok(Self { guest_mb, out_bytes })
    }
}

impl ChosenMachine<'_> {
    /// Returns the shares. A request that needs more was refused before.
    fn memory(&self, request: &Request) -> MachineMemory {
        MachineMemory::of(request, self.rule, self.ceilings)
            .unwrap_or(MachineMemory { guest_mb: GUEST_MEMORY_MB_MIN, out_bytes: 1 })
    }

    /// Returns the seconds of the sandbox besides those of the tool. The time of the boot includes
    /// that of the request.
    fn start_sec(&self, request: &Request) -> u64 {
        let boot = self.microvm.boot_sec;
        let memory_bytes = request.memory_limit_mb().saturating_mul(MIB);
        let image = self.ceilings.input_bytes.min(memory_bytes) / IMAGE_BYTES_PER_SEC;
        let bytes = self.memory(request).out_bytes / ARCHIVE_BYTES_PER_SEC;
        [DISKS_SEC, image, boot, boot.max(ARCHIVE_SEC_MIN), bytes, END_SEC]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    pub(crate) fn granted(&self, request: &Request) -> GrantedBackend {
        let root = format!("root-{}", self.root.name);
        let files = self.installed.files.iter();
        let files = files.filter(|file| !file.role.starts_with("root-") || file.role == root);
        GrantedBackend {
            name: self.rule.name().to_owned(),
            kind: self.rule.kind(),
            program: Some(self.installed.program.clone()),
            files: files.cloned().collect(),
            machine: Some(GrantedMachine {
                accelerator: self.accelerator,
                root: self.root.name.clone(),
                memory_mb: self.memory(request).guest_mb,
                time_ms: request.time_limit_sec().saturating_mul(1000),
                start_ms: self.start_sec(request).saturating_mul(1000),
            }),
        }
    }

    /// Returns the words for the wrapper, and after them those of the tool.
    pub(crate) fn argv(&self, request: &Request) -> Vec<String> {
        let memory = self.memory(request);
        let time_ms = request.time_limit_sec().saturating_mul(1000);
        let options = [
            ("--files", FILES_DIR.to_owned()),
            ("--root", self.root.name.clone()),
            ("--accel", self.accelerator.as_str().to_owned()),
            ("--memory-mb", memory.guest_mb.to_string()),
            ("--boot-sec", self.microvm.boot_sec.to_string()),
            ("--time-ms", time_ms.to_string()),
            ("--out-bytes", memory.out_bytes.to_string()),
            ("--out-inodes", self.guest_inodes().to_string()),
            ("--artifacts", self.ceilings.artifacts.to_string()),
            ("--pids", self.ceilings.pids.to_string()),
            ("--report", format!("/out/{MACHINE_REPORT_FILE}")),
        ];
        let words = [self.installed.program.display().to_string(), "run".to_owned()];
        let options = options.into_iter().flat_map(|(key, value)| [key.to_owned(), value]);
        let (word, rest) = request.argv().split_at(request.argv().len().min(1));
        let program = word.first().and_then(|word| self.root.programs.get(word)).cloned();
        words
            .into_iter()
            .chain(options)
            .chain(["--".to_owned()])
            .chain(program)
            .chain(rest.iter().cloned())
            .collect()
    }

    /// Returns the files and directories of the guest's `/out`: one less, for the report.
    fn guest_inodes(&self) -> u64 {
        self.ceilings.out_inodes.saturating_sub(1).max(1)
    }

    /// Changes the limits of a request to those of the sandbox, in which QEMU and the wrapper also
    /// start the guest, keep its disks, and write the report. The memory stays that of the request.
    pub(crate) fn limits(&self, request: &Request, granted: GrantedLimits) -> GrantedLimits {
        let out_bytes = self.memory(request).out_bytes;
        let headers = self.guest_inodes().saturating_mul(ENTRY_BYTES);
        let disk = out_bytes.saturating_add(headers).saturating_add(ARCHIVE_END_BYTES);
        let start_sec = self.start_sec(request);
        let inputs = granted.input_bytes.min(granted.memory_bytes);
        GrantedLimits {
            time_sec: granted.time_sec.saturating_add(start_sec),
            cpu_time_ms: granted
                .cpu_time_ms
                .saturating_add(granted.cpu_milli.saturating_mul(start_sec)),
            pids: granted.pids.max(SANDBOX_PIDS_MIN),
            open_files: granted.open_files.max(SANDBOX_FILES_MIN),
            file_bytes: granted.file_bytes.max(disk),
            out_bytes: out_bytes.saturating_add(REPORT_BYTES_MAX).min(granted.memory_bytes),
            tmp_bytes: disk.saturating_add(inputs).min(granted.memory_bytes),
            artifacts: granted.artifacts.saturating_add(1),
            ..granted
        }
    }
}
