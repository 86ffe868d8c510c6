//! The messages between the programs around a sandbox, as values. They know nothing of their encoding, and
//! each side checks what it receives.

use std::fmt;
use std::path::PathBuf;

use model::{Layer, RejectReason};

use crate::outcome::{Killed, ToolEnd};
use crate::plan::{CellPlan, Order};
use crate::report::{Accounting, Confinement, DeniedCall, LimitInForce, Mark, Usage};

/// A message of the daemon to the launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToLauncher {
    /// With one descriptor: where the sandbox's streams and files are to be sent. The number is how long the
    /// daemon waits for each answer before the start, milliseconds.
    Prepare(Box<CellPlan>, u64),
    Order(Box<Order>),
    Go,
    Kill(Killed),
}

/// A message of the launcher to the daemon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromLauncher {
    /// Without the limits, which come with the order. A sandbox with a network comes with one descriptor:
    /// the socket that listens at its proxy's port.
    Prepared(Box<Confinement>, Vec<Mark>),
    Ready(Vec<LimitInForce>),
    Unable(Unable),
    Started,
    /// For people who look on; nothing hangs on it, and one that finds no room is not sent.
    Used(Usage),
    Ended(Box<Ending>),
}

/// The reason why a sandbox, or the tool in it, does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unable {
    /// The layer that the kernel does not give, if that is the reason.
    pub layer: Option<Layer>,
    /// The step that failed, in the launcher's words.
    pub step: String,
    /// The kernel's answer, 0 if the kernel had no part in it.
    pub errno: i32,
}

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.step)?;
        if self.errno == 0 {
            return Ok(());
        }
        let answer = std::io::Error::from_raw_os_error(self.errno).to_string();
        // Some libraries repeat what the kernel said.
        if self.step.ends_with(&answer) { Ok(()) } else { write!(f, ": {answer}") }
    }
}

/// The launcher's last word about a run that started.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) tool: Option<ToolEnd>,
    pub(crate) killed: Option<Killed>,
    pub(crate) pids_limit_hit: bool,
    pub(crate) out_full: bool,
    pub(crate) denied: Vec<DeniedCall>,
    pub(crate) violation: Option<String>,
    pub(crate) accounting: Accounting,
}

/// A message of the sandbox's init to its launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromInit {
    /// Confined and waiting. With the descriptors by which the launcher watches from outside: the
    /// sandbox's `/proc`, `/out`, `/tmp` and `/dev/shm`.
    Prepared(Box<Confinement>, Vec<Mark>),
    /// With two descriptors: where the filter hands out the calls that it denies, and the sandbox's mount
    /// table, in which nothing will change.
    Listener,
    Unable(Unable),
    Started,
    ToolEnded(Box<ToolReport>),
}

/// The tool as init knows it when the tree is dead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolReport {
    pub(crate) end: ToolEnd,
    pub(crate) accounting: Accounting,
    /// Processes that were there when the tool ended or the tree was killed, the tool's own among them.
    pub(crate) processes_last: u32,
    /// Init killed the tree because the wall limit was over and its launcher had not.
    pub(crate) timed_out: bool,
}

/// A message of the launcher to the sandbox's init.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToInit {
    /// Make this sandbox. With descriptors: where the streams are to be sent, the inputs, for a sandbox with
    /// a network the namespace to live in, and a mount for each runtime mount that is not a link.
    Plan(Box<CellPlan>, Vec<Furnishing>),
    /// Start the tool.
    Go(Box<Order>),
    /// Kill the tree.
    Kill,
}

/// Something of the runtime that is put into the sandbox's root, by its place there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Furnishing {
    Directory(PathBuf),
    File(PathBuf),
    Link { place: PathBuf, target: PathBuf },
}

/// The evidence that the sandbox's init and the collector send to the daemon past the launcher: descriptors
/// and their names. It comes from processes with the tool's own uid and is believed in nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// From the slot, first: the process that serves this conversation. It only names it in messages.
    Taken {
        pid: u32,
    },
    /// With two descriptors: the read ends of stdout and stderr.
    Streams,
    /// With one descriptor, opened read-only.
    File {
        path: Vec<u8>,
        mode: u32,
    },
    Rejected {
        path: Vec<u8>,
        reason: RejectReason,
    },
    End {
        complete: bool,
    },
}
