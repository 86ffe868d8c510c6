//! A run from its start to its last file. Reads the tool's streams, the collector's files and the
//! launcher's messages. It gives up on a launcher that is silent after the run should have ended.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::session::receive;
use super::start::Peer;
use crate::collect::{Collection, CollectorState};
use crate::messages::{EvidenceMessage, FinalReport, FromLauncher, ToLauncher};
use crate::outcome::{KillReason, OutcomeFacts};
use crate::process::ProcessState;
use crate::report::{FinishedRun, Usage};
use crate::stream_capture::StreamCapture;
use crate::wire;

const CANCEL_INTERVAL: Duration = Duration::from_millis(100);
/// The time that the launcher may need beyond the wall limit, to end the tree.
const LAUNCHER_TIME_MAX: Duration = Duration::from_secs(180);
/// A launcher that is silent for this long after the run should have ended is considered lost.
const SILENCE_TIME_MAX: Duration = Duration::from_secs(10);
/// The launcher sends usage twice a second. After this much silence its process state is checked.
pub(super) const QUIET_TIME_MAX: Duration = Duration::from_millis(1500);
/// The most time that streams and files may take after the launcher's final message.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);
/// The most time that they may take after the run was cancelled. The service manager waits only
/// little longer for a daemon that stops.
const CANCELLED_DRAIN_TIME_MAX: Duration = Duration::from_secs(10);
/// The time that the launcher needs to end a collector whose time is over.
const COLLECTOR_END_TIME_MAX: Duration = Duration::from_secs(5);

/// A running tool.
#[must_use = "dropping a running sandbox kills it"]
pub struct RunningSandbox {
    pub(super) peer: Peer,
    pub(super) control: OwnedFd,
    pub(super) evidence: OwnedFd,
    pub(super) stdout: StreamCapture,
    pub(super) stderr: StreamCapture,
    pub(super) collection: Collection,
    pub(super) kill_requested: Option<(KillReason, Instant)>,
    pub(super) wall: Duration,
    pub(super) collect_time_max: Duration,
}

/// An event of a run in progress.
#[derive(Debug)]
pub enum RunEvent {
    /// The current resource usage.
    Usage(Usage),
    /// The launcher cannot watch the run; reported once. The wall limit is enforced all the same.
    Stuck(ProcessState),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceState {
    Open,
    Closed,
}

pub(super) fn report_stuck(peer: Peer, news: &mut impl FnMut(RunEvent)) -> bool {
    let stuck = peer.stuck_slot();
    let is_stuck = stuck.is_some();
    stuck.into_iter().for_each(|state| news(RunEvent::Stuck(state)));
    is_stuck
}

impl RunningSandbox {
    /// Reads until everything has ended. Calls `cancelled` several times a second.
    ///
    /// # Errors
    /// Errors of our own disk only; faults of tool or launcher are in the [`FinishedRun`].
    pub fn finish(self, cancelled: impl FnMut() -> bool) -> io::Result<FinishedRun> {
        self.finish_with_events(cancelled, |_| {})
    }

    /// Like [`Self::finish`], and passes progress events to `news`, for display.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_with_events(
        mut self,
        mut cancelled: impl FnMut() -> bool,
        mut news: impl FnMut(RunEvent),
    ) -> io::Result<FinishedRun> {
        let mut ending = None;
        let mut control = SourceState::Open;
        let mut evidence = SourceState::Open;
        let mut deadline = None;
        let begun = Instant::now();
        let lost_at = begun + self.wall + LAUNCHER_TIME_MAX;
        let (mut heard, mut stuck_reported) = (begun, false);
        loop {
            let open = |owed: SourceState| owed == SourceState::Open;
            if !open(control) && !open(evidence) && !self.stdout.open() && !self.stderr.open() {
                break;
            }
            // None should escape, but an escaped process could keep a pipe open for ever.
            if Instant::now() >= self.drain_end(deadline).unwrap_or(lost_at) {
                break;
            }
            if open(control) && self.is_overdue(begun, heard) {
                break;
            }
            if open(control) && !stuck_reported && heard.elapsed() >= QUIET_TIME_MAX {
                stuck_reported = report_stuck(self.peer, &mut news);
            }
            let ready = self.wait(open(control), open(evidence))?;
            if ready.stdout {
                self.stdout.read_some()?;
            }
            if ready.stderr {
                self.stderr.read_some()?;
            }
            if ready.evidence {
                evidence = self.take_evidence()?;
                // The collector is still sending: the drain period restarts with each file.
                deadline = deadline.map(|_| self.drained_at(evidence));
            }
            if ready.control {
                heard = Instant::now();
                control = self.receive_from_launcher(&mut ending, &mut news);
                if !open(control) {
                    deadline = Some(self.drained_at(evidence));
                }
            }
            if self.stdout.over() || self.stderr.over() {
                self.request_kill(KillReason::Stream);
            } else if cancelled() {
                self.request_kill(KillReason::Cancelled);
            }
        }
        self.close(ending)
    }

    /// Returns the deadline for the next message after the launcher's final one.
    fn drained_at(&self, evidence: SourceState) -> Instant {
        // While a work copy is compared, equal files give no message.
        let compares = evidence == SourceState::Open && self.collection.has_work();
        let comparing = self.collect_time_max.saturating_add(COLLECTOR_END_TIME_MAX);
        Instant::now() + if compares { comparing } else { DRAIN_TIME_MAX }
    }

