//! The numeric limits: the ceilings of a policy, and the limits that one request is granted below
//! them. Another rule refuses a request above a ceiling; nothing here may raise or silently lower a
//! requested limit.

use validator::Request;

use crate::number::{ByteCount, MilliCores, MilliPercent, WholeNumber};
use crate::problem::Problems;
use crate::raw::RawCeilings;

const MIB: u64 = 1 << 20;

/// The unit of a ceiling that is stored as the policy writes it.
const WHOLE_UNIT: u64 = 1;
/// The unit of a ceiling that is stored in thousandths of the value in the policy.
const THOUSANDTHS: u64 = 1000;

/// 100 percent, in thousandths of a percent.
const ONE_HUNDRED_PERCENT: u64 = 100_000;

/// The launcher's own limit: each file of `/out` costs kernel memory and time.
const OUT_INODES_MAX: u64 = 65_536;
/// The standard streams are three open files.
const OPEN_FILES_MIN: u64 = 3;

macro_rules! ceilings {
    ($($(#[$doc:meta])* $name:ident: $number:ty = $key:ident, $max:expr, $unit:ident;)+) => {
        /// A policy's ceilings. The fields are public because plain numbers prove nothing.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Ceilings {
            $($(#[$doc])* pub $name: $number,)+
        }

        impl Ceilings {
            fn of(form: &RawCeilings) -> Self {
                Self { $($name: form.$key.number(),)+ }
            }

            /// Returns key, value, highest value, and the stored units in one unit of the policy.
            fn rows(&self) -> Vec<(&'static str, u64, u64, u64)> {
                vec![$((stringify!($key), self.$name.in_range(), $max, $unit),)+]
            }
        }
    };
}

// The registry of ceilings: name and type, key of the policy, upper bound, unit. No host reaches
// the bounds, and they are far below overflow in any later arithmetic. Processes: the kernel takes
// no higher number. Artifacts: stock verifiers stop at 1,024 subjects of one statement.
ceilings! {
    /// Thousandths of a core that a request may ask for.
    cpu_milli: u64 = cpu_cores_max, 65_536_000, THOUSANDTHS;
    /// MiB of memory that a request may ask for.
    memory_mb: u64 = memory_mb_max, 1 << 30, WHOLE_UNIT;
    /// Seconds of wall time that a request may ask for.
    time_sec: u64 = time_sec_max, 366 * 24 * 3600, WHOLE_UNIT;
    /// Seconds of CPU time; none means cores asked × seconds asked.
    cpu_seconds: Option<u64> = cpu_seconds_max, 1 << 40, WHOLE_UNIT;
    /// Processes and threads at once.
    pids: u64 = pids_max, (1 << 22) - 1, WHOLE_UNIT;
    /// Open files of one process.
    open_files: u64 = open_files_max, 1 << 20, WHOLE_UNIT;
    /// Bytes of one file.
    file_bytes: u64 = file_bytes_max, 1 << 40, WHOLE_UNIT;
    /// Bytes kept of stdout, and of stderr.
    stream_bytes: u64 = stream_bytes_max, 1 << 40, WHOLE_UNIT;
    /// The share of the memory limit that `/out` may fill, in thousandths of a percent.
    out_milli_percent: u64 = out_percent, ONE_HUNDRED_PERCENT, THOUSANDTHS;
    /// The same for `/tmp`.
    tmp_milli_percent: u64 = tmp_percent, ONE_HUNDRED_PERCENT, THOUSANDTHS;
    /// The same for `/dev/shm`.
    shm_milli_percent: u64 = shm_percent, ONE_HUNDRED_PERCENT, THOUSANDTHS;
    /// Files and directories in `/out`.
    out_inodes: u64 = out_inodes_max, OUT_INODES_MAX, WHOLE_UNIT;
    /// Artifacts kept of one run.
    artifacts: u64 = artifacts_max, 1000, WHOLE_UNIT;
    /// Directories below each other in `/out`.
    artifact_depth: u64 = artifact_depth_max, 64, WHOLE_UNIT;
    /// Bytes of all inputs together.
    input_bytes: u64 = input_bytes_max, 1 << 40, WHOLE_UNIT;
}

/// A number of the form, converted to the unit of the rules.
trait RawNumber {
    type Number;

    fn number(&self) -> Self::Number;
}

macro_rules! form_numbers {
    ($($form:ty),+) => {
        $(impl RawNumber for $form {
            type Number = u64;

            fn number(&self) -> u64 {
                self.0
            }
        })+
    };
}

form_numbers!(WholeNumber, ByteCount, MilliCores, MilliPercent);

impl RawNumber for Option<WholeNumber> {
    type Number = Option<u64>;

    fn number(&self) -> Option<u64> {
        self.as_ref().map(WholeNumber::number)
    }
}

/// A ceiling as a number that can be compared with its bounds.
trait BoundedCeiling {
    fn in_range(self) -> u64;
}

impl BoundedCeiling for u64 {
    fn in_range(self) -> u64 {
        self
    }
}

impl BoundedCeiling for Option<u64> {
    /// Returns 1 for a ceiling that was left out, which is within any bounds.
    fn in_range(self) -> u64 {
        self.unwrap_or(1)
    }
}

/// The limits of one run. The fields are public because plain numbers prove nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrantedLimits {
    /// Thousandths of a core.
    pub cpu_milli: u64,
    /// Bytes of memory, including every tmpfs of the sandbox.
    pub memory_bytes: u64,
    /// Seconds of wall time.
    pub time_sec: u64,
    /// Milliseconds of CPU time over all processes.
    pub cpu_time_ms: u64,
    /// Processes and threads at once.
    pub pids: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Bytes of one file. At most the memory limit, because every file of the tool is in memory.
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
    pub(crate) fn check(form: &RawCeilings, problems: &mut Problems<'_>) -> Self {
        let ceilings = Self::of(form);
        ceilings.check_ranges(problems);
        ceilings.check_open_files(problems);
        ceilings.check_shares(problems);
        ceilings
    }

    fn check_ranges(&self, problems: &mut Problems<'_>) {
        for (key, value, max, unit) in self.rows() {
            let key = format!("limits.{key}");
            if value == 0 {
                problems.add(&key, "is 0", "write a value above 0");
            } else if value > max {
                let shown = max / unit;
                problems.add(&key, "too large", &format!("write {shown} or less"));
            }
        }
    }

    fn check_open_files(&self, problems: &mut Problems<'_>) {
        if (1..OPEN_FILES_MIN).contains(&self.open_files) {
            let what = format!("{} is too low", self.open_files);
            problems.add("limits.open_files_max", what, &format!("write {OPEN_FILES_MIN} or more"));
        }
    }

    fn check_shares(&self, problems: &mut Problems<'_>) {
        let shares = [self.out_milli_percent, self.tmp_milli_percent, self.shm_milli_percent];
        let sum = shares.into_iter().fold(0, u64::saturating_add);
        if sum > ONE_HUNDRED_PERCENT {
            // A full tmpfs would otherwise end the run as memory_limit and hide output_limit.
            let sum = decimal(sum);
            let what = format!("out_percent, tmp_percent and shm_percent add up to {sum}");
            problems.add("limits.out_percent", what, "reduce them to at most 100 together");
        }
    }

    /// Returns the limits of this request. The caller must have checked it against the ceilings.
    pub(crate) fn grant(&self, request: &Request) -> GrantedLimits {
        let memory_bytes = request.memory_limit_mb().saturating_mul(MIB);
        let share =
            |milli_percent: u64| memory_bytes.saturating_mul(milli_percent) / ONE_HUNDRED_PERCENT;
        let cpu_milli = u64::from(request.cpu().as_milli());
        // Thousandths of a core × seconds are milliseconds of CPU time.
        let requested_ms = cpu_milli.saturating_mul(request.time_limit_sec());
        let ceiling = self.cpu_seconds.map_or(u64::MAX, |seconds| seconds.saturating_mul(1000));
        GrantedLimits {
            cpu_milli,
            memory_bytes,
            time_sec: request.time_limit_sec(),
            cpu_time_ms: requested_ms.min(ceiling),
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

/// Formats thousandths as a policy writes them.
fn decimal(thousandths: u64) -> String {
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    match rest {
        0 => whole.to_string(),
        _ => format!("{whole}.{rest:03}").trim_end_matches('0').to_owned(),
    }
}
