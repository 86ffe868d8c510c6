//! The numbers: ceilings of a policy, and what one request is granted below them. A request above
//! a ceiling is refused elsewhere; nothing here may ever raise or silently lower what was asked.

use validator::Request;

use crate::form::LimitsForm;
use crate::problem::Problems;

const MIB: u64 = 1 << 20;

/// The whole, in thousandths of a percent.
const ALL: u64 = 100_000;

/// What the launcher holds against any order: each file of `/out` costs kernel memory and time.
const OUT_INODES_MAX: u64 = 65_536;

/// The ceilings that a policy sets. Plain numbers that prove nothing, so the fields are open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ceilings {
    /// Thousandths of a core that a request may ask for.
    pub cpu_milli: u64,
    /// MiB of memory that a request may ask for.
    pub memory_mb: u64,
    /// Seconds of wall time that a request may ask for.
    pub time_sec: u64,
    /// Seconds of CPU time; none means cores asked × seconds asked.
    pub cpu_seconds: Option<u64>,
    /// Processes and threads at once.
    pub pids: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes kept of stdout, and of stderr.
    pub stream_bytes: u64,
    /// The share of the memory limit that `/out` may fill, in thousandths of a percent.
    pub out_milli_percent: u64,
    /// The same for `/tmp`.
    pub tmp_milli_percent: u64,
    /// The same for `/dev/shm`.
    pub shm_milli_percent: u64,
    /// Files and directories in `/out`.
    pub out_inodes: u64,
    /// Artifacts kept of one run.
    pub artifacts: u64,
    /// Directories below each other in `/out`.
    pub artifact_depth: u64,
    /// Bytes of all inputs together.
    pub input_bytes: u64,
}

/// What one run gets. Plain numbers that prove nothing, so the fields are open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrantedLimits {
    /// Thousandths of a core.
    pub cpu_milli: u64,
    /// Bytes of memory, all tmpfs of the cell included.
    pub memory_bytes: u64,
    /// Seconds of wall time.
    pub time_sec: u64,
    /// Milliseconds of CPU time over all processes.
    pub cpu_time_ms: u64,
    /// Processes and threads at once.
    pub pids: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Bytes of one file; at most as many as there is memory for, where every file of the tool's lies.
    pub file_bytes: u64,
    /// Bytes kept of stdout, and of stderr.
    pub stream_bytes: u64,
    /// Bytes that `/out` may hold.
    pub out_bytes: u64,
    /// Bytes that `/tmp` may hold.
    pub tmp_bytes: u64,
    /// Bytes that `/dev/shm` may hold.
    pub shm_bytes: u64,
    /// Files and directories in `/out`.
    pub out_inodes: u64,
    /// Artifacts kept.
    pub artifacts: u64,
    /// Directories below each other in `/out`.
    pub artifact_depth: u64,
    /// Bytes of all inputs together.
    pub input_bytes: u64,
}

impl Ceilings {
    pub(crate) fn check(form: &LimitsForm, problems: &mut Problems<'_>) -> Self {
        let ceilings = Self {
            cpu_milli: form.cpu_cores_max.0,
            memory_mb: form.memory_mb_max.0,
            time_sec: form.time_sec_max.0,
            cpu_seconds: form.cpu_seconds_max.as_ref().map(|count| count.0),
            pids: form.pids_max.0,
            open_files: form.open_files_max.0,
            file_bytes: form.file_bytes_max.0,
            stream_bytes: form.stream_bytes_max.0,
            out_milli_percent: form.out_percent.0,
            tmp_milli_percent: form.tmp_percent.0,
            shm_milli_percent: form.shm_percent.0,
            out_inodes: form.out_inodes_max.0,
            artifacts: form.artifacts_max.0,
            artifact_depth: form.artifact_depth_max.0,
            input_bytes: form.input_bytes_max.0,
        };
        ceilings.check_ranges(problems);
        ceilings.check_shares(problems);
        ceilings
    }

