//! The codec of the values in frames: sandbox specs, commands, confinement and usage.
//!
//! Every list has a maximum length, and a value of a closed set is encoded as its position in the
//! set. Input that does not match exactly is an error; nothing is skipped or defaulted.

mod plan;
mod report;
mod value;

pub(crate) use plan::{
    put_cell_plan, put_furnishings, put_order, take_cell_plan, take_furnishings, take_order,
};
pub(crate) use report::{
    GROUPS_MAX, put_accounting, put_confinement, put_ending, put_limits_in_force, put_marks,
    put_tool_end, put_unable, take_accounting, take_confinement, take_ending, take_limits_in_force,
    take_marks, take_tool_end, take_unable,
};
pub(crate) use value::{PATH_BYTES_MAX, put_value, take_value};

#[cfg(test)]
mod tests {
    use model::{Language, Layer, LimitName, Mechanism, Mode, RejectReason};

    use super::value::{put_value, take_value};
    use crate::outcome::Killed;
    use crate::plan::{Network, ProcView, TmpUse};
    use crate::report::Step;
    use crate::wire::{Reader, Writer};

    /// A launcher and a client of different versions would misread each other without an error.
    #[test]
    fn the_position_of_a_value_never_changes() {
        assert_eq!(Killed::TEXTS, ["wall", "cpu", "memory", "stream", "cancelled", "violation"]);
        assert_eq!(ProcView::TEXTS, ["none", "pid", "full"]);
        assert_eq!(Network::TEXTS, ["nothing", "proxy"]);
        assert_eq!(TmpUse::TEXTS, ["data", "programs"]);
        assert_eq!(Mode::TEXTS, ["system", "user"]);
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
        let sizes = ["too-deep", "too-many", "too-big", "sparse", "unreadable"];
        assert_eq!(RejectReason::TEXTS, [&kinds[..], &names, &sizes].concat());
        let steps = ["asked", "furnished", "heard", "mounted", "stripped", "witnessed"];
        assert_eq!(Step::TEXTS, [&steps[..], &["landlocked", "filtered", "probed"]].concat());
    }

    #[test]
    fn a_value_is_written_as_its_position() {
        for (position, value) in LimitName::ALL.iter().enumerate() {
            let mut writer = Writer::default();
            put_value(&mut writer, *value);
            let mut expected = Writer::default();
            expected.count(position);
            let bytes = writer.into_bytes();
            assert_eq!(bytes, expected.into_bytes());
            assert_eq!(take_value::<LimitName>(&mut Reader::new(&bytes)).unwrap(), *value);
        }
        let mut beyond = Writer::default();
        beyond.count(LimitName::ALL.len());
        assert!(take_value::<LimitName>(&mut Reader::new(&beyond.into_bytes())).is_err());
    }
}
