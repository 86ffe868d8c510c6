//! A built sandbox: [`PreparedSandbox`] without a command, [`ReadySandbox`] with one.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use super::error::{BuildError, lost};
use super::run::{QUIET_TIME_MAX, RunEvent, RunningSandbox, report_stuck};
use super::start::{Peer, START_TIME_MAX, StartLimit, StartWait, WaitDecision};
use crate::collect::Collection;
use crate::messages::{FromLauncher, ToLauncher};
use crate::plan::{ExecSpec, Limits, WorkCopy};
use crate::report::{Confinement, EffectiveLimit, Mark};
use crate::stream_capture::StreamCapture;
use crate::wire;
use crate::work::COPY_TIME_MAX;

/// The most time until the launcher reports the start of the tool. Its worker reports earlier, even
/// if it did not see the tool start.
const STARTED_TIME_MAX: Duration = Duration::from_secs(15);

/// A sandbox that is built, confined and empty: it has no command yet.
#[must_use = "dropping a prepared sandbox ends it"]
pub struct PreparedSandbox {
    pub(super) peer: Peer,
    pub(super) control: OwnedFd,
    pub(super) evidence: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) proxy: Option<OwnedFd>,
    pub(super) confinement: Confinement,
    pub(super) marks: Vec<Mark>,
}

/// A sandbox that is built, confined and waiting, with its limits enforced.
#[must_use = "dropping a ready sandbox ends it"]
pub struct ReadySandbox {
    peer: Peer,
    control: OwnedFd,
    evidence: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    proxy: Option<OwnedFd>,
    confinement: Confinement,
    limits: Limits,
    work: Option<WorkCopy>,
}

impl PreparedSandbox {
    /// Returns the confinement that the sandbox read back; its limits follow with the command.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Returns the time of each step of building it.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Assigns the command and enforces its limits. A folder of which the tool gets a writable copy
    /// must be in the slot by now.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run and nothing remains.
    pub fn assign(self, order: ExecSpec) -> Result<ReadySandbox, BuildError> {
        self.assign_within(
            order,
            &mut StartLimit::new(START_TIME_MAX, &mut |_| WaitDecision::Continue),
        )
    }

    /// Like [`Self::assign`], within the caller's limit.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run. The error names processes that remain stuck in the kernel.
    pub fn assign_within(
        self,
        order: ExecSpec,
        limit: &mut StartLimit<'_>,
    ) -> Result<ReadySandbox, BuildError> {
        let (limits, work) = (order.limits, order.work.clone());
        let verb = ToLauncher::Exec(Box::new(order)).encode();
        wire::send(&self.control, &verb, &[]).map_err(BuildError::Lost)?;
        self.ready(limits, work, limit)
    }

    pub(super) fn ready(
        self,
        limits: Limits,
        work: Option<WorkCopy>,
        limit: &mut StartLimit<'_>,
    ) -> Result<ReadySandbox, BuildError> {
        let Self { mut peer, control, evidence, stdout, stderr, proxy, mut confinement, .. } = self;
        let step = match work {
            Some(_) => AssignStep::LimitsAndCopy,
            None => AssignStep::Limits,
        };
        confinement.limits = step.receive(&control, &mut peer, &evidence, limit)?;
        Ok(ReadySandbox {
            peer,
            control,
            evidence,
            stdout,
            stderr,
            proxy,
            confinement,
            limits,
            work,
        })
    }
}

impl ReadySandbox {
    /// Returns the confinement that the sandbox read back.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Takes the listening socket at the proxy's port inside the sandbox. Only a sandbox whose plan
    /// requests a network has one. The tool can reach nothing except what accepts on this socket.
    #[must_use]
    pub fn take_proxy(&mut self) -> Option<OwnedFd> {
        self.proxy.take()
    }

    /// Starts the tool. `result` is the directory of the result, in which `stdout`, `stderr` and
    /// `artifacts/` are created, and `work/` for a tool with a work copy.
    ///
    /// # Errors
    /// [`BuildError`]: the tool was not started. After [`BuildError::Unknown`] it may have been.
    pub fn start(self, result: BorrowedFd<'_>) -> Result<RunningSandbox, BuildError> {
        self.start_reported(result, |_| {})
    }

    /// Starts the tool like [`Self::start`]. `news` receives a launcher that cannot report it.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_reported(
        self,
        result: BorrowedFd<'_>,
        mut news: impl FnMut(RunEvent),
    ) -> Result<RunningSandbox, BuildError> {
        let Self { mut peer, control, evidence, stdout, stderr, limits, work, .. } = self;
        let prepared = || -> io::Result<_> {
            let stdout = StreamCapture::new(stdout, result, "stdout", limits.stream_bytes_max)?;
            let stderr = StreamCapture::new(stderr, result, "stderr", limits.stream_bytes_max)?;
            Ok((stdout, stderr, Collection::new(result, &limits, work)?))
        };
        let (stdout, stderr, collection) = prepared().map_err(BuildError::Lost)?;
        wire::send_at_once(&control, &ToLauncher::Go.encode(), &[]).map_err(BuildError::Lost)?;
        wait_for_start(&control, &mut peer, &evidence, &mut news)?;
        let wall = Duration::from_millis(limits.wall_ms_max);
        let kill_requested = None;
        Ok(RunningSandbox {
            peer,
            control,
            evidence,
            stdout,
            stderr,
            collection,
            kill_requested,
            wall,
            collect_time_max: limits.collect_time_max(),
        })
    }
}

