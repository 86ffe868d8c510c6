//! From the start of the tool to the death of its tree: every limit held, and the books closed.
//!
//! A limit that nobody can see is no limit: where looks fail, or nobody can be heard, the tree ends.

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

/// How long init may take to end the tree, and then itself, before it is killed.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// Looks in a row that may fail before the tree is ended: a limit nobody can see is no limit.
const BLIND_LOOKS_MAX: u32 = 20;
/// Time between two looks at the counters.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// The same after an alarm, which may come before what it warns of is counted.
const ALARMED_LOOK_INTERVAL: Duration = Duration::from_micros(200);

/// How often the daemon is told what the run uses, for whoever looks on; a shorter run is not told of.
const TELL_INTERVAL: Duration = Duration::from_millis(500);

/// What holds memory, pids and CPU time to their limits.
pub(super) enum Watch<'a> {
    Kernel {
        knobs: &'a Knobs,
        /// What building the cell cost: it is in the group's count, and is not the tool's.
        before: CpuTimes,
    },
    Sampled(Sampler),
}

impl Watch<'_> {
    /// From here on time is the tool's. Where it cannot be read nothing is taken off, which is the
    /// stricter side.
    pub(super) fn begin(&mut self) {
        if let Self::Kernel { knobs, before } = self {
            *before = knobs.times().unwrap_or_default();
        }
    }

    /// What the tool's tree uses now.
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
    /// From `Started` to the death of the tree, with every limit held.
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

    /// Waits until the tree has ended, or ends it where a limit says so. Returns what init reported of the
    /// tool.
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
                    // This process was kept from looking, and init was not.
                    if told.timed_out {
                        ending.killed = Some(Killed::Wall);
                    }
                    return Some(told);
                }
                Woken::Daemon(ToLauncher::Kill(killed)) => Some(killed),
                Woken::Violation => Some(Killed::Violation),
                // Said late, because the tool was quicker.
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
                // The wall limit wins a tie with the CPU limit: whoever asks for N seconds of one
                // core and spins meets both in the same moment, which is one look long.
                let tie = killed == Killed::Cpu && started.elapsed() + 2 * LOOK_INTERVAL >= wall;
                ending.killed = Some(if tie { Killed::Wall } else { killed });
                return self.end_tree();
            }
        }
    }

    /// The next event until it is time for a look, or for the end.
    fn next_event(&mut self, alarmed_until: Instant, wall_ends: Instant) -> Woken {
        let now = Instant::now();
        let interval = if now < alarmed_until { ALARMED_LOOK_INTERVAL } else { LOOK_INTERVAL };
        if self.denials.as_ref().is_some_and(|it| it.violation().is_some()) {
            return Woken::Violation;
        }
        self.wake_until((now + interval).min(wall_ends), Listening::ToBoth)
    }

    /// The denied calls, and the violation among them that ended the run.
    fn name_violation(&self, ending: &mut Ending) {
        if let Some(ToolEnd::Signaled { signal: SIGSYS, .. }) = ending.tool {
            // The filter names no call that it kills for, and the signal does not name its sender.
            ending.violation = Some(
                "SIGSYS: a call of another architecture, or a signal that the tool sent".to_owned(),
            );
        }
        if let Some(denials) = &self.denials {
            ending.denied = denials.counted();
            if let Some(violation) = denials.violation() {
                ending.violation = Some(violation.to_owned());
                // Whatever else ended the run: it comes first (DESIGN section 5).
                ending.killed = Some(Killed::Violation);
            }
        }
    }

    /// Only where there is more room than the last word could need: a daemon that does not read must
    /// still be told of the end.
    fn tell_usage(&self, watch: &Watch<'_>) {
        let mut room = [PollFd::new(self.control, PollFlags::OUT)];
        let has_room = poll(&mut room, Some(&Timespec::default())).is_ok()
            && room[0].revents().contains(PollFlags::OUT);
        if has_room {
            let frame = FromLauncher::Used(watch.usage()).encode();
            // Whether the daemon is gone is heard elsewhere.
            wire::send_at_once(self.control, &frame, &[]).unwrap_or_default();
        }
    }

    /// Asks init to end the tree; kills init with everything else if it does not answer in time.
    fn end_tree(&mut self) -> Option<Box<ToolReport>> {
        let deadline = Instant::now() + END_TIME_MAX;
        if self.tell_init(&ToInit::Kill).is_ok() {
            loop {
                match self.wake_until(deadline, Listening::ToBoth) {
                    Woken::Init(FromInit::ToolEnded(report), _) => return Some(report),
                    Woken::Init(FromInit::Started, _) => {}
                    // The daemon may go on asking for what is already happening.
                    Woken::Daemon(ToLauncher::Kill(_)) => {}
                    // What is about to die may try more.
                    Woken::Violation | Woken::Alarm => {}
                    _ => break,
                }
            }
        }
        self.shell.kill();
        None
    }
}

/// The limit that is exceeded now. `blind` counts the looks in a row that failed.
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
    // Limits that cannot be watched are not kept: the tree ends.
    eprintln!("toolexec-launch: watching the limits: {error}");
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

/// Everything that is counted, now that nothing counts any more.
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
