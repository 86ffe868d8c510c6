//! A request in flight as a line of unlimited width. Reads neither a clock nor a file.

use model::UtcTime;
use spool::{RunningRequest, RunningStep};

use super::measure::{bytes_of, seconds_of, share};

const BAR_COLUMNS: usize = 10;

/// Returns the seconds since the step began.
pub(crate) fn elapsed_sec(running: &RunningRequest, now: UtcTime) -> u64 {
    let since = running.step_since_utc.parse::<UtcTime>().map_or(now.unix(), UtcTime::unix);
    u64::try_from(now.unix().saturating_sub(since)).unwrap_or(0)
}

/// Returns the figures of a request in flight, without its step.
pub(crate) fn running_figures(running: &RunningRequest, now: UtcTime) -> String {
    let elapsed = elapsed_sec(running, now);
    match (running.step, running.input_bytes, running.time_sec_max) {
        (RunningStep::Staging, Some(all), _) => {
            let done = running.hashed_bytes.unwrap_or(0);
            format!("{} {} hashed", bar(done, all), bytes_of(Some(done), all))
        }
        (RunningStep::Running, _, Some(time_max)) => {
            let mut text = format!("{} {elapsed} of {time_max} s", bar(elapsed, time_max));
            if let Some(cpu_max) = running.cpu_ms_max {
                text.push_str(&format!("  cpu {}", seconds_of(running.cpu_ms, cpu_max)));
            }
            if let Some(memory_max) = running.memory_bytes_max {
                text.push_str(&format!("  memory {}", bytes_of(running.memory_bytes, memory_max)));
            }
            text
        }
        _ => format!("{elapsed} s"),
    }
}

fn bar(part: u64, whole: u64) -> String {
    let full = share(part, whole, BAR_COLUMNS);
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR_COLUMNS - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(step: RunningStep) -> RunningRequest {
        RunningRequest {
            request_id: "TR-20260209-160501Z-a".to_owned(),
            since_utc: "2026-02-09T16:05:01Z".to_owned(),
            step,
            step_since_utc: "2026-02-09T16:05:02Z".to_owned(),
            time_sec_max: Some(60),
            memory_bytes_max: Some(256 << 20),
            submitter: None,
            hashed_bytes: Some(1 << 30),
            input_bytes: Some(4 << 30),
            memory_bytes: Some(64 << 20),
            cpu_ms: Some(11_800),
            cpu_ms_max: Some(60_000),
        }
    }

    #[test]
    fn each_step_has_its_figures() {
        let now: UtcTime = "2026-02-09T16:05:14Z".parse().unwrap();
        let figures = |step| running_figures(&running(step), now);
        assert_eq!(figures(RunningStep::Claimed), "12 s");
        assert_eq!(figures(RunningStep::Staging), "[##--------] 1 of 4 GiB hashed");
        assert_eq!(
            figures(RunningStep::Running),
            "[##--------] 12 of 60 s  cpu 11.8 of 60 s  memory 64 of 256 MiB"
        );
        assert_eq!(figures(RunningStep::Publishing), "12 s");
        let unknown =
            RunningRequest { cpu_ms: None, memory_bytes: None, ..running(RunningStep::Running) };
        let early: UtcTime = "2026-02-09T16:05:00Z".parse().unwrap();
        assert_eq!(
            running_figures(&unknown, early),
            "[----------] 0 of 60 s  cpu ? of 60 s  memory ? of 256 MiB"
        );
    }
}
