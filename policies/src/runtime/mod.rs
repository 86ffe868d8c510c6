//! What may be executed: the runtimes of a policy. A word of a command chooses one of these; it
//! must never become a path, and a binary must never be named by anything but the policy.

mod entry;
mod shown;
mod spelling;

use std::path::{Path, PathBuf};

use model::Language;

pub(crate) use spelling::is_slug;

use crate::aana::{RiskDomain, ToolCategory};

/// Where the binary of a runtime comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BinaryRule {
    /// The first real program of one of these names that the host offers.
    Auto {
        /// Plain file names, in the order to look for them.
        names: Vec<String>,
    },
    /// This file, links in it followed by the daemon; inside the runtime's own root if it has one.
    Path(PathBuf),
}

/// What of `/proc` a run sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcView {
    /// Nothing.
    None,
    /// Its own processes.
    Pid,
    /// Its own processes, and what the kernel says of processors, memory, load and itself.
    Full,
}

/// What `/tmp` may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TmpUse {
    /// Files that are read and written.
    Data,
    /// Also programs, made and executed by the run.
    Programs,
}

/// Where a cache lies on the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CacheSource {
    /// Where `toolexec doctor --warm` puts the cache of the runtime of this name.
    Warm,
    /// This directory.
    Path(PathBuf),
}

/// What becomes of a run whose cache is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithoutCache {
    /// It runs without: slower, or with less.
    Run,
    /// The runtime does not work without; the request is refused and not used up.
    Refuse,
}

/// A directory that was made once for all runs and is shown to each, read-only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheRule {
    /// Where it lies on the host.
    pub source: CacheSource,
    /// Where the cell sees it: below `/cache`.
    pub target: PathBuf,
    /// The variable that names the target, set only where the cache is there.
    pub variable: Option<String>,
    /// What becomes of a run without it.
    pub without: WithoutCache,
}

/// How a runtime is told that three quarters of the memory limit are for its heap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeapRule {
    /// It finds out for itself, or does not care.
    Untold,
    /// By an option, `=` and MiB behind it.
    Flag(String),
    /// By a variable, a number and `MiB`.
    Variable(String),
}

/// One runtime that a policy offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Runtime {
    name: String,
    language: Language,
    words: Vec<String>,
    binary: BinaryRule,
    root: Option<PathBuf>,
    mounts: Vec<PathBuf>,
    caches: Vec<CacheRule>,
    arguments: Vec<String>,
    tmp: TmpUse,
    proc: ProcView,
    env: Vec<(String, String)>,
    pids_min: u64,
    heap: HeapRule,
    tool_category: ToolCategory,
    risk_domain: RiskDomain,
}

impl Runtime {
    /// The name of the entry, unique in its policy.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The language of requests that may use it.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// The first words of commands that choose it.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Where its binary comes from.
    #[must_use]
    pub fn binary(&self) -> &BinaryRule {
        &self.binary
    }

    /// The directory of the host that is a root file system of its own for this runtime.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Host directories that the cell sees, read-only.
    #[must_use]
    pub fn mounts(&self) -> &[PathBuf] {
        &self.mounts
    }

    /// What was made once for all runs.
    #[must_use]
    pub fn caches(&self) -> &[CacheRule] {
        &self.caches
    }

    /// Words that stand between the program and the words of the request.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// What `/tmp` may hold.
    #[must_use]
    pub fn tmp(&self) -> TmpUse {
        self.tmp
    }

    /// What of `/proc` the cell sees.
    #[must_use]
    pub fn proc(&self) -> ProcView {
        self.proc
    }

    /// Environment variables beside those of every cell.
    #[must_use]
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// How it is told the size of its heap.
    #[must_use]
    pub fn heap(&self) -> &HeapRule {
        &self.heap
    }

    /// The kind of act that a run is, in the words of the AANA contract.
    #[must_use]
    pub fn tool_category(&self) -> ToolCategory {
        self.tool_category
    }

    /// The domain of risk of a run, in the words of the AANA contract.
    #[must_use]
    pub fn risk_domain(&self) -> RiskDomain {
        self.risk_domain
    }

    /// Processes and threads without which the runtime hangs or aborts.
    pub(crate) fn pids_min(&self) -> u64 {
        self.pids_min
    }
}
