//! The messages between the processes of a run; `frame` encodes them. Each side checks its input.

use std::fmt;
use std::path::PathBuf;

use model::{Layer, RejectReason};

use crate::outcome::{KillReason, ToolEnd};
use crate::plan::{ExecSpec, SandboxSpec, WorkFolder};
use crate::report::{Accounting, Confinement, DeniedCall, EffectiveLimit, Mark, Usage};

/// A message from the daemon to the launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToLauncher {
    /// Carries one descriptor: the socket to which the sandbox sends its streams and files. The
    /// number is how long the daemon waits for each answer before the start, in milliseconds.
    Prepare(Box<SandboxSpec>, u64),
    Exec(Box<ExecSpec>),
    Go,
    Kill(KillReason),
}

/// A message from the launcher to the daemon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromLauncher {
    /// Lists no limits; they follow in `Ready`. A sandbox with a network adds one descriptor: the
    /// listening socket at its proxy's port.
    Prepared(Box<Confinement>, Vec<Mark>),
    Ready(Vec<EffectiveLimit>),
    SetupFailed(SetupFailure),
    Started,
    /// For display only; the launcher drops it if the socket is full.
    Usage(Usage),
    Ended(Box<FinalReport>),
}

/// The reason why a sandbox, or the tool in it, could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupFailure {
    /// The layer that the kernel does not provide, if that is the reason.
    pub layer: Option<Layer>,
    /// The step that failed.
    pub step: String,
    /// The errno, or 0 if the failure did not come from the kernel.
    pub errno: i32,
}

impl fmt::Display for SetupFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.step)?;
        if self.errno == 0 {
            return Ok(());
        }
        let answer = std::io::Error::from_raw_os_error(self.errno).to_string();
        // Some libraries already include the kernel's message.
        if self.step.ends_with(&answer) { Ok(()) } else { write!(f, ": {answer}") }
    }
}

/// The launcher's final report about a run that started.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FinalReport {
    pub(crate) tool: Option<ToolEnd>,
    pub(crate) killed: Option<KillReason>,
    pub(crate) pids_limit_hit: bool,
    pub(crate) out_full: bool,
    pub(crate) denied: Vec<DeniedCall>,
    pub(crate) violation: Option<String>,
    pub(crate) accounting: Accounting,
}

/// A message from the sandbox's init to its launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromInit {
    /// Carries the directories of `InnerFds::PATHS`, for the launcher to watch.
    Prepared(Box<Confinement>, Vec<Mark>),
    /// Carries the seccomp listener and the sandbox's mount table, which no longer changes.
    Listener,
    /// The folder of `ToInit::CopyWork` is copied.
    WorkCopied,
    SetupFailed(SetupFailure),
    Started,
    ToolEnded(Box<ToolReport>),
}

/// The tool's end and usage, as init sees them once the tree is dead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolReport {
    pub(crate) end: ToolEnd,
    pub(crate) accounting: Accounting,
    /// Processes alive when the tool ended or the tree was killed, including the tool.
    pub(crate) processes_last: u32,
    /// True if init killed the tree at the end of the wall limit, because its launcher had not.
    pub(crate) timed_out: bool,
}

/// A message from the launcher to the sandbox's init.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToInit {
    /// Carries the socket to the daemon, the inputs, the network namespace to enter (if the sandbox
    /// has a network), and a mount for each runtime mount that is not a link.
    Plan(Box<SandboxSpec>, Vec<RuntimeMount>),
    /// Asks for a copy of this folder of `/in` in `/out/work`, before `Go`.
    CopyWork(WorkFolder),
    Go(Box<ExecSpec>),
    Kill,
}

/// A part of the runtime to put into the sandbox's root, at the path given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RuntimeMount {
    Directory(PathBuf),
    File(PathBuf),
    Link { place: PathBuf, target: PathBuf },
}

/// Evidence that the sandbox's init and the collector send directly to the daemon: descriptors and
/// their names. It comes from processes with the tool's uid and must never be trusted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EvidenceMessage {
    /// The worker's pid, sent first. It is used in messages only.
    Worker {
        pid: u32,
    },
    /// Carries two descriptors: the read ends of stdout and stderr.
    Streams,
    /// Carries one descriptor, opened read-only.
    File {
        path: Vec<u8>,
        mode: u32,
    },
    /// Carries one descriptor, opened read-only: a file of the work copy that is new or differs
    /// from its original in its bytes or its execute bits. The path is relative to the folder.
    Changed {
        path: Vec<u8>,
        mode: u32,
    },
    /// A file or link of the folder. The work copy has no file at its path.
    Removed {
        path: Vec<u8>,
    },
    Rejected {
        path: Vec<u8>,
        reason: RejectReason,
    },
    End {
        complete: bool,
    },
}
