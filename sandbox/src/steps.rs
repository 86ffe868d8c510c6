//! The steps of setting up a sandbox. Each launcher process has its current step as its process
//! name (prctl(2), `PR_SET_NAME`), so that others can report the step of one that does not respond.

use std::ffi::CStr;

model::closed_set! {
    /// One step of the launcher, of a worker or of the sandbox's init, in order.
    pub(crate) enum SetupStep {
        BaseRoot = "make the launcher's root",
        FindCgroups = "find the control groups",
        OuterFilter = "load the launcher's filter",
        Namespaces = "enter the namespaces",
        MakeCgroups = "make control groups",
        BaseMounts = "mount the base of the sandbox",
        StartInit = "start the sandbox's init",
        OpenInputs = "open the staging slot",
        CloneRuntime = "clone the runtime's mounts",
        MakeNetwork = "make the sandbox's network",
        AwaitInit = "wait for the sandbox's init",
        SetLimits = "set the limits",
        CopyWork = "copy the folder to /out/work",
        JoinCgroups = "join the control groups",
        PrivateMounts = "mount the sandbox's own file systems",
        MountRuntime = "mount the runtime",
        DropRights = "drop all rights",
        Landlock = "restrict files with Landlock",
        LoadFilter = "load the filter",
        SelfTest = "test the confinement",
    }
}

/// The process name outside of any step.
const AT_NO_STEP: &CStr = c"toolexec-launch";

impl SetupStep {
    /// Returns the process name; the kernel keeps 15 bytes.
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
            Self::CopyWork => c"tel-copy-work",
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
        Self::ALL.iter().copied().find(|step| step.name().to_bytes() == name.as_bytes())
    }

    /// Names this process after the step. If the kernel refuses, only the name is lost.
    pub(crate) fn begin(self) {
        nix::sys::prctl::set_name(self.name()).unwrap_or_default();
    }

    pub(crate) fn end() {
        nix::sys::prctl::set_name(AT_NO_STEP).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_names_are_unique_and_fit_the_kernel() {
        for &step in SetupStep::ALL {
            let name = step.name().to_str().unwrap();
            assert!(name.len() <= 15, "{name}");
            assert_eq!(SetupStep::of_name(name), Some(step));
        }
        assert_eq!(SetupStep::of_name("toolexec-launch"), None);
    }
}
