//! What the programs around a cell say to each other: every verb, once, with its encoding.
//!
//! | from | to | verbs | when |
//! |---|---|---|---|
//! | daemon | launcher | `Prepare` | once, first |
//! | launcher | daemon | `Prepared` or `Unable` | once the cell is confined and empty |
//! | daemon | launcher | `Order` | once, whether the cell is prepared yet or not |
//! | launcher | daemon | `Ready` or `Unable` | once the order's limits are in force |
//! | daemon | launcher | `Go` | once, after the order |
//! | launcher | daemon | `Started` or `Unable` | once, after `Go` |
//! | launcher | daemon | `Used` | now and then between `Started` and `Ended` |
//! | daemon | launcher | `Kill` | any time after `Go` |
//! | launcher | daemon | `Ended` | once, last |
//!
//! Each `Prepare` begins a conversation of its own, on a socket that was accepted or sent through the
//! launcher's door. Anything else, or out of turn, ends the conversation and with it the cell. Between processes there
//! is no proof, only bytes: each side checks what it is told.

use std::fmt;
use std::path::PathBuf;

use model::{Layer, RejectReason};

use crate::encode::{
    PATH_BYTES_MAX, put_accounting, put_cell_plan, put_confinement, put_ending, put_furnishings,
    put_limits_in_force, put_marks, put_order, put_tool_end, put_unable, put_value,
    take_accounting, take_cell_plan, take_confinement, take_ending, take_furnishings,
    take_limits_in_force, take_marks, take_order, take_tool_end, take_unable, take_value,
};
use crate::outcome::{Killed, ToolEnd};
use crate::plan::{CellPlan, Order};
use crate::report::{Accounting, Confinement, DeniedCall, LimitInForce, Mark, Usage};
use crate::wire::{Reader, WireError, Writer};

/// First bytes of every conversation: the protocol and its version. Both programs come from one build.
const MAGIC: u32 = 0x5445_0006;

/// What the daemon says to the launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToLauncher {
    /// With one descriptor: where the cell's streams and files are to be sent. The number is how long the
    /// daemon waits for each answer before the start, milliseconds.
    Prepare(Box<CellPlan>, u64),
    Order(Box<Order>),
    Go,
    Kill(Killed),
}

/// What the launcher says to the daemon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromLauncher {
    /// Without the limits, which come with the order. A cell with a network comes with one descriptor:
    /// the socket that listens at its proxy's port.
    Prepared(Box<Confinement>, Vec<Mark>),
    Ready(Vec<LimitInForce>),
    Unable(Unable),
    Started,
    /// For people who look on; nothing hangs on it, and one that finds no room is not sent.
    Used(Usage),
    Ended(Box<Ending>),
}

/// Why there is no cell, or no tool in it.
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

/// What the cell's init says to its launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromInit {
    /// Confined and waiting. With the descriptors by which the launcher watches from outside: the
    /// cell's `/proc`, `/out`, `/tmp` and `/dev/shm`.
    Prepared(Box<Confinement>, Vec<Mark>),
    /// With two descriptors: where the filter hands out the calls that it denies, and the cell's mount
    /// table, in which nothing will change.
    Listener,
    Unable(Unable),
    Started,
    ToolEnded(Box<ToolReport>),
}

/// What init knows of the tool when the tree is dead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolReport {
    pub(crate) end: ToolEnd,
    pub(crate) accounting: Accounting,
    /// Processes that were there when the tool ended or the tree was killed, the tool's own among them.
    pub(crate) processes_last: u32,
    /// Whether init killed the tree because the wall limit was over and its launcher had not.
    pub(crate) timed_out: bool,
}

/// What the launcher says to the cell's init.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToInit {
    /// Make this cell. With descriptors: where the streams are to be sent, the inputs, for a cell with a
    /// network the namespace to live in, and a mount for each furnishing that is no link.
    Plan(Box<CellPlan>, Vec<Furnishing>),
    /// Start the tool.
    Go(Box<Order>),
    /// Kill the tree.
    Kill,
}

/// Something of the runtime that is put into the cell's root, by its place there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Furnishing {
    Directory(PathBuf),
    File(PathBuf),
    Link { place: PathBuf, target: PathBuf },
}

/// What the cell's init and the collector hand to the daemon past the launcher: descriptors and the
/// names that go with them. It comes from processes with the tool's own uid and is believed in nothing.
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

