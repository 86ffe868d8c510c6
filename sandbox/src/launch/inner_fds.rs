//! Descriptors opened inside the sandbox, by which the launcher watches it from outside. The
//! launcher resolves only the kernel's own names in `/proc` beneath them; the collector resolves
//! others, with the tool's rights. The sizes of the tool's directories are set through them, with
//! the command, when no process inside may mount any more.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::{LimitName, Mechanism};
use rustix::fs::fstatvfs;
use rustix::mount::{FsPickFlags, fsconfig_reconfigure, fsconfig_set_string, fspick};

use crate::plan::Limits;
use crate::report::EffectiveLimit;

/// Kernel memory for an empty file.
const INODE_BYTES: u64 = 1024;

pub(super) struct InnerFds {
    proc_dir: OwnedFd,
    out: OwnedFd,
    tmp: OwnedFd,
    shm: OwnedFd,
    inputs: OwnedFd,
}

pub(super) struct OutUsage {
    pub(super) bytes: u64,
    pub(super) full: bool,
    /// `/out` contains nothing, not even a directory.
    pub(super) empty: bool,
}

impl InnerFds {
    /// The paths of these descriptors inside the sandbox, in the order in which init sends them.
    pub(super) const PATHS: [&str; 5] = ["/proc", "/out", "/tmp", "/dev/shm", "/in"];

    pub(super) fn from_fds(fds: Vec<OwnedFd>) -> Option<Self> {
        let [proc_dir, out, tmp, shm, inputs] = <[OwnedFd; 5]>::try_from(fds).ok()?;
        Some(Self { proc_dir, out, tmp, shm, inputs })
    }

    pub(super) fn proc_dir(&self) -> &OwnedFd {
        &self.proc_dir
    }

    pub(super) fn out(&self) -> BorrowedFd<'_> {
        self.out.as_fd()
    }

    /// Returns the read-only `/in`.
    pub(super) fn inputs(&self) -> BorrowedFd<'_> {
        self.inputs.as_fd()
    }

    /// Sets the sizes of the tool's directories and reads them back.
    pub(super) fn set_sizes(&self, limits: &Limits) -> io::Result<Vec<EffectiveLimit>> {
        let inodes = u64::from(limits.out_inodes_max);
        let places = [
            (&self.out, limits.out_bytes_max),
            (&self.tmp, limits.tmp_bytes_max),
            (&self.shm, limits.shm_bytes_max),
        ];
        for (place, bytes) in places {
            let flags = FsPickFlags::FSPICK_CLOEXEC | FsPickFlags::FSPICK_EMPTY_PATH;
            let picked = fspick(place, "", flags)?;
            fsconfig_set_string(&picked, "size", bytes.to_string())?;
            fsconfig_set_string(&picked, "nr_inodes", inodes.to_string())?;
            fsconfig_reconfigure(&picked)?;
        }
        let row = |name, requested, effective| EffectiveLimit {
            name,
            mechanism: Mechanism::Tmpfs,
            requested,
            effective,
        };
        let size = |place: &OwnedFd| fstatvfs(place).map(|stat| stat.f_blocks * stat.f_frsize);
        Ok(vec![
            row(LimitName::OutBytes, limits.out_bytes_max, size(&self.out)?),
            row(LimitName::OutInodes, inodes, fstatvfs(&self.out)?.f_files),
            row(LimitName::TmpBytes, limits.tmp_bytes_max, size(&self.tmp)?),
            row(LimitName::ShmBytes, limits.shm_bytes_max, size(&self.shm)?),
        ])
    }

    /// Returns the memory of the tool's files, including kernel memory for each, in bytes.
    pub(super) fn memory_bytes(&self) -> io::Result<u64> {
        let mut sum = 0;
        for place in [&self.out, &self.tmp, &self.shm] {
            let stat = fstatvfs(place)?;
            sum += stat.f_blocks.saturating_sub(stat.f_bfree) * stat.f_frsize;
            sum += stat.f_files.saturating_sub(stat.f_ffree) * INODE_BYTES;
        }
        Ok(sum)
    }

    pub(super) fn out_use(&self) -> io::Result<OutUsage> {
        let stat = fstatvfs(&self.out)?;
        Ok(OutUsage {
            bytes: stat.f_blocks.saturating_sub(stat.f_bfree) * stat.f_frsize,
            // tmpfs fails a write before its last page is used: one free page means full.
            full: stat.f_bfree <= 1 || stat.f_ffree == 0,
            // The directory itself has an inode.
            empty: stat.f_files.saturating_sub(stat.f_ffree) <= 1,
        })
    }
}