/// The launcher's step after it has the command.
#[derive(Clone, Copy)]
enum AssignStep {
    Limits,
    /// The copy has time of its own, because it can take longer than all other steps.
    LimitsAndCopy,
}

impl AssignStep {
    /// Waits until the step is done. Returns the limits as they are enforced.
    fn receive(
        self,
        control: &OwnedFd,
        peer: &mut Peer,
        evidence: &OwnedFd,
        limit: &mut StartLimit<'_>,
    ) -> Result<Vec<EffectiveLimit>, BuildError> {
        let text = match self {
            Self::Limits => "apply the limits",
            Self::LimitsAndCopy => {
                limit.extend(COPY_TIME_MAX);
                "apply the limits and copy the folder to /out/work"
            }
        };
        match limit.receive(control, peer, evidence, text)? {
            Some((FromLauncher::Ready(effective), _)) => Ok(effective),
            Some((FromLauncher::SetupFailed(failure), _)) => Err(BuildError::SetupFailed(failure)),
            Some(_) => Err(lost("it sent an unexpected message")),
            None => Err(peer.closed()),
        }
    }
}

/// Waits for the report of the start. The tool may already run: report a stuck launcher once.
fn wait_for_start(
    control: &OwnedFd,
    peer: &mut Peer,
    evidence: &OwnedFd,
    news: &mut impl FnMut(RunEvent),
) -> Result<(), BuildError> {
    let unknown = |kind: io::ErrorKind| BuildError::Unknown(kind.into());
    let mut is_reported = false;
    let go_on = &mut |waiting: &StartWait| {
        if !is_reported && waiting.for_time >= QUIET_TIME_MAX {
            is_reported = report_stuck(waiting.peer(), news);
        }
        WaitDecision::Continue
    };
    let heard = StartLimit::new(STARTED_TIME_MAX, go_on)
        .receive(control, peer, evidence, "start the tool")
        .map_err(|error| BuildError::Unknown(io::Error::other(error.to_string())))?;
    match heard {
        Some((FromLauncher::Started, _)) => Ok(()),
        Some((FromLauncher::SetupFailed(unable), _)) => Err(BuildError::SetupFailed(unable)),
        Some(_) => Err(unknown(io::ErrorKind::InvalidData)),
        None => Err(unknown(io::ErrorKind::UnexpectedEof)),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use rustix::process::{Pid, Signal, kill_process};

    use super::super::session::pair;
    use super::*;

    #[test]
    fn a_copy_has_time_of_its_own_and_can_be_cancelled() {
        let (control, _launcher) = pair().unwrap();
        let (evidence, _collector) = pair().unwrap();
        let wait = |step: AssignStep| {
            let mut asked = 0;
            let mut ask = |_: &StartWait| {
                asked += 1;
                if asked < 3 { WaitDecision::Continue } else { WaitDecision::Cancel }
            };
            let mut peer = Peer { launcher: None, slot: Some(std::process::id()) };
            let mut limit = StartLimit::new(Duration::from_millis(1), &mut ask);
            step.receive(&control, &mut peer, &evidence, &mut limit).unwrap_err()
        };
        let stuck = wait(AssignStep::Limits);
        assert!(matches!(stuck, BuildError::Stuck(_)), "{stuck}");
        let cancelled = wait(AssignStep::LimitsAndCopy);
        assert!(matches!(cancelled, BuildError::Cancelled(_)), "{cancelled}");
        assert!(cancelled.to_string().contains("copy the folder to /out/work"), "{cancelled}");
    }

    #[test]
    fn a_worker_that_stops_before_it_reports_the_start_is_reported() {
        let (control, launcher) = pair().unwrap();
        let (evidence, _collector) = pair().unwrap();
        let mut worker = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        kill_process(Pid::from_child(&worker), Signal::STOP).unwrap();
        let mut peer = Peer { launcher: None, slot: Some(worker.id()) };
        let begun = Instant::now();
        let mut reported = Vec::new();
        let started = wait_for_start(&control, &mut peer, &evidence, &mut |news| {
            reported.push((begun.elapsed(), format!("{news:?}")));
            wire::send(&launcher, &FromLauncher::Started.encode(), &[]).unwrap();
        });
        worker.kill().unwrap();
        worker.wait().unwrap();
        started.unwrap();
        let [(after, news)] = reported.as_slice() else { panic!("{reported:?}") };
        assert!(news.starts_with("Stuck("), "{news}");
        assert!(*after >= QUIET_TIME_MAX, "{after:?}");
    }
}
