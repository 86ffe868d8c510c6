//! Whom the kernel kills first when the whole host is out of memory: a tool before any program of the user
//! who started it, where nothing of the kernel's counts what the tool uses.
//!
//! The kernel goes by the size of processes, and what a tool has it hold for it (sockets, locks) is in no
//! process's size. Init itself keeps the value that it was born with, or nobody could tell how the run ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};

use super::Failed;
use super::filter::MemoryWatch;

const SCORE: &str = "/proc/self/oom_score_adj";
/// proc_pid_oom_score_adj(5): the highest there is.
const FIRST: &[u8] = b"1000";

/// This process's own score, opened while it may.
pub(super) struct Sacrifice(Option<(File, String)>);

impl Sacrifice {
    /// Does nothing where a control group limits memory.
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
        opened().map(Some).map(Self).map_err(Failed::at("open the score for the OOM killer"))
    }

    /// What is started meanwhile keeps the score.
    pub(super) fn during<T>(self, start: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
        let Some((mut file, own)) = self.0 else { return start() };
        let mut set = |score: &[u8]| {
            let set = file.rewind().and_then(|()| file.write_all(score));
            set.map_err(Failed::at("set the score for the OOM killer"))
        };
        set(FIRST)?;
        let started = start();
        set(own.as_bytes())?;
        started
    }
}
