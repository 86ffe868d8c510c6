//! The wait for the answer to one start. Only [`GateAnswer::Start`] permits the start. The end of
//! the wait is a refusal.

use std::thread;
use std::time::{Duration, Instant};

use fleet::gate::{GateAnswer, GateError, GateLimit, GateQuery};
use model::escape_line;
use records::{reason_with_help, split_reason};

/// After this time without an answer, the daemon asks again.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(15);
/// A shorter wait would end without an answer, and hide the reason in the last answer.
const ANSWER_TIME_MIN: Duration = Duration::from_millis(50);
/// The pause after an answer that decides nothing.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// The interval of the checks for a cancellation during a pause.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The longest problem and the longest help, in characters. A record states both.
const REASON_CHARS_MAX: usize = 1000;
const HELP: &str = "see the messages of toolexec-fleet: journalctl -u toolexec-fleet";

/// Asks a gate until it decides, and at most for this time.
///
/// # Errors
/// The reason why the tool must not be started, as a record can state it.
pub(super) fn ask_start(
    query: &GateQuery,
    wait_max: Duration,
    is_wanted: &mut dyn FnMut() -> bool,
    ask: &mut dyn FnMut(&GateQuery, GateLimit<'_>) -> Result<GateAnswer, GateError>,
) -> Result<(), String> {
    let until = Instant::now() + wait_max;
    let mut last = "its gate was not asked".to_owned();
    loop {
        let rest = until.saturating_duration_since(Instant::now());
        if rest < ANSWER_TIME_MIN {
            return Err(undecided(wait_max, &last));
        }
        let limit = GateLimit { time_max: rest.min(ANSWER_TIME_MAX), is_wanted: &mut *is_wanted };
        match ask(query, limit) {
            Ok(GateAnswer::Start) => return Ok(()),
            Ok(GateAnswer::Refused { reason }) => return Err(stated(&reason)),
            Ok(GateAnswer::Undecided { reason }) => last = reason,
            Ok(GateAnswer::Ready(_) | GateAnswer::Stopped { .. }) => {
                last = "its gate gave an answer to another query".to_owned();
            }
            Err(GateError::Cancelled) => return Err(stated(&GateError::Cancelled.to_string())),
            Err(error) => last = error.to_string(),
        }
        pause(until, is_wanted);
    }
}

/// Waits before the next query, unless the wait is cancelled.
fn pause(until: Instant, is_wanted: &mut dyn FnMut() -> bool) {
    let end = until.min(Instant::now() + RETRY_INTERVAL);
    while Instant::now() < end && is_wanted() {
        thread::sleep(CHECK_INTERVAL);
    }
}

fn undecided(wait_max: Duration, last: &str) -> String {
    let (what, help) = split_reason(last);
    let seconds = wait_max.as_secs();
    let what = format!("the fleet did not decide about the start within {seconds} s: {what}");
    stated(&reason_with_help(&what, help.unwrap_or(HELP)))
}

/// Returns a reason of the gate as a record can state it. It may quote an error of the database.
fn stated(reason: &str) -> String {
    let (what, help) = bounded(reason);
    let texts = [reason_with_help(&what, &help), reason_with_help(&what, HELP)];
    if let Some(stated) = texts.iter().find(|text| validator::withholding_code(text).is_none()) {
        return stated.clone();
    }
    tracing::warn!("the gate of the fleet gave a reason that no record states: {}", texts[0]);
    reason_with_help("the gate of the fleet gave a reason that cannot be stated here", HELP)
}

/// Returns the problem of a reason and its help, each as one line of a bounded length.
pub(super) fn bounded(reason: &str) -> (String, String) {
    let line = |text: &str| escape_line(text).chars().take(REASON_CHARS_MAX).collect();
    let (what, help) = split_reason(reason);
    (line(what), line(help.unwrap_or(HELP)))
}

#[cfg(test)]
mod tests;
