//! The device that a plan may ask for besides those of every sandbox: the host's `/dev/kvm`. The
//! launcher checks it by handle. A sandbox that did not ask for it must never have the node, a
//! Landlock rule or a filter rule for it.
//!
//! No process here may override the mode of the node. In system mode the tool gets the node's group
//! if only that group may use it; in user mode it has the groups of its user.

use std::os::fd::OwnedFd;
use std::path::Path;

use model::LauncherMode;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, major, minor, open};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use super::Failed;
use crate::plan::{SandboxDevice, SandboxSpec};

/// The path of the node, on the host and in the sandbox.
pub(super) const KVM: &str = "/dev/kvm";

/// linux/miscdevice.h: the numbers of the node.
const KVM_NUMBERS: (u32, u32) = (10, 232);

/// Read and write, of the group and of others.
const GROUP_USES: u32 = 0o060;
const OTHERS_USE: u32 = 0o006;
const PERMISSIONS: u32 = 0o777;

/// Returns whether this handle is of the node, and not of another object at its path.
pub(super) fn is_kvm(node: &OwnedFd) -> bool {
    fstat(node).is_ok_and(|found| is_kvm_node(&found))
}

fn is_kvm_node(found: &Stat) -> bool {
    let is_device = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice;
    is_device && (major(found.st_rdev), minor(found.st_rdev)) == KVM_NUMBERS
}

/// Clones the node of the launcher's own root, for the sandbox's init to attach.
pub(super) fn kvm_tree() -> Result<OwnedFd, Failed> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    match open_tree(CWD, KVM, flags) {
        Ok(tree) if is_kvm(&tree) => Ok(tree),
        Ok(_) => Err(Failed::here("/dev/kvm: not the device 10:232")),
        Err(Errno::NOENT) => {
            Err(Failed::here("/dev/kvm: the host had no such device when the launcher started"))
        }
        Err(errno) => Err(errno).map_err(Failed::at("clone /dev/kvm")),
    }
}

/// The further device of a sandbox, as its init sees it.
pub(super) struct ToolDevice {
    mode: u32,
    gid: u32,
}

impl ToolDevice {
    /// Reads the attached node, while init still has its rights. `None` if the plan has no device.
    pub(super) fn of(plan: &SandboxSpec) -> Result<Option<Self>, Failed> {
        match plan.device {
            SandboxDevice::Nothing => Ok(None),
            SandboxDevice::Kvm => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let node = open(Path::new(KVM), flags, Mode::empty())
                    .map_err(Failed::at("find /dev/kvm in the sandbox"))?;
                let found = fstat(&node).map_err(Failed::at("stat /dev/kvm"))?;
                if !is_kvm_node(&found) {
                    return Err(Failed::here("/dev/kvm: not the device 10:232"));
                }
                Ok(Some(Self { mode: found.st_mode & PERMISSIONS, gid: found.st_gid }))
            }
        }
    }

    /// Returns the group that the tool gets in system mode. It is never root's.
    pub(super) fn group(&self, mode: LauncherMode) -> Option<u32> {
        let is_needed = self.mode & OTHERS_USE != OTHERS_USE;
        let is_enough = self.mode & GROUP_USES == GROUP_USES && self.gid != 0;
        (mode == LauncherMode::System && is_needed && is_enough).then_some(self.gid)
    }

    /// Opens the node and closes it, as the tool's user. The guest of a tool that may not open it
    /// would fail much later.
    pub(super) fn require_access(&self) -> Result<(), Failed> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let step = format!("open /dev/kvm as the tool's user: its mode is {:04o}", self.mode);
        open(Path::new(KVM), flags, Mode::empty()).map(drop).map_err(Failed::at(&step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_group_that_may_use_the_node_is_given() {
        let group = |mode, gid| ToolDevice { mode, gid }.group(LauncherMode::System);
        assert_eq!(group(0o660, 107), Some(107));
        assert_eq!(group(0o664, 107), Some(107));
        for (mode, gid) in [(0o660, 0), (0o600, 107), (0o640, 107), (0o666, 107), (0o606, 107)] {
            assert_eq!(group(mode, gid), None, "{mode:o} {gid}");
        }
        assert_eq!(ToolDevice { mode: 0o660, gid: 107 }.group(LauncherMode::User), None);
    }

    #[test]
    fn another_node_is_not_kvm() {
        let open_path = |path: &str| open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        for path in ["/dev/null", "/dev", "/proc/self/exe"] {
            assert!(!is_kvm(&open_path(path).unwrap()), "{path}");
        }
    }
}
