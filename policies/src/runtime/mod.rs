//! The runtimes of a policy: the programs that may be executed. The first word of a command chooses
//! one of them. It must never become a path, and only the policy may name a binary.

mod check;
mod host_paths;
mod interpreter;
mod machine;
mod syntax;

use std::path::{Path, PathBuf};

use model::Language;

pub(crate) use host_paths::ENVIRONMENT_DIR;
pub(crate) use syntax::{is_plain_absolute, is_slug, is_word};

use crate::aana::{RiskDomain, ToolCategory};

/// The source of a runtime's binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BinaryRule {
    /// The first real program with one of these names on the host.
    Auto {
        /// Plain file names, in search order.
        names: Vec<String>,
    },
    /// This file, inside the runtime's own root if it has one. The daemon follows links in it.
    Path(PathBuf),
}

/// The part of `/proc` that a run sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcRule {
    /// No `/proc` at all.
    None,
    /// Its own processes.
    Pid,
    /// Its own processes, and the kernel's information about processors, memory, load and itself.
    Full,
}

/// The permitted use of `/tmp`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TmpRule {
    /// Files that are read and written.
    Data,
    /// Also programs that the run makes and executes.
    Programs,
}

/// The directory of a cache on the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CacheSource {
    /// The directory that `toolexec doctor --build-cache` makes for the runtime of this name.
    Warm,
    /// This directory.
    Path(PathBuf),
}

/// The behaviour of a run whose cache does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithoutCache {
    /// The run starts without the cache: slower, or with fewer features.
    Run,
    /// The runtime does not work without the cache. The request is refused and can be used again.
    Refuse,
}

/// A directory that is made once for all runs. Every run sees it read-only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheRule {
    /// The directory on the host.
    pub source: CacheSource,
    /// Its path in the sandbox: below `/cache`.
    pub target: PathBuf,
    /// The variable that contains the target; set only if the cache exists.
    pub variable: Option<String>,
    /// The behaviour of a run if the directory does not exist.
    pub without: WithoutCache,
}

/// The way in which a runtime learns its heap size, three quarters of the memory limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeapRule {
    /// The runtime determines the size itself, or needs none.
    Unset,
    /// This option, followed by `=` and a number of MiB.
    Flag(String),
    /// This variable, set to a number and `MiB`.
    Variable(String),
}

/// One runtime that a policy offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeRule {
    name: String,
    language: Language,
    words: Vec<String>,
    binary: BinaryRule,
    root: Option<PathBuf>,
    mounts: Vec<PathBuf>,
    caches: Vec<CacheRule>,
    arguments: Vec<String>,
    tmp: TmpRule,
    proc: ProcRule,
    env: Vec<(String, String)>,
    pids_min: u64,
    heap: HeapRule,
    tool_category: ToolCategory,
    risk_domain: RiskDomain,
}

impl RuntimeRule {
    /// Returns the name of the entry, unique in its policy.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the language of requests that may use it.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the first words of commands that choose it.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the source of its binary.
    #[must_use]
    pub fn binary(&self) -> &BinaryRule {
        &self.binary
    }

    /// Returns the host directory that is this runtime's own root file system.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns the host directories that the sandbox sees read-only.
    #[must_use]
    pub fn mounts(&self) -> &[PathBuf] {
        &self.mounts
    }

    /// Returns the caches of the runtime.
    #[must_use]
    pub fn caches(&self) -> &[CacheRule] {
        &self.caches
    }

    /// Returns the arguments between the program and those of the request.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns the permitted use of `/tmp`.
    #[must_use]
    pub fn tmp(&self) -> TmpRule {
        self.tmp
    }

    /// Returns the part of `/proc` that the sandbox sees.
    #[must_use]
    pub fn proc(&self) -> ProcRule {
        self.proc
    }

    /// Returns environment variables in addition to those of every sandbox.
    #[must_use]
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Returns the way in which it learns its heap size.
    #[must_use]
    pub fn heap(&self) -> &HeapRule {
        &self.heap
    }

    /// Returns the tool category of a run, as the AANA contract names it.
    #[must_use]
    pub fn tool_category(&self) -> ToolCategory {
        self.tool_category
    }

    /// Returns the risk domain of a run, as the AANA contract names it.
    #[must_use]
    pub fn risk_domain(&self) -> RiskDomain {
        self.risk_domain
    }

    /// Returns the number of processes and threads below which the runtime hangs or aborts.
    pub(crate) fn pids_min(&self) -> u64 {
        self.pids_min
    }
}
