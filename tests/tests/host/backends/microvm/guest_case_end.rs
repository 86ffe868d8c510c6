//! The end of a hostile case in a guest: what the driver saw, and whether the case is contained.

use toolexec_tests::slowdown::time_factor;

/// Cases that reach an object which a plain sandbox hides, or exceed a limit that only a plain
/// sandbox has. In a guest the object belongs to the run.
const OWN_OBJECTS: [(&str, &str); 11] = [
    ("files/kallsyms", "names of the guest's kernel"),
    ("files/kernel_command_line", "the command line of the guest's kernel"),
    ("files/list_root", "the names in the root image"),
    ("files/oom_score", "the order in which the guest kills the tool's processes"),
    ("files/proc_pids", "the processes of the guest"),
    ("files/uid_map", "the tool's own map, which the guest's kernel then refuses"),
    ("identity/killed_first", "the order in which the guest kills the tool's processes"),
    ("limits/file_bytes", "a file of 12 MiB in the tool's own /tmp"),
    ("limits/pipes_hidden", "pipes, as many as the guest's kernel gives to one user"),
    ("network/hosts_elsewhere", "nothing: the case expects the proxy's refusals"),
    ("processes/kill_by_number", "the processes of the guest"),
];

/// Cases of which the driver may read no verdict. They print none, or can be killed before. Or the
/// verdict comes behind a NUL byte, or behind more bytes than the driver keeps.
const WITHOUT_VERDICT: [&str; 26] = [
    "files/writable",
    "identity/descriptors",
    "ipc/python_lock",
    "limits/socket_buffers",
    "limits/sysv_messages",
    "limits/thread_descriptors",
    "processes/abort",
    "processes/alarm",
    "processes/core_dump",
    "processes/exec_in_thread",
    "processes/exit_255",
    "processes/exit_256",
    "processes/fake_sigkill",
    "processes/fake_sigsys",
    "processes/kill_group",
    "processes/self_real_time_signal",
    "processes/self_sighup",
    "processes/self_sigkill",
    "processes/self_sigpipe",
    "processes/self_sigterm",
    "streams/closed",
    "streams/long_line",
    "streams/nul_bytes",
    "streams/stderr_flood",
    "streams/stdout_flood",
    "syscalls/user_dispatch",
];

/// Cases that take about as long as the driver waits, or never end. Those of `limits/` are others.
const LONG: [&str; 12] = [
    "ipc/fcntl_pair",
    "ipc/flock_runtime_pair",
    "network/hosts_bind",
    "network/hosts_connections",
    "processes/block_signals",
    "processes/ignore_sigterm",
    "processes/stop_itself",
    "processes/thread_leader_gone",
    "processes/vfork_hang",
    "streams/both_flood",
    "streams/stderr_flood",
    "streams/stdout_flood",
];

/// The driver's status for a program that it could not execute. No case ends with it.
const NOT_STARTED: i64 = 127;
/// SIGBUS and SIGKILL: the guest has no more memory.
const NO_MEMORY: [i64; 2] = [128 + 7, 128 + 9];

/// The end of a case, as the driver saw it.
#[derive(Clone, Debug)]
pub(super) struct GuestCaseEnd {
    /// The worst verdict that the case printed, or nothing.
    pub(super) verdict: String,
    pub(super) status: i64,
    /// The driver ended it after six seconds.
    pub(super) late: bool,
}

impl GuestCaseEnd {
    /// The guest had no more memory, and its kernel killed the case and the driver.
    pub(super) const fn with_its_driver() -> Self {
        Self { verdict: String::new(), status: 128 + 9, late: false }
    }

    /// Returns a text for the table, or why the case of this name is not contained. A call that
    /// succeeds is one of the guest's kernel: the boundary to the host is QEMU's.
    pub(super) fn judge(&self, name: &str) -> Result<String, String> {
        if self.status == NOT_STARTED {
            return Err("the driver could not start it".to_owned());
        }
        let own = OWN_OBJECTS.iter().find(|(case, _)| *case == name).map(|(_, what)| *what);
        match (self.verdict.as_str(), own) {
            ("ESCAPED" | "UNLIMITED", Some(what)) => Ok(format!("contained: {what}")),
            ("ESCAPED" | "UNLIMITED", None) => Err(format!("it printed {}", self.verdict)),
            ("CONTAINED", Some(_)) => Err("contained now: take it off the list".to_owned()),
            ("OPEN", _) => Ok("contained: the guest's kernel answers".to_owned()),
            ("CONTAINED", None) if !self.late => Ok("contained".to_owned()),
            ("CONTAINED", None) => Ok("contained: ended by the driver".to_owned()),
            _ => self.judge_without_verdict(name),
        }
    }

    fn judge_without_verdict(&self, name: &str) -> Result<String, String> {
        let fills = name.starts_with("limits/");
        // The driver's time is the same on an emulated processor.
        let may_be_late = fills || LONG.contains(&name) || time_factor() > 1;
        let may_be_silent =
            WITHOUT_VERDICT.contains(&name) || (fills && NO_MEMORY.contains(&self.status));
        match self.late {
            true if may_be_late => Ok("contained: ended by the driver".to_owned()),
            false if may_be_silent => Ok("contained".to_owned()),
            late => Err(format!("no verdict: status {}, late: {late}", self.status)),
        }
    }
}
