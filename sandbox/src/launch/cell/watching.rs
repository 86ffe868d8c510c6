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
        &Started { ref limits, at: started }: &Started,
        windows: &Windows,
        watch: &mut Watch<'_>,
    ) -> Ending {
        let wall = Duration::from_millis(limits.wall_ms_max);
        let mut ending = Ending::default();
        let mut report = None;
        let mut blind = 0;
        let mut alarmed_until = started;
        let mut next_telling = started + TELL_INTERVAL;
        while report.is_none() {
            if Instant::now() >= next_telling {
                next_telling = Instant::now() + TELL_INTERVAL;
                self.tell_usage(watch);
            }
            let alarmed = Instant::now() < alarmed_until;
            let next_look =
                Instant::now() + if alarmed { ALARMED_LOOK_INTERVAL } else { LOOK_INTERVAL };
            let violation = self.denials.as_ref().is_some_and(|it| it.violation().is_some());
            let woken = if violation {
                Woken::Violation
            } else {
                self.wake_until(next_look.min(started + wall), Listening::ToBoth)
            };
            if let (Woken::Alarm, Some(alarm)) = (&woken, self.alarm) {
                alarmed_until = Instant::now() + alarm.leads_by();
            }
            let over = match woken {
                Woken::Init(FromInit::ToolEnded(told), _) => {
                    // This process was kept from looking, and init was not.
                    if told.timed_out {
                        ending.killed = Some(Killed::Wall);
                    }
                    report = Some(told);
                    continue;
                }
                Woken::Daemon(ToLauncher::Kill(killed)) => Some(killed),
                Woken::Violation => Some(Killed::Violation),
                // Said late, because the tool was quicker.
                Woken::Init(FromInit::Started, _) => continue,
                Woken::Init(..)
                | Woken::InitGone
                | Woken::Daemon(_)
                | Woken::DaemonGone
                | Woken::Blind(_) => {
                    self.shell.kill();
                    break;
                }
                Woken::Nothing | Woken::Alarm if started.elapsed() >= wall => Some(Killed::Wall),
                Woken::Nothing | Woken::Alarm => match over_limit(limits, windows, watch) {
                    Ok(over) => {
                        blind = 0;
                        over
                    }
                    // Limits that cannot be watched are not kept: the tree ends.
                    Err(error) => {
                        blind += 1;
                        if blind < BLIND_LOOKS_MAX {
                            continue;
                        }
                        eprintln!("toolexec-launch: watching the limits: {error}");
                        Some(Killed::Cancelled)
                    }
                },
            };
            if let Some(killed) = over {
                // The wall limit wins a tie with the CPU limit: whoever asks for N seconds of one
                // core and spins meets both in the same moment, which is one look long.
                let tie = killed == Killed::Cpu && started.elapsed() + 2 * LOOK_INTERVAL >= wall;
                ending.killed = Some(if tie { Killed::Wall } else { killed });
                report = self.end_tree();
                break;
            }
        }
        let wall_us = u64::try_from(started.elapsed().as_micros()).ok();
        close_books(&mut ending, report, windows, watch);
        ending.accounting.wall_us = wall_us;
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
        ending
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
