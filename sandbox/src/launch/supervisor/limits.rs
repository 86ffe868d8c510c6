//! Watches the tool from its start to the death of its tree, enforces every limit, and does the
//! final accounting. A limit that cannot be checked is not enforced: if checks or messages fail,
//! the tree is ended.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::cgroup::{CpuTimes, Knobs};
use super::super::inner_fds::InnerFds;
use super::super::sampler::Sampler;
use super::events::{MessageSources, SandboxEvent};
use super::model::{SandboxSupervisor, StartedTool};
use crate::messages::{FinalReport, FromInit, FromLauncher, ToInit, ToLauncher, ToolReport};
use crate::outcome::{KillReason, SIGSYS, ToolEnd};
use crate::plan::Limits;
use crate::report::Usage;
use crate::wire;

/// The most time that init may take to end the tree and itself before it is killed.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// The most consecutive checks that may fail before the tree is ended.
const FAILED_CHECKS_MAX: u32 = 20;
/// The interval between checks of the counters.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// The same after an alarm, which can come before the kernel counts the event.
const ALARMED_CHECK_INTERVAL: Duration = Duration::from_micros(200);

/// The interval of usage messages to the daemon, for display; a shorter run sends none.
const USAGE_INTERVAL: Duration = Duration::from_millis(500);

/// The mechanism that limits memory, pids and CPU time.
pub(super) enum LimitWatch<'a> {
    Kernel {
        knobs: &'a Knobs,
        /// CPU time of building the sandbox: the group counts it, but the tool did not use it.
        before: CpuTimes,
    },
    Sampled(Sampler),
}

impl LimitWatch<'_> {
    /// Starts the tool's CPU time. An unreadable counter subtracts nothing, the stricter choice.
    pub(super) fn begin(&mut self) {
        if let Self::Kernel { knobs, before } = self {
            *before = knobs.times().unwrap_or_default();
        }
    }

    fn usage(&self) -> Usage {
        match self {
            Self::Kernel { knobs, before } => Usage {
                memory_bytes: knobs.memory_bytes(),
                cpu_us: knobs.cpu_us().ok().map(|us| us.saturating_sub(before.total_us)),
            },
            Self::Sampled(sampler) => {
                Usage { memory_bytes: Some(sampler.memory_bytes()), cpu_us: Some(sampler.cpu_us()) }
            }
        }
    }
}

impl SandboxSupervisor<'_> {
    /// Watches from `StartedTool` to the death of the tree and enforces every limit.
    pub(super) fn watch(
        &mut self,
        started: &StartedTool,
        windows: &InnerFds,
        watch: &mut LimitWatch<'_>,
    ) -> FinalReport {
        let mut ending = FinalReport::default();
        let report = self.enforce_limits(started, windows, watch, &mut ending);
        let wall_us = u64::try_from(started.at.elapsed().as_micros()).ok();
        finish_accounting(&mut ending, report, windows, watch);
        ending.accounting.wall_us = wall_us;
        self.name_violation(&mut ending);
        ending
    }

    /// Waits for the end of the tree, or ends it because of a limit. Returns init's report.
    fn enforce_limits(
        &mut self,
        &StartedTool { ref limits, at: started, .. }: &StartedTool,
        windows: &InnerFds,
        watch: &mut LimitWatch<'_>,
        ending: &mut FinalReport,
    ) -> Option<Box<ToolReport>> {
        let wall = Duration::from_millis(limits.wall_ms_max);
        let mut blind = 0;
        let mut alarmed_until = started;
        let mut next_usage = started + USAGE_INTERVAL;
        loop {
            if Instant::now() >= next_usage {
                next_usage = Instant::now() + USAGE_INTERVAL;
                self.send_usage(watch);
            }
            let woken = self.next_event(alarmed_until, started + wall);
            if let (SandboxEvent::Alarm, Some(alarm)) = (&woken, self.alarm) {
                alarmed_until = Instant::now() + alarm.lead_time();
            }
            let over = match woken {
                SandboxEvent::Init(FromInit::ToolEnded(report), _) => {
                    // This process was stopped or stuck, and init enforced the limit.
                    if report.timed_out {
                        ending.killed = Some(KillReason::Wall);
                    }
                    return Some(report);
                }
                SandboxEvent::Daemon(ToLauncher::Kill(killed)) => Some(killed),
                SandboxEvent::Violation => Some(KillReason::Violation),
                // A late message, because the tool was faster.
                SandboxEvent::Init(FromInit::Started, _) => None,
                SandboxEvent::Init(..)
                | SandboxEvent::InitGone
                | SandboxEvent::Daemon(_)
                | SandboxEvent::DaemonGone
                | SandboxEvent::Unobservable(_) => {
                    self.process.kill();
                    return None;
                }
                SandboxEvent::Timeout | SandboxEvent::Alarm if started.elapsed() >= wall => {
                    Some(KillReason::Wall)
                }
                SandboxEvent::Timeout | SandboxEvent::Alarm => {
                    check_limits(limits, windows, watch, &mut blind)
                }
            };
            if let Some(killed) = over {
                // The wall limit wins a tie with the CPU limit. A tool that spins on one core, with
                // equal limits, reaches both within one interval.
                let tie =
                    killed == KillReason::Cpu && started.elapsed() + 2 * CHECK_INTERVAL >= wall;
                ending.killed = Some(if tie { KillReason::Wall } else { killed });
                return self.end_tree();
            }
        }
    }

    /// Waits for the next event, the next check, or the end of the wall limit.
    fn next_event(&mut self, alarmed_until: Instant, wall_ends: Instant) -> SandboxEvent {
        let now = Instant::now();
        let interval = if now < alarmed_until { ALARMED_CHECK_INTERVAL } else { CHECK_INTERVAL };
        if self.denials.as_ref().is_some_and(|it| it.violation().is_some()) {
            return SandboxEvent::Violation;
        }
        self.wait_event_until((now + interval).min(wall_ends), MessageSources::InitAndDaemon)
    }

    /// Names the denied calls and the violation that ended the run.
    fn name_violation(&self, ending: &mut FinalReport) {
        if let Some(ToolEnd::Signaled { signal: SIGSYS, .. }) = ending.tool {
            // The filter reports no call that it killed for, and SIGSYS does not name its sender.
            ending.violation = Some(
                "SIGSYS: a call of another architecture, or a signal sent by the tool".to_owned(),
            );
        }
        if let Some(denials) = &self.denials {
            ending.denied = denials.counted();
            if let Some(violation) = denials.violation() {
                ending.violation = Some(violation.to_owned());
                // A violation has priority over every other reason.
                ending.killed = Some(KillReason::Violation);
            }
        }
    }

    /// Sends usage if the socket has space: a daemon that does not read must still get the report.
    fn send_usage(&self, watch: &LimitWatch<'_>) {
        let mut waited = [PollFd::new(self.control, PollFlags::OUT)];
        let has_space = poll(&mut waited, Some(&Timespec::default())).is_ok()
            && waited[0].revents().contains(PollFlags::OUT);
        if has_space {
            let frame = FromLauncher::Usage(watch.usage()).encode();
            // A daemon that is gone is noticed elsewhere.
            wire::send_at_once(self.control, &frame, &[]).unwrap_or_default();
        }
    }

    /// Asks init to end the tree. Kills init, and with it the tree, if it does not answer in time.
    fn end_tree(&mut self) -> Option<Box<ToolReport>> {
        let deadline = Instant::now() + END_TIME_MAX;
        if self.send_to_init(&ToInit::Kill).is_ok() {
            loop {
                match self.wait_event_until(deadline, MessageSources::InitAndDaemon) {
                    SandboxEvent::Init(FromInit::ToolEnded(report), _) => return Some(report),
                    SandboxEvent::Init(FromInit::Started, _) => {}
                    // The daemon may repeat a kill that is in progress.
                    SandboxEvent::Daemon(ToLauncher::Kill(_)) => {}
                    // A dying tool may try further calls.
                    SandboxEvent::Violation | SandboxEvent::Alarm => {}
                    _ => break,
                }
            }
        }
        self.process.kill();
        None
    }
}