    /// Returns the end of the drain period, which a cancellation shortens.
    fn drain_end(&self, deadline: Option<Instant>) -> Option<Instant> {
        match self.kill_requested {
            Some((KillReason::Cancelled, at)) => {
                deadline.map(|deadline| deadline.min(at + CANCELLED_DRAIN_TIME_MAX))
            }
            _ => deadline,
        }
    }

    fn receive_from_launcher(
        &self,
        ending: &mut Option<FinalReport>,
        news: &mut impl FnMut(RunEvent),
    ) -> SourceState {
        match receive(&self.control) {
            Ok(Some((FromLauncher::Usage(usage), _))) => {
                news(RunEvent::Usage(usage));
                return SourceState::Open;
            }
            Ok(Some((FromLauncher::Ended(ended), _))) => *ending = Some(*ended),
            _ => {}
        }
        SourceState::Closed
    }

    /// Returns whether the run should have ended, and a working launcher would have reported it.
    /// The sandbox's init has ended the tool, or will when this value is dropped.
    fn is_overdue(&self, begun: Instant, heard: Instant) -> bool {
        let requested_at = self.kill_requested.map(|(_, at)| at);
        let should_end = requested_at.map_or(begun + self.wall, |at| at.min(begun + self.wall));
        heard.max(should_end).elapsed() >= SILENCE_TIME_MAX
    }

    fn wait(&self, control: bool, evidence: bool) -> io::Result<ReadySources> {
        let fds = [
            (control, self.control.as_fd()),
            (evidence, self.evidence.as_fd()),
            (self.stdout.open(), self.stdout.pipe.as_fd()),
            (self.stderr.open(), self.stderr.pipe.as_fd()),
        ];
        let mut waited: Vec<PollFd<'_>> = fds
            .iter()
            .filter(|(open, _)| *open)
            .map(|(_, fd)| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
            .collect();
        let timeout = Timespec::try_from(CANCEL_INTERVAL).ok();
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut results = waited.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |open: bool| open && results.next().unwrap_or(false);
        Ok(ReadySources {
            control: next(control),
            evidence: next(evidence),
            stdout: next(self.stdout.open()),
            stderr: next(self.stderr.open()),
        })
    }

    fn take_evidence(&mut self) -> io::Result<SourceState> {
        let Ok(Some((bytes, fds))) = wire::receive(&self.evidence) else {
            return Ok(SourceState::Closed);
        };
        let state = match (EvidenceMessage::decode(&bytes), fds.as_slice()) {
            (Ok(EvidenceMessage::File { path, mode }), [file]) => {
                self.collection.file(&path, mode, file)?
            }
            (Ok(EvidenceMessage::Changed { path, mode }), [file]) => {
                self.collection.changed(&path, mode, file)?
            }
            (Ok(EvidenceMessage::Removed { path }), []) => self.collection.removed(&path),
            (Ok(EvidenceMessage::Rejected { path, reason }), []) => {
                self.collection.reject(&path, reason)
            }
            (Ok(EvidenceMessage::End { complete }), []) => {
                self.collection.end(complete);
                return Ok(SourceState::Closed);
            }
            _ => CollectorState::Untrusted,
        };
        // Without `EvidenceMessage::End` the walk counts as incomplete.
        Ok(match state {
            CollectorState::Trusted => SourceState::Open,
            CollectorState::Untrusted => SourceState::Closed,
        })
    }

    /// Asks the launcher once to kill the run. A launcher that is gone has already ended it.
    fn request_kill(&mut self, why: KillReason) {
        if self.kill_requested.is_none() {
            self.kill_requested = Some((why, Instant::now()));
            if wire::send_at_once(&self.control, &ToLauncher::Kill(why).encode(), &[]).is_err() {
                eprintln!("toolexec: launcher: disconnected before the kill request");
            }
        }
    }

    fn close(self, ending: Option<FinalReport>) -> io::Result<FinishedRun> {
        // If the launcher was lost after the start, the outcome of the run is unknown.
        let lost = ending.is_none().then(|| match self.peer.stuck_slot() {
            Some(state) => format!("launcher: lost after the tool started: {state}"),
            None => "launcher: lost after the tool started".to_owned(),
        });
        let ending = ending.unwrap_or_default();
        // The tool may have ended before it was killed; the stream limit is exceeded all the same.
        let too_much = self.stdout.over() || self.stderr.over();
        let (stdout, stderr) = (self.stdout.close()?, self.stderr.close()?);
        let file_full = self.collection.file_full();
        let collected = self.collection.into_collected();
        let facts = OutcomeFacts {
            tool: ending.tool,
            killed: ending.killed.or(too_much.then_some(KillReason::Stream)),
            oom_kills: ending.accounting.oom_kills.unwrap_or(0),
            pids_limit_hit: ending.pids_limit_hit,
            out_full: ending.out_full,
            file_full,
            output_rejected: !collected.rejected.is_empty(),
            collected_all: collected.complete,
        };
        let FinalReport { denied, violation, accounting, .. } = ending;
        Ok(FinishedRun { facts, denied, violation, accounting, stdout, stderr, collected, lost })
    }
}

struct ReadySources {
    control: bool,
    evidence: bool,
    stdout: bool,
    stderr: bool,
}
