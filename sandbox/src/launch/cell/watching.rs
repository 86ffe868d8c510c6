//! Watches the tool from its start to the death of its tree, enforces every limit, and does the
//! final accounting.
//!
//! A limit that cannot be checked is not enforced: if checks or messages fail, the tree is ended.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::cgroup::{CpuTimes, Knobs};
use super::super::sampler::Sampler;
use super::super::windows::Windows;
use super::model::{Cell, Started};
use super::waking::{Listening, Woken};
use crate::messages::{Ending, FromInit, FromLauncher, ToInit, ToLauncher, ToolReport};
use crate::outcome::{Killed, SIGSYS, ToolEnd};
use crate::plan::Limits;
use crate::report::Usage;
use crate::wire;

/// The most time that init may take to end the tree and itself before it is killed.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// The most consecutive checks that may fail before the tree is ended.
const BLIND_LOOKS_MAX: u32 = 20;
/// The interval between checks of the counters.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// The same after an alarm, which can come before the kernel counts the event.
const ALARMED_LOOK_INTERVAL: Duration = Duration::from_micros(200);

/// The interval of usage messages to the daemon, for display; a shorter run sends none.
const TELL_INTERVAL: Duration = Duration::from_millis(500);

/// The mechanism that limits memory, pids and CPU time.
pub(super) enum Watch<'a> {
    Kernel {
        knobs: &'a Knobs,
        /// CPU time of building the sandbox: the group counts it, but the tool did not use it.
        before: CpuTimes,
    },
    Sampled(Sampler),
}

impl Watch<'_> {
    /// Starts the tool's CPU time. If the counter cannot be read, nothing is subtracted, which is
    /// the stricter choice.
    pub(super) fn begin(&mut self) {
        if let Self::Kernel { knobs, before } = self {
            *before = knobs.times().unwrap_or_default();
        }
    }

    /// Returns the current usage of the tool's tree.
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

impl Cell<'_> {
    /// Watches from `Started` to the death of the tree and enforces every limit.
    pub(super) fn watch(
        &mut self,
        started: &Started,
        windows: &Windows,
        watch: &mut Watch<'_>,
    ) -> Ending {
        let mut ending = Ending::default();
        let report = self.hold_limits(started, windows, watch, &mut ending);
        let wall_us = u64::try_from(started.at.elapsed().as_micros()).ok();
        close_books(&mut ending, report, windows, watch);
        ending.accounting.wall_us = wall_us;
        self.name_violation(&mut ending);
        ending
    }

    /// Waits until the tree has ended, or ends it because of a limit. Returns init's report about
    /// the tool.
    fn hold_limits(
        &mut self,
        &Started { ref limits, at: started }: &Started,
        windows: &Windows,
        watch: &mut Watch<'_>,
        ending: &mut Ending,
    ) -> Option<Box<ToolReport>> {
        let wall = Duration::from_millis(limits.wall_ms_max);
        let mut blind = 0;
        let mut alarmed_until = started;
        let mut next_telling = started + TELL_INTERVAL;
        loop {
            if Instant::now() >= next_telling {
                next_telling = Instant::now() + TELL_INTERVAL;
                self.tell_usage(watch);
            }
            let woken = self.next_event(alarmed_until, started + wall);
            if let (Woken::Alarm, Some(alarm)) = (&woken, self.alarm) {
                alarmed_until = Instant::now() + alarm.leads_by();
            }
            let over = match woken {
                Woken::Init(FromInit::ToolEnded(told), _) => {
                    // This process was stopped or stuck, and init enforced the limit.
                    if told.timed_out {
                        ending.killed = Some(Killed::Wall);
                    }
                    return Some(told);
                }
                Woken::Daemon(ToLauncher::Kill(killed)) => Some(killed),
                Woken::Violation => Some(Killed::Violation),
                // A late message, because the tool was faster.
                Woken::Init(FromInit::Started, _) => None,
                Woken::Init(..)
                | Woken::InitGone
                | Woken::Daemon(_)
                | Woken::DaemonGone
                | Woken::Blind(_) => {
                    self.shell.kill();
                    return None;
                }
                Woken::Nothing | Woken::Alarm if started.elapsed() >= wall => Some(Killed::Wall),
                Woken::Nothing | Woken::Alarm => look(limits, windows, watch, &mut blind),
            };
            if let Some(killed) = over {
                // The wall limit wins a tie with the CPU limit. A tool that spins on one core, with
                // equal limits, reaches both within one interval.
                let tie = killed == Killed::Cpu && started.elapsed() + 2 * LOOK_INTERVAL >= wall;
                ending.killed = Some(if tie { Killed::Wall } else { killed });
                return self.end_tree();
            }
        }
    }

    /// Waits for the next event, the next check, or the end of the wall limit.
    fn next_event(&mut self, alarmed_until: Instant, wall_ends: Instant) -> Woken {
        let now = Instant::now();
        let interval = if now < alarmed_until { ALARMED_LOOK_INTERVAL } else { LOOK_INTERVAL };
        if self.denials.as_ref().is_some_and(|it| it.violation().is_some()) {
            return Woken::Violation;
        }
        self.wake_until((now + interval).min(wall_ends), Listening::ToBoth)
    }

    /// Names the denied calls and the violation that ended the run.
    fn name_violation(&self, ending: &mut Ending) {
        if let Some(ToolEnd::Signaled { signal: SIGSYS, .. }) = ending.tool {
            // The filter does not report which call it killed for, and SIGSYS does not name its
            // sender.
            ending.violation = Some(
                "SIGSYS: a call of another architecture, or a signal sent by the tool".to_owned(),
            );
        }
        if let Some(denials) = &self.denials {
            ending.denied = denials.counted();
            if let Some(violation) = denials.violation() {
                ending.violation = Some(violation.to_owned());
                // A violation has priority over every other reason (DESIGN section 5).
                ending.killed = Some(Killed::Violation);
            }
        }
    }

    /// Sends usage, but only while the socket has room to spare: a daemon that does not read must
    /// still receive the final message.
    fn tell_usage(&self, watch: &Watch<'_>) {
        let mut room = [PollFd::new(self.control, PollFlags::OUT)];
        let has_room = poll(&mut room, Some(&Timespec::default())).is_ok()
            && room[0].revents().contains(PollFlags::OUT);
        if has_room {
            let frame = FromLauncher::Used(watch.usage()).encode();
            // A daemon that is gone is noticed elsewhere.
            wire::send_at_once(self.control, &frame, &[]).unwrap_or_default();
        }
    }

    /// Asks init to end the tree. Kills init, and with it the tree, if it does not answer in time.
    fn end_tree(&mut self) -> Option<Box<ToolReport>> {
        let deadline = Instant::now() + END_TIME_MAX;
        if self.tell_init(&ToInit::Kill).is_ok() {
            loop {
                match self.wake_until(deadline, Listening::ToBoth) {
                    Woken::Init(FromInit::ToolEnded(report), _) => return Some(report),
                    Woken::Init(FromInit::Started, _) => {}
                    // The daemon may repeat a kill that is in progress.
                    Woken::Daemon(ToLauncher::Kill(_)) => {}
                    // A dying tool may try further calls.
                    Woken::Violation | Woken::Alarm => {}
                    _ => break,
                }
            }
        }
        self.shell.kill();
        None
    }
}