impl ToLauncher {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Prepare(plan, start_ms_max) => {
                writer.u8(1).u32(MAGIC).u64(*start_ms_max);
                put_cell_plan(&mut writer, plan);
            }
            Self::Order(order) => {
                writer.u8(2);
                put_order(&mut writer, order);
            }
            Self::Go => {
                writer.u8(3);
            }
            Self::Kill(killed) => {
                writer.u8(4);
                put_value(&mut writer, *killed);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let verb = match reader.u8()? {
            1 => {
                if reader.u32()? != MAGIC {
                    return Err(WireError::Range);
                }
                let start_ms_max = reader.u64()?;
                Self::Prepare(Box::new(take_cell_plan(&mut reader)?), start_ms_max)
            }
            2 => Self::Order(Box::new(take_order(&mut reader)?)),
            3 => Self::Go,
            4 => Self::Kill(take_value(&mut reader)?),
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl FromLauncher {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Prepared(confinement, marks) => {
                writer.u8(1);
                put_confinement(&mut writer, confinement);
                put_marks(&mut writer, marks);
            }
            Self::Ready(limits) => {
                writer.u8(2);
                put_limits_in_force(&mut writer, limits);
            }
            Self::Unable(unable) => {
                writer.u8(3);
                put_unable(&mut writer, unable);
            }
            Self::Started => {
                writer.u8(4);
            }
            Self::Ended(ending) => {
                writer.u8(5);
                put_ending(&mut writer, ending);
            }
            Self::Used(usage) => {
                writer.u8(6).maybe_u64(usage.memory_bytes).maybe_u64(usage.cpu_us);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Prepared(Box::new(take_confinement(&mut reader)?), take_marks(&mut reader)?),
            2 => Self::Ready(take_limits_in_force(&mut reader)?),
            3 => Self::Unable(take_unable(&mut reader)?),
            4 => Self::Started,
            5 => Self::Ended(Box::new(take_ending(&mut reader)?)),
            6 => {
                Self::Used(Usage { memory_bytes: reader.maybe_u64()?, cpu_us: reader.maybe_u64()? })
            }
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl FromInit {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Prepared(confinement, marks) => {
                writer.u8(1);
                put_confinement(&mut writer, confinement);
                put_marks(&mut writer, marks);
            }
            Self::Unable(unable) => {
                writer.u8(2);
                put_unable(&mut writer, unable);
            }
            Self::Started => {
                writer.u8(3);
            }
            Self::Listener => {
                writer.u8(5);
            }
            Self::ToolEnded(report) => {
                writer.u8(4);
                put_tool_end(&mut writer, report.end);
                put_accounting(&mut writer, &report.accounting);
                writer.u32(report.processes_last).flag(report.timed_out);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Prepared(Box::new(take_confinement(&mut reader)?), take_marks(&mut reader)?),
            2 => Self::Unable(take_unable(&mut reader)?),
            3 => Self::Started,
            4 => Self::ToolEnded(Box::new(ToolReport {
                end: take_tool_end(&mut reader)?,
                accounting: take_accounting(&mut reader)?,
                processes_last: reader.u32()?,
                timed_out: reader.flag()?,
            })),
            5 => Self::Listener,
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl ToInit {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Plan(plan, furnishings) => {
                writer.u8(1);
                put_cell_plan(&mut writer, plan);
                put_furnishings(&mut writer, furnishings);
            }
            Self::Go(order) => {
                writer.u8(2);
                put_order(&mut writer, order);
            }
            Self::Kill => {
                writer.u8(3);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Plan(Box::new(take_cell_plan(&mut reader)?), take_furnishings(&mut reader)?),
            2 => Self::Go(Box::new(take_order(&mut reader)?)),
            3 => Self::Kill,
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl Evidence {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Taken { pid } => {
                writer.u8(5).u32(*pid);
            }
            Self::Streams => {
                writer.u8(1);
            }
            Self::File { path, mode } => {
                writer.u8(2).bytes(path).u32(*mode);
            }
            Self::Rejected { path, reason } => {
                writer.u8(3).bytes(path);
                put_value(&mut writer, *reason);
            }
            Self::End { complete } => {
                writer.u8(4).flag(*complete);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Streams,
            2 => Self::File { path: reader.bytes(PATH_BYTES_MAX)?.to_vec(), mode: reader.u32()? },
            3 => Self::Rejected {
                path: reader.bytes(PATH_BYTES_MAX)?.to_vec(),
                reason: take_value(&mut reader)?,
            },
            4 => Self::End { complete: reader.flag()? },
            5 => Self::Taken { pid: reader.u32()? },
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}
