//! The messages between the processes of a run, with their encoding.
//!
//! | from | to | verbs | when |
//! |---|---|---|---|
//! | daemon | launcher | `Prepare` | once, first |
//! | launcher | daemon | `Prepared` or `SetupFailed` | once the sandbox is confined and empty |
//! | daemon | launcher | `Exec` | once, before or after `Prepared` |
//! | launcher | daemon | `Ready` or `SetupFailed` | once the limits are enforced |
//! | daemon | launcher | `Go` | once, after the order |
//! | launcher | daemon | `Started` or `SetupFailed` | once, after `Go` |
//! | launcher | daemon | `Usage` | about twice a second between `Started` and `Ended` |
//! | daemon | launcher | `Kill` | any time after `Go` |
//! | launcher | daemon | `Ended` | once, last |
//!
//! Each `Prepare` begins a session, on a socket that the launcher accepted or received through its
//! control socket. An unknown or unexpected message ends the session and kills the sandbox. A
//! message from another process proves nothing: each side checks what it receives.

use crate::encode::{
    PATH_BYTES_MAX, put_accounting, put_confinement, put_effective_limits, put_exec_spec,
    put_final_report, put_marks, put_runtime_mounts, put_sandbox_spec, put_setup_failure,
    put_tool_end, put_value, put_work_folder, take_accounting, take_confinement,
    take_effective_limits, take_exec_spec, take_final_report, take_marks, take_runtime_mounts,
    take_sandbox_spec, take_setup_failure, take_tool_end, take_value, take_work_folder,
};
pub use crate::messages::SetupFailure;
use crate::messages::{EvidenceMessage, FromInit, FromLauncher, ToInit, ToLauncher, ToolReport};
use crate::report::Usage;
use crate::wire::{FrameReader, FrameWriter, WireError};

/// The first bytes of every session: protocol and version. Both programs come from one build.
const MAGIC: u32 = 0x5445_0008;