/// Returns the limit that is exceeded now. `blind` counts consecutive failed checks.
fn check_limits(
    limits: &Limits,
    windows: &InnerFds,
    watch: &mut LimitWatch<'_>,
    blind: &mut u32,
) -> Option<KillReason> {
    let error = match over_limit(limits, windows, watch) {
        Ok(over) => {
            *blind = 0;
            return over;
        }
        Err(error) => error,
    };
    *blind += 1;
    if *blind < FAILED_CHECKS_MAX {
        return None;
    }
    eprintln!("toolexec-launch: limits: cannot be read, ending the run: {error}");
    Some(KillReason::Cancelled)
}

fn over_limit(
    limits: &Limits,
    windows: &InnerFds,
    watch: &mut LimitWatch<'_>,
) -> io::Result<Option<KillReason>> {
    let (over_memory, cpu_us) = match watch {
        LimitWatch::Kernel { knobs, before } => {
            (knobs.oom_kills()? > 0, knobs.cpu_us()?.saturating_sub(before.total_us))
        }
        LimitWatch::Sampled(sampler) => (sampler.over_memory(windows)?, sampler.cpu_us()),
    };
    Ok(if over_memory {
        Some(KillReason::Memory)
    } else if cpu_us / 1000 >= limits.cpu_ms_max {
        Some(KillReason::Cpu)
    } else {
        None
    })
}

/// Completes the accounting after the tree is dead.
fn finish_accounting(
    ending: &mut FinalReport,
    report: Option<Box<ToolReport>>,
    windows: &InnerFds,
    watch: &mut LimitWatch<'_>,
) {
    if let Some(report) = report {
        if let LimitWatch::Sampled(sampler) = watch {
            sampler.see_processes(report.processes_last);
        }
        ending.tool = Some(report.end);
        ending.accounting = report.accounting;
    }
    if let Ok(out) = windows.out_use() {
        ending.out_full = out.full;
        ending.accounting.out_bytes = Some(out.bytes);
    }
    match watch {
        LimitWatch::Kernel { knobs, before } => {
            knobs.account(&mut ending.accounting, before);
            ending.pids_limit_hit = ending.accounting.pids_refused.unwrap_or(0) > 0;
        }
        LimitWatch::Sampled(sampler) => {
            sampler.account(&mut ending.accounting);
            ending.pids_limit_hit = sampler.pids_limit_hit();
        }
    }
}
