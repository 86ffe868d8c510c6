//! The output of a running tool, as it comes. It is untrusted text: the browser gets it as JSON
//! strings in which every character is visible, and not more than a person reads.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::Response;
use model::RequestId;
use serde_json::Value;
use spool::{FollowedFile, ProgressMoment, RunningStep, running_requests};
use tokio::time::sleep;
use validator::{incomplete_len, reveal_text};

use crate::channel_body::BodyClosed;
use crate::event_stream::{EventSender, open_stream};
use crate::page_error::PageError;
use crate::state::{ConsoleState, WorkKind, blocking_as};

const INTERVAL: Duration = Duration::from_millis(200);
const STREAMS: [&str; 2] = ["stdout", "stderr"];
/// Limit per stream of a tool. The record has all of it.
const SHOWN_BYTES_MAX: u64 = 4 << 20;
/// A request that has not started is followed so long.
const UNSEEN_LOOKS_MAX: u32 = 150;

/// One stream of the tool.
struct LiveStream {
    file: FollowedFile,
    /// The beginning of a character whose rest was not read yet.
    rest: Vec<u8>,
    is_cut: bool,
    /// The run has ended, and all of it was read.
    is_at_end: bool,
}

impl LiveStream {
    fn new(console: &ConsoleState, id: &RequestId, name: &'static str) -> Self {
        let file = FollowedFile::new(&console.part("results"), id.as_str(), name);
        Self { file, rest: Vec::new(), is_cut: false, is_at_end: false }
    }

    /// Returns the text of the next read. One read only: many clients may see the end of a run.
    fn read(&mut self, moment: ProgressMoment) -> String {
        let mut bytes = std::mem::take(&mut self.rest);
        let left = SHOWN_BYTES_MAX.saturating_sub(self.file.offset());
        let read = self.file.read(moment, left);
        self.is_at_end = moment == ProgressMoment::Last && read.is_none();
        bytes.extend(read.unwrap_or_default());
        if !self.is_at_end {
            self.rest = bytes.split_off(bytes.len().saturating_sub(incomplete_len(&bytes)));
        }
        let mut text = reveal_text(&bytes);
        if self.file.offset() >= SHOWN_BYTES_MAX && !self.is_cut {
            self.is_cut = true;
            text.push_str("\n… only the first 4 MiB are shown here; see the record\n");
        }
        text
    }
}

/// The streams of a tool, and the progress of its run.
struct LiveRun {
    id: RequestId,
    streams: [LiveStream; STREAMS.len()],
    /// The latest step that was seen.
    step: Option<RunningStep>,
    looks: u32,
}

/// The result of one look.
struct LiveLook {
    text: String,
    /// The run has ended; text may be left.
    has_ended: bool,
    is_over: bool,
    /// A look has seen the tool run. A request that is held again ends without a run.
    has_run: bool,
}

impl LiveRun {
    fn look(&mut self, console: &ConsoleState) -> LiveLook {
        let running = running_requests(&console.spool);
        let step = running.get(self.id.as_str()).map(|it| it.step);
        self.step = self.step.max(step);
        self.looks = self.looks.saturating_add(1);
        let is_late = self.looks > UNSEEN_LOOKS_MAX;
        let has_ended = step.is_none() && (self.step.is_some() || is_late);
        let moment = if has_ended { ProgressMoment::Last } else { ProgressMoment::Now };
        let text = self.streams.iter_mut().map(|stream| stream.read(moment)).collect();
        let is_over = self.streams.iter().all(|stream| stream.is_at_end);
        let has_run = self.step >= Some(RunningStep::Running);
        LiveLook { text, has_ended, is_over, has_run }
    }
}

/// Sends the output of a running request, and its end.
pub(crate) async fn output(
    State(console): State<Arc<ConsoleState>>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let id: RequestId = id.parse().map_err(|_| PageError::missing())?;
    let (sender, response) = open_stream(&console)?;
    let streams = STREAMS.map(|name| LiveStream::new(&console, &id, name));
    let run = LiveRun { id, streams, step: None, looks: 0 };
    tokio::spawn(async move {
        // An error means that the browser has left.
        follow(console, run, sender).await.unwrap_or_default();
    });
    Ok(response)
}

async fn follow(
    console: Arc<ConsoleState>,
    mut run: LiveRun,
    sender: EventSender,
) -> Result<(), BodyClosed> {
    while sender.is_open() {
        let looked = blocking_as(WorkKind::Look, Arc::clone(&console), move |console| {
            let look = run.look(console);
            Ok((run, look))
        });
        let (next, look) = looked.await.map_err(|_| BodyClosed)?;
        let LiveLook { text, has_ended, is_over, has_run } = look;
        run = next;
        match text.is_empty() {
            true => sender.keep_alive().await?,
            false => sender.send("output", &Value::String(text).to_string()).await?,
        }
        if is_over {
            let end = if has_run { "\"ended\"" } else { "\"left\"" };
            return sender.send("end", end).await;
        }
        if !has_ended {
            sleep(INTERVAL).await;
        }
    }
    Ok(())
}