/// Returns the limit that is exceeded now. `blind` counts consecutive failed checks.
fn look(
    limits: &Limits,
    windows: &Windows,
    watch: &mut Watch<'_>,
    blind: &mut u32,
) -> Option<Killed> {
    let error = match over_limit(limits, windows, watch) {
        Ok(over) => {
            *blind = 0;
            return over;
        }
        Err(error) => error,
    };
    *blind += 1;
    if *blind < BLIND_LOOKS_MAX {
        return None;
    }
    // A limit that cannot be checked is not enforced, so the tree is ended.
    eprintln!("toolexec-launch: limits: cannot be read, ending the run: {error}");
    Some(Killed::Cancelled)
}

fn over_limit(
    limits: &Limits,
    windows: &Windows,
    watch: &mut Watch<'_>,
) -> io::Result<Option<Killed>> {
    let (over_memory, cpu_us) = match watch {
        Watch::Kernel { knobs, before } => {
            (knobs.oom_kills()? > 0, knobs.cpu_us()?.saturating_sub(before.total_us))
        }
        Watch::Sampled(sampler) => (sampler.over_memory(windows)?, sampler.cpu_us()),
    };
    Ok(if over_memory {
        Some(Killed::Memory)
    } else if cpu_us / 1000 >= limits.cpu_ms_max {
        Some(Killed::Cpu)
    } else {
        None
    })
}

/// Completes the accounting after the tree is dead.
fn close_books(
    ending: &mut Ending,
    report: Option<Box<ToolReport>>,
    windows: &Windows,
    watch: &mut Watch<'_>,
) {
    if let Some(report) = report {
        if let Watch::Sampled(sampler) = watch {
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
        Watch::Kernel { knobs, before } => {
            knobs.account(&mut ending.accounting, before);
            ending.pids_limit_hit = ending.accounting.pids_refused.unwrap_or(0) > 0;
        }
        Watch::Sampled(sampler) => {
            sampler.account(&mut ending.accounting);
            ending.pids_limit_hit = sampler.pids_limit_hit();
        }
    }
}