    fn check_ranges(&self, problems: &mut Problems<'_>) {
        // Upper bounds: what no host has, and far below overflow in any later arithmetic. For
        // artifacts, stock verifiers stop at 1,024 subjects of one statement.
        let rows = [
            ("cpu_cores_max", self.cpu_milli, 65_536_000),
            ("memory_mb_max", self.memory_mb, 1 << 30),
            ("time_sec_max", self.time_sec, 366 * 24 * 3600),
            ("cpu_seconds_max", self.cpu_seconds.unwrap_or(1), 1 << 40),
            ("pids_max", self.pids, 1 << 22),
            ("open_files_max", self.open_files, 1 << 20),
            ("file_bytes_max", self.file_bytes, 1 << 40),
            ("stream_bytes_max", self.stream_bytes, 1 << 40),
            ("out_percent", self.out_milli_percent, ALL),
            ("tmp_percent", self.tmp_milli_percent, ALL),
            ("shm_percent", self.shm_milli_percent, ALL),
            ("out_inodes_max", self.out_inodes, OUT_INODES_MAX),
            ("artifacts_max", self.artifacts, 1000),
            ("artifact_depth_max", self.artifact_depth, 64),
            ("input_bytes_max", self.input_bytes, 1 << 40),
        ];
        for (key, value, max) in rows {
            let key = format!("limits.{key}");
            if value == 0 {
                problems.add(&key, "is 0", "a ceiling must be above 0");
            } else if value > max {
                let in_thousandths = key.ends_with("cpu_cores_max") || key.ends_with("_percent");
                let shown = if in_thousandths { max / 1000 } else { max };
                problems.add(&key, "too large", &format!("at most {shown} can be kept"));
            }
        }
    }

    fn check_shares(&self, problems: &mut Problems<'_>) {
        let shares = [self.out_milli_percent, self.tmp_milli_percent, self.shm_milli_percent];
        let sum = shares.into_iter().fold(0, u64::saturating_add);
        if sum > ALL {
            // Full tmpfs would otherwise end as memory_limit and hide output_limit.
            let sum = decimal(sum);
            let what = format!("with tmp_percent and shm_percent the shares sum to {sum}");
            problems.add("limits.out_percent", what, "together they must be at most 100");
        }
    }

    /// What this request gets; it must have been found to be below the ceilings.
    pub(crate) fn grant(&self, request: &Request) -> GrantedLimits {
        let memory_bytes = request.memory_limit_mb().saturating_mul(MIB);
        let share = |milli_percent: u64| memory_bytes.saturating_mul(milli_percent) / ALL;
        let cpu_milli = u64::from(request.cpu().as_milli());
        // Thousandths of a core × seconds are milliseconds of CPU time.
        let asked = cpu_milli.saturating_mul(request.time_limit_sec());
        let ceiling = self.cpu_seconds.map_or(u64::MAX, |seconds| seconds.saturating_mul(1000));
        GrantedLimits {
            cpu_milli,
            memory_bytes,
            time_sec: request.time_limit_sec(),
            cpu_time_ms: asked.min(ceiling),
            pids: self.pids,
            open_files: self.open_files,
            file_bytes: self.file_bytes.min(memory_bytes),
            stream_bytes: self.stream_bytes,
            out_bytes: share(self.out_milli_percent),
            tmp_bytes: share(self.tmp_milli_percent),
            shm_bytes: share(self.shm_milli_percent),
            out_inodes: self.out_inodes,
            artifacts: self.artifacts,
            artifact_depth: self.artifact_depth,
            input_bytes: self.input_bytes,
        }
    }
}

/// Thousandths as they are written in a policy.
fn decimal(thousandths: u64) -> String {
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    match rest {
        0 => whole.to_string(),
        _ => format!("{whole}.{rest:03}").trim_end_matches('0').to_owned(),
    }
}
