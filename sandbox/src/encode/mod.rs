//! The codec of values in frames. Every list has a maximum length, and a value of a closed set is
//! its position. Input that does not match exactly is an error: nothing is skipped or defaulted.

mod plan;
mod report;
mod value;

pub(crate) use plan::{
    put_exec_spec, put_runtime_mounts, put_sandbox_spec, put_work_folder, take_exec_spec,
    take_runtime_mounts, take_sandbox_spec, take_work_folder,
};
pub(crate) use report::{
    GROUPS_MAX, put_accounting, put_confinement, put_effective_limits, put_final_report, put_marks,
    put_setup_failure, put_tool_end, take_accounting, take_confinement, take_effective_limits,
    take_final_report, take_marks, take_setup_failure, take_tool_end,
};
pub(crate) use value::{PATH_BYTES_MAX, put_value, take_value};

#[cfg(test)]
mod tests {
    use model::{Language, LauncherMode, Layer, LimitName, Mechanism, RejectReason};

    use super::value::{put_value, take_value};
    use crate::outcome::KillReason;
    use crate::plan::{ProcView, SandboxDevice, SandboxNetwork, TmpUse};
    use crate::report::BuildStep;
    use crate::wire::{FrameReader, FrameWriter};

    /// A launcher and a client of different versions would misread each other without an error.
    #[test]
    fn the_position_of_a_value_never_changes() {
        assert_eq!(
            KillReason::TEXTS,
            ["wall", "cpu", "memory", "stream", "cancelled", "violation"]
        );
        assert_eq!(ProcView::TEXTS, ["none", "pid", "full"]);
        assert_eq!(SandboxNetwork::TEXTS, ["nothing", "proxy"]);
        assert_eq!(SandboxDevice::TEXTS, ["nothing", "kvm"]);
        assert_eq!(TmpUse::TEXTS, ["data", "programs"]);
        assert_eq!(LauncherMode::TEXTS, ["system", "user"]);
        assert_eq!(Language::TEXTS, ["python", "node", "ts", "go", "ruby"]);
        let layers = ["user_namespace", "namespaces", "mounts", "landlock.fs", "seccomp"];
        assert_eq!(Layer::TEXTS, [&layers[..], &["capabilities", "cgroup"]].concat());
        let mechanisms = ["cgroup v1", "cgroup v1 and v2", "cgroup v2", "rlimit", "sampled"];
        assert_eq!(Mechanism::TEXTS, [&mechanisms[..], &["affinity", "timer", "tmpfs"]].concat());
        let limits = ["wall_ms_max", "cpu_ms_max", "cpu_milli", "memory_bytes_max", "pids_max"];
        let sizes = ["open_files_max", "file_bytes_max", "out_bytes_max", "tmp_bytes_max"];
        let rest = ["shm_bytes_max", "out_inodes_max"];
        assert_eq!(LimitName::TEXTS, [&limits[..], &sizes, &rest].concat());
        let kinds = ["symlink", "hardlink", "fifo", "socket", "device"];
        let names = ["name-not-utf8", "name-control", "name-too-long"];
        let sizes = ["too-deep", "too-many", "too-big", "sparse", "unreadable", "reserved"];
        assert_eq!(RejectReason::TEXTS, [&kinds[..], &names, &sizes].concat());
        let steps = ["asked", "furnished", "heard", "mounted", "stripped", "witnessed"];
        assert_eq!(BuildStep::TEXTS, [&steps[..], &["landlocked", "filtered", "probed"]].concat());
    }

    #[test]
    fn a_value_is_written_as_its_position() {
        for (position, value) in LimitName::ALL.iter().enumerate() {
            let mut writer = FrameWriter::default();
            put_value(&mut writer, *value);
            let mut expected = FrameWriter::default();
            expected.count(position);
            let bytes = writer.into_bytes();
            assert_eq!(bytes, expected.into_bytes());
            assert_eq!(take_value::<LimitName>(&mut FrameReader::new(&bytes)).unwrap(), *value);
        }
        let mut beyond = FrameWriter::default();
        beyond.count(LimitName::ALL.len());
        assert!(take_value::<LimitName>(&mut FrameReader::new(&beyond.into_bytes())).is_err());
    }
}
