//! The steps of setting up a sandbox. A process of the launcher carries the step that it is at as its own
//! name (prctl(2), `PR_SET_NAME`), so that others can name the step of a process that answers nobody.

use std::ffi::CStr;
use std::fmt;

/// One step; those of the launcher, of a slot and of the sandbox's init follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetupStep {
    BaseRoot,
    FindCgroups,
    OuterFilter,
    Namespaces,
    MakeCgroups,
    BaseMounts,
    StartInit,
    OpenInputs,
    CloneRuntime,
    MakeNetwork,
    AwaitInit,
    SetLimits,
    JoinCgroups,
    PrivateMounts,
    MountRuntime,
    DropRights,
    Landlock,
    LoadFilter,
    SelfTest,
}

/// The name of a process that is at none of them.
const AT_NO_STEP: &CStr = c"toolexec-launch";

impl SetupStep {
    const ALL: [Self; 19] = [
        Self::BaseRoot,
        Self::FindCgroups,
        Self::OuterFilter,
        Self::Namespaces,
        Self::MakeCgroups,
        Self::BaseMounts,
        Self::StartInit,
        Self::OpenInputs,
        Self::CloneRuntime,
        Self::MakeNetwork,
        Self::AwaitInit,
        Self::SetLimits,
        Self::JoinCgroups,
        Self::PrivateMounts,
        Self::MountRuntime,
        Self::DropRights,
        Self::Landlock,
        Self::LoadFilter,
        Self::SelfTest,
    ];

    /// The process name; the kernel keeps 15 bytes.
    fn name(self) -> &'static CStr {
        match self {
            Self::BaseRoot => c"tel-base-root",
            Self::FindCgroups => c"tel-find-cgroup",
            Self::OuterFilter => c"tel-outer-filt",
            Self::Namespaces => c"tel-namespaces",
            Self::MakeCgroups => c"tel-make-cgroup",
            Self::BaseMounts => c"tel-base-mounts",
            Self::StartInit => c"tel-start-init",
            Self::OpenInputs => c"tel-open-inputs",
            Self::CloneRuntime => c"tel-clone-rt",
            Self::MakeNetwork => c"tel-network",
            Self::AwaitInit => c"tel-await-init",
            Self::SetLimits => c"tel-set-limits",
            Self::JoinCgroups => c"tel-join-cgroup",
            Self::PrivateMounts => c"tel-priv-mounts",
            Self::MountRuntime => c"tel-mount-rt",
            Self::DropRights => c"tel-drop-rights",
            Self::Landlock => c"tel-landlock",
            Self::LoadFilter => c"tel-load-filter",
            Self::SelfTest => c"tel-self-test",
        }
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name().to_bytes() == name.as_bytes())
    }

    /// Names this process after the step. A kernel that refuses only costs the name.
    pub(crate) fn begin(self) {
        nix::sys::prctl::set_name(self.name()).unwrap_or_default();
    }

    /// Names this process as before the first step.
    pub(crate) fn end() {
        nix::sys::prctl::set_name(AT_NO_STEP).unwrap_or_default();
    }
}

impl fmt::Display for SetupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BaseRoot => "make the launcher's root",
            Self::FindCgroups => "find the control groups",
            Self::OuterFilter => "load the launcher's filter",
            Self::Namespaces => "enter the namespaces",
            Self::MakeCgroups => "make control groups",
            Self::BaseMounts => "mount the base of the sandbox",
            Self::StartInit => "start the sandbox's init",
            Self::OpenInputs => "open the staging slot",
            Self::CloneRuntime => "clone the runtime's mounts",
            Self::MakeNetwork => "make the sandbox's network",
            Self::AwaitInit => "wait for the sandbox's init",
            Self::SetLimits => "set the limits",
            Self::JoinCgroups => "join the control groups",
            Self::PrivateMounts => "mount the sandbox's own file systems",
            Self::MountRuntime => "mount the runtime",
            Self::DropRights => "drop all rights",
            Self::Landlock => "restrict files with Landlock",
            Self::LoadFilter => "load the filter",
            Self::SelfTest => "test the confinement",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_name_of_its_own_that_the_kernel_keeps() {
        for step in SetupStep::ALL {
            let name = step.name().to_str().unwrap();
            assert!(name.len() <= 15, "{name}");
            assert_eq!(SetupStep::of_name(name), Some(step));
        }
        assert!(SetupStep::ALL.len() == SetupStep::SelfTest as usize + 1);
        assert_eq!(SetupStep::of_name("toolexec-launch"), None);
    }
}
