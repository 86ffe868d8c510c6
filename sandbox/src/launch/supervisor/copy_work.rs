//! Has the sandbox's init copy the folder of a command to `/out/work`. This happens before the
//! daemon makes its intent durable: a folder that cannot be copied must not use a request up. The
//! time counts towards no limit of the tool.

use std::time::Instant;

use super::events::{MessageSources, SandboxEvent, session_stop};
use super::model::{SandboxSupervisor, SessionStop};
use crate::messages::{FromInit, ToInit};
use crate::plan::WorkCopy;
use crate::steps::SetupStep;
use crate::work::COPY_TIME_MAX;

impl SandboxSupervisor<'_> {
    /// Waits until the folder is copied, if the command has one. The sizes of `/out` must be set.
    pub(super) fn copy_work(&mut self, work: Option<&WorkCopy>) -> Result<(), SessionStop> {
        let Some(work) = work else { return Ok(()) };
        SetupStep::AwaitInit.begin();
        self.send_to_init(&ToInit::CopyWork(work.folder.clone()))?;
        let deadline = Instant::now() + COPY_TIME_MAX;
        let event = loop {
            match self.wait_event_until(deadline, MessageSources::InitAndDaemon) {
                // If init dies of it, its end is the next event.
                SandboxEvent::Alarm => {}
                other => break other,
            }
        };
        SetupStep::end();
        match event {
            SandboxEvent::Init(FromInit::WorkCopied, _) => Ok(()),
            other => Err(session_stop(other, "copy the folder to /out/work")),
        }
    }
}
