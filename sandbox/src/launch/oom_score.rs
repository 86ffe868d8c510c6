//! Makes a tool the first victim of the kernel's OOM killer when the whole host is out of memory,
//! if no control group counts the tool's memory. The kernel selects by process size, without kernel
//! memory held for it (sockets, locks). Init keeps its score: it must survive to report the end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};

use super::Failed;
use super::filter::MemoryWatch;

const SCORE: &str = "/proc/self/oom_score_adj";
/// proc_pid_oom_score_adj(5): the maximum.
const FIRST: &[u8] = b"1000";

/// This process's own score file, opened while permitted.
pub(super) struct OomScore(Option<(File, String)>);

impl OomScore {
    /// Opens the file. Does nothing where a control group limits memory.
    pub(super) fn open(memory: MemoryWatch) -> Result<Self, Failed> {
        if memory == MemoryWatch::Kernel {
            return Ok(Self(None));
        }
        let opened = || -> io::Result<_> {
            let mut file = OpenOptions::new().read(true).write(true).open(SCORE)?;
            let mut own = String::new();
            file.read_to_string(&mut own)?;
            Ok((file, own))
        };
        opened().map(Some).map(Self).map_err(Failed::at("open /proc/self/oom_score_adj"))
    }

    /// Runs `start` with the highest score, which a process started by it inherits.
    pub(super) fn with_highest<T>(
        self,
        start: impl FnOnce() -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let Some((mut file, own)) = self.0 else { return start() };
        let mut set = |score: &[u8]| {
            let set = file.rewind().and_then(|()| file.write_all(score));
            set.map_err(Failed::at("write /proc/self/oom_score_adj"))
        };
        set(FIRST)?;
        let started = start();
        set(own.as_bytes())?;
        started
    }
}
