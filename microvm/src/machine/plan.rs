//! All that one run needs: files, directories, limits, and the tool.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::accelerator::GuestAccelerator;
use crate::archive::ArchiveLimits;
use crate::outcome::{GuestHalt, GuestOutcome};
use crate::protocol::GuestRequest;

/// The programs that the wrapper starts.
#[derive(Clone, Debug)]
pub struct MachinePrograms {
    /// `qemu-system-x86_64`.
    pub qemu: PathBuf,
    /// `mkfs.erofs`.
    pub mkfs: PathBuf,
}

/// The limits of one run.
#[derive(Clone, Copy, Debug)]
pub struct MachineLimits {
    /// The memory of the guest, in MiB.
    pub memory_mb: u32,
    /// From QEMU's start to the start of the tool.
    pub boot: Duration,
    /// From the start of the tool to its end.
    pub time: Duration,
    /// The bytes of `/out`.
    pub out_bytes: u64,
    /// The files and directories of `/out`.
    pub out_inodes: u64,
    /// The files that are kept of `/out`.
    pub artifacts: u64,
    /// The processes and threads of the tool.
    pub pids: u64,
}

impl MachineLimits {
    /// From the end of the tool to the end of its archive: a slow guest writes 4 MiB in a second.
    pub(crate) fn archive_time(&self) -> Duration {
        self.boot.max(Duration::from_secs(10)) + Duration::from_secs(self.out_bytes >> 22)
    }

    pub(crate) fn archive(&self) -> ArchiveLimits {
        ArchiveLimits { entries: self.out_inodes, bytes: self.out_bytes }
    }

    /// The size of the raw disk. Headers, padding and end mark make an archive larger than `/out`;
    /// on a disk of equal size the end would be lost.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let overhead = self.out_inodes.saturating_mul(1024).saturating_add(10 * 1024);
        self.out_bytes.saturating_add(overhead).min(1 << 50).next_multiple_of(512)
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct MachinePlan {
    /// The programs.
    pub programs: MachinePrograms,
    /// The directory with kernel, initramfs and root images.
    pub files: PathBuf,
    /// The name of the root image: `python` is the file `root-python`.
    pub root: String,
    /// The accelerator.
    pub accelerator: GuestAccelerator,
    /// The limits.
    pub limits: MachineLimits,
    /// `/in` of the sandbox.
    pub in_dir: PathBuf,
    /// `/out` of the sandbox.
    pub out_dir: PathBuf,
    /// The directory for the disks.
    pub work: PathBuf,
    /// The program and its arguments. Without a program the run is a probe.
    pub argv: Vec<OsString>,
    /// The environment of the tool.
    pub env: Vec<(OsString, OsString)>,
}

impl MachinePlan {
    pub(crate) fn kernel(&self) -> PathBuf {
        self.files.join("kernel")
    }

    pub(crate) fn initrd(&self) -> PathBuf {
        self.files.join("initrd")
    }

    pub(crate) fn root_image(&self) -> PathBuf {
        self.files.join(format!("root-{}", self.root))
    }

    /// Checks that all files of the guest exist.
    pub(crate) fn check_files(&self) -> Result<(), GuestHalt> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !self.root.chars().all(is_name) {
            let why = format!("root image {:?}: the name is not valid", self.root);
            return Err(GuestHalt::new(GuestOutcome::WrapperFailed, why));
        }
        for file in [self.kernel(), self.initrd(), self.root_image()] {
            if !file.is_file() {
                let help = "build the guest as docs/microvm.md says";
                let why = format!("{}: no such file; help: {help}", file.display());
                return Err(GuestHalt::new(GuestOutcome::WrapperFailed, why));
            }
        }
        Ok(())
    }

    pub(crate) fn request(&self) -> Result<Vec<u8>, GuestHalt> {
        let request = GuestRequest {
            out_bytes: self.limits.out_bytes,
            out_inodes: self.limits.out_inodes,
            pids: self.limits.pids,
            argv: self.argv.clone(),
            env: self.env.clone(),
        };
        request.encode().ok_or_else(|| {
            let why = "arguments and environment: longer than 128 KiB; help: use a file in /in";
            GuestHalt::new(GuestOutcome::WrapperFailed, why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(boot_sec: u64, out_bytes: u64) -> MachineLimits {
        MachineLimits {
            memory_mb: 64,
            boot: Duration::from_secs(boot_sec),
            time: Duration::from_secs(1),
            out_bytes,
            out_inodes: 3,
            artifacts: 3,
            pids: 1,
        }
    }

    /// The policy gives the sandbox this time too: see its test `the_sandbox_outlives_the_guest`.
    #[test]
    fn an_archive_has_the_time_of_a_boot_and_of_its_bytes() {
        assert_eq!(limits(20, 296_222_720).archive_time(), Duration::from_secs(90));
        assert_eq!(limits(1, 1).archive_time(), Duration::from_secs(10));
    }

    #[test]
    fn the_disk_has_space_for_headers_padding_and_a_last_page() {
        let disk = limits(1, 1).disk_bytes();
        assert_eq!(disk % 512, 0);
        assert!(disk >= 4096 + 3 * 1024 + 1024, "{disk}");
    }
}
