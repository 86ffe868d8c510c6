//! What the programs around a cell say to each other: every verb, once, with its encoding.
//!
//! | from | to | verbs | when |
//! |---|---|---|---|
//! | daemon | launcher | `Order` | once, first |
//! | launcher | daemon | `Ready` or `Unable` | once, after the order |
//! | daemon | launcher | `Go` | once, after `Ready` |
//! | launcher | daemon | `Started` or `Unable` | once, after `Go` |
//! | daemon | launcher | `Kill` | any time after `Started` |
//! | launcher | daemon | `Ended` | once, last |
//!
//! Anything else, or out of turn, ends the conversation and with it the cell. Between processes there
//! is no proof, only bytes: each side checks what it is told.

use std::fmt;

use crate::encode::{
    KILLED, PATH_BYTES_MAX, put_accounting, put_confinement, put_ending, put_index, put_plan,
    put_tool_end, put_unable, take_accounting, take_confinement, take_ending, take_index,
    take_plan, take_tool_end, take_unable,
};
use crate::outcome::{Killed, ToolEnd};
use crate::plan::Plan;
use crate::report::{Accounting, Confinement, Layer, RejectReason};
use crate::wire::{Reader, WireError, Writer};

/// First bytes of every order: the protocol and its version. Both programs come from one build.
const MAGIC: u32 = 0x5445_0001;

/// What the daemon says to the launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ToLauncher {
    Order(Box<Plan>),
    Go,
    Kill(Killed),
}

/// What the launcher says to the daemon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromLauncher {
    Ready(Box<Confinement>),
    Unable(Unable),
    Started,
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
        match self.errno {
            0 => Ok(()),
            errno => write!(f, ": {}", std::io::Error::from_raw_os_error(errno)),
        }
    }
}

/// The launcher's last word about a run that started.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) tool: Option<ToolEnd>,
    pub(crate) killed: Option<Killed>,
    pub(crate) pids_limit_hit: bool,
    pub(crate) out_full: bool,
    pub(crate) accounting: Accounting,
}

/// What the cell's init says to its launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromInit {
    /// Confined and waiting; without the limits, which only the launcher can read back.
    Ready(Box<Confinement>),
    Unable(Unable),
    Started,
    ToolEnded(Box<ToolReport>),
}

/// What init knows of the tool when the tree is dead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolReport {
    pub(crate) end: ToolEnd,
    pub(crate) out_full: bool,
    pub(crate) accounting: Accounting,
}

/// What the launcher says to the cell's init.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToInit {
    /// The user namespace has its maps.
    Mapped,
    Go,
    /// Kill the tree, then collect.
    Kill,
}

/// What the cell's init hands to the daemon past the launcher: descriptors and the names that go
/// with them. It comes from a process with the tool's own uid and is believed in nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
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
            Self::Order(plan) => {
                writer.u8(1).u32(MAGIC);
                put_plan(&mut writer, plan);
            }
            Self::Go => {
                writer.u8(2);
            }
            Self::Kill(killed) => {
                writer.u8(3);
                put_index(&mut writer, &KILLED, killed);
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
                Self::Order(Box::new(take_plan(&mut reader)?))
            }
            2 => Self::Go,
            3 => Self::Kill(take_index(&mut reader, &KILLED)?),
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
            Self::Ready(confinement) => {
                writer.u8(1);
                put_confinement(&mut writer, confinement);
            }
            Self::Unable(unable) => {
                writer.u8(2);
                put_unable(&mut writer, unable);
            }
            Self::Started => {
                writer.u8(3);
            }
            Self::Ended(ending) => {
                writer.u8(4);
                put_ending(&mut writer, ending);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Ready(Box::new(take_confinement(&mut reader)?)),
            2 => Self::Unable(take_unable(&mut reader)?),
            3 => Self::Started,
            4 => Self::Ended(Box::new(take_ending(&mut reader)?)),
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
            Self::Ready(confinement) => {
                writer.u8(1);
                put_confinement(&mut writer, confinement);
            }
            Self::Unable(unable) => {
                writer.u8(2);
                put_unable(&mut writer, unable);
            }
            Self::Started => {
                writer.u8(3);
            }
            Self::ToolEnded(report) => {
                writer.u8(4);
                put_tool_end(&mut writer, report.end);
                writer.flag(report.out_full);
                put_accounting(&mut writer, &report.accounting);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Ready(Box::new(take_confinement(&mut reader)?)),
            2 => Self::Unable(take_unable(&mut reader)?),
            3 => Self::Started,
            4 => Self::ToolEnded(Box::new(ToolReport {
                end: take_tool_end(&mut reader)?,
                out_full: reader.flag()?,
                accounting: take_accounting(&mut reader)?,
            })),
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl ToInit {
    pub(crate) fn encode(self) -> [u8; 1] {
        match self {
            Self::Mapped => [1],
            Self::Go => [2],
            Self::Kill => [3],
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        match bytes {
            [1] => Ok(Self::Mapped),
            [2] => Ok(Self::Go),
            [3] => Ok(Self::Kill),
            _ => Err(WireError::Range),
        }
    }
}

impl Evidence {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Streams => {
                writer.u8(1);
            }
            Self::File { path, mode } => {
                writer.u8(2).bytes(path).u32(*mode);
            }
            Self::Rejected { path, reason } => {
                writer.u8(3).bytes(path);
                put_index(&mut writer, &RejectReason::ALL, reason);
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
                reason: take_index(&mut reader, &RejectReason::ALL)?,
            },
            4 => Self::End { complete: reader.flag()? },
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}