impl ToLauncher {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = FrameWriter::default();
        match self {
            Self::Prepare(plan, start_ms_max) => {
                writer.u8(1).u32(MAGIC).u64(*start_ms_max);
                put_sandbox_spec(&mut writer, plan);
            }
            Self::Exec(order) => {
                writer.u8(2);
                put_exec_spec(&mut writer, order);
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
        let mut reader = FrameReader::new(bytes);
        let verb = match reader.u8()? {
            1 => {
                if reader.u32()? != MAGIC {
                    return Err(WireError::Range);
                }
                let start_ms_max = reader.u64()?;
                Self::Prepare(Box::new(take_sandbox_spec(&mut reader)?), start_ms_max)
            }
            2 => Self::Exec(Box::new(take_exec_spec(&mut reader)?)),
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
        let mut writer = FrameWriter::default();
        match self {
            Self::Prepared(confinement, marks) => {
                writer.u8(1);
                put_confinement(&mut writer, confinement);
                put_marks(&mut writer, marks);
            }
            Self::Ready(limits) => {
                writer.u8(2);
                put_effective_limits(&mut writer, limits);
            }
            Self::SetupFailed(unable) => {
                writer.u8(3);
                put_setup_failure(&mut writer, unable);
            }
            Self::Started => {
                writer.u8(4);
            }
            Self::Ended(ending) => {
                writer.u8(5);
                put_final_report(&mut writer, ending);
            }
            Self::Usage(usage) => {
                writer.u8(6).maybe_u64(usage.memory_bytes).maybe_u64(usage.cpu_us);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = FrameReader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Prepared(Box::new(take_confinement(&mut reader)?), take_marks(&mut reader)?),
            2 => Self::Ready(take_effective_limits(&mut reader)?),
            3 => Self::SetupFailed(take_setup_failure(&mut reader)?),
            4 => Self::Started,
            5 => Self::Ended(Box::new(take_final_report(&mut reader)?)),
            6 => Self::Usage(Usage {
                memory_bytes: reader.maybe_u64()?,
                cpu_us: reader.maybe_u64()?,
            }),
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl FromInit {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = FrameWriter::default();
        match self {
            Self::Prepared(confinement, marks) => {
                writer.u8(1);
                put_confinement(&mut writer, confinement);
                put_marks(&mut writer, marks);
            }
            Self::SetupFailed(unable) => {
                writer.u8(2);
                put_setup_failure(&mut writer, unable);
            }
            Self::Started => {
                writer.u8(3);
            }
            Self::Listener => {
                writer.u8(5);
            }
            Self::WorkCopied => {
                writer.u8(6);
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
        let mut reader = FrameReader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Prepared(Box::new(take_confinement(&mut reader)?), take_marks(&mut reader)?),
            2 => Self::SetupFailed(take_setup_failure(&mut reader)?),
            3 => Self::Started,
            4 => Self::ToolEnded(Box::new(ToolReport {
                end: take_tool_end(&mut reader)?,
                accounting: take_accounting(&mut reader)?,
                processes_last: reader.u32()?,
                timed_out: reader.flag()?,
            })),
            5 => Self::Listener,
            6 => Self::WorkCopied,
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl ToInit {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = FrameWriter::default();
        match self {
            Self::Plan(plan, mounts) => {
                writer.u8(1);
                put_sandbox_spec(&mut writer, plan);
                put_runtime_mounts(&mut writer, mounts);
            }
            Self::Go(order) => {
                writer.u8(2);
                put_exec_spec(&mut writer, order);
            }
            Self::Kill => {
                writer.u8(3);
            }
            Self::CopyWork(folder) => {
                put_work_folder(writer.u8(4), folder);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = FrameReader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Plan(
                Box::new(take_sandbox_spec(&mut reader)?),
                take_runtime_mounts(&mut reader)?,
            ),
            2 => Self::Go(Box::new(take_exec_spec(&mut reader)?)),
            3 => Self::Kill,
            4 => Self::CopyWork(take_work_folder(&mut reader)?),
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

impl EvidenceMessage {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = FrameWriter::default();
        match self {
            Self::Worker { pid } => {
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
            Self::Changed { path, mode } => {
                writer.u8(6).bytes(path).u32(*mode);
            }
            Self::Removed { path } => {
                writer.u8(7).bytes(path);
            }
        }
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = FrameReader::new(bytes);
        let verb = match reader.u8()? {
            1 => Self::Streams,
            2 => Self::File { path: reader.bytes(PATH_BYTES_MAX)?.to_vec(), mode: reader.u32()? },
            3 => Self::Rejected {
                path: reader.bytes(PATH_BYTES_MAX)?.to_vec(),
                reason: take_value(&mut reader)?,
            },
            4 => Self::End { complete: reader.flag()? },
            5 => Self::Worker { pid: reader.u32()? },
            6 => {
                Self::Changed { path: reader.bytes(PATH_BYTES_MAX)?.to_vec(), mode: reader.u32()? }
            }
            7 => Self::Removed { path: reader.bytes(PATH_BYTES_MAX)?.to_vec() },
            _ => return Err(WireError::Range),
        };
        reader.end()?;
        Ok(verb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::WorkFolder;

    #[track_caller]
    fn check_evidence(message: &EvidenceMessage) {
        assert_eq!(EvidenceMessage::decode(&message.encode()).unwrap(), *message);
    }

    #[test]
    fn messages_about_a_work_copy_are_read_back() {
        check_evidence(&EvidenceMessage::Changed { path: b"a/b".to_vec(), mode: 0o755 });
        check_evidence(&EvidenceMessage::Removed { path: b"c".to_vec() });
        let order = ToInit::CopyWork(WorkFolder::new("a/repo").unwrap());
        assert_eq!(ToInit::decode(&order.encode()).unwrap(), order);
        assert_eq!(FromInit::decode(&FromInit::WorkCopied.encode()), Ok(FromInit::WorkCopied));
    }
}
