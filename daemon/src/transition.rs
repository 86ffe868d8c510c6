//! What the daemon logs: one line for each transition of a request and of the daemon itself, with the same
//! words and fields wherever it goes. `docs/operating.md` has this table; a test holds them together. A line
//! tells what has happened; nothing reads it to decide.

use std::time::Duration;

use tracing::Level;

model::closed_set! {
    /// One transition.
    pub enum Transition {
        /// The daemon has begun to recover what an earlier one left.
        Starting = "starting",
        /// An interrupted request was finished: tidied, completed, or told as `indeterminate`.
        Recovered = "recovered",
        /// What is dropped is taken from now on.
        Ready = "ready",
        /// A request is ours.
        Claimed = "claimed",
        /// It waits for somebody's answer.
        Held = "held",
        /// It was granted what it asks for, and waits for room at most.
        Granted = "granted",
        /// It is in the ledger, durably: used up.
        Begun = "begun",
        /// The tool was started.
        Started = "started",
        /// The tool ended, or nobody knows.
        Ended = "ended",
        /// The result of a run is there, durably.
        Published = "published",
        /// The result of a refusal is there, durably.
        Refused = "refused",
        /// What was dropped is out of `approved/`; its copy is in `archive/` or `quarantine/`.
        Departed = "departed",
        /// Something in `approved/` is not taken until it changes.
        LeftAlone = "left-alone",
        /// Somebody asked for its end.
        Cancelled = "cancelled",
        /// Nothing is admitted until what is wrong is mended.
        AdmissionStopped = "admission-stopped",
        /// Requests are admitted again.
        AdmissionResumed = "admission-resumed",
        /// Policy, trust and keys were read again and are in force.
        Reloaded = "reloaded",
        /// Another key took the place of one of ours, and the log says so.
        KeyChanged = "key-changed",
        /// They were read again and are not good: the old ones stay.
        ReloadRefused = "reload-refused",
        /// Nothing new is taken; runs in flight end.
        Draining = "draining",
        /// Everything ended in order.
        Stopped = "stopped",
        /// Our own disk, keys or kernel failed.
        Halted = "halted",
    }
}

impl Transition {
    /// How much it matters: an error stops something, a warning is an answer that somebody did not want.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Self::AdmissionStopped | Self::ReloadRefused | Self::Halted => Level::ERROR,
            Self::Recovered | Self::Refused | Self::LeftAlone | Self::Cancelled => Level::WARN,
            Self::Claimed | Self::Granted | Self::Begun | Self::Departed => Level::DEBUG,
            _ => Level::INFO,
        }
    }
}

/// The fields of a line; each is there if it is known. Texts from outside are escaped here.
#[derive(Clone, Copy, Default, Debug)]
pub struct Fields<'a> {
    /// The request's id, or the name of the file where it has none.
    pub request: Option<&'a str>,
    /// The result's id.
    pub result: Option<&'a str>,
    /// The word of the outcome.
    pub outcome: Option<&'a str>,
    /// The code of the first violation.
    pub code: Option<&'a str>,
    /// Whether the run's cell was ready or cold.
    pub cell: Option<&'a str>,
    /// How long what ended took, in whole milliseconds.
    pub time: Option<Duration>,
    /// Where the result is, or what the line is about if not a request.
    pub path: Option<&'a str>,
    /// Why, in words.
    pub reason: Option<&'a str>,
}

/// The names under which the fields are logged: in the journal in capitals.
pub const FIELDS: [&str; 8] =
    ["request", "result", "outcome", "code", "cell", "ms", "path", "reason"];

/// Logs a transition.
pub fn log(transition: Transition, fields: &Fields<'_>) {
    let text = |text: Option<&str>| text.map(model::escape_line);
    let (request, result) = (text(fields.request), text(fields.result));
    let (outcome, code, cell) = (fields.outcome, fields.code, fields.cell);
    let ms = fields.time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let (path, reason) = (text(fields.path), text(fields.reason));
    // The level of an event is fixed where it stands.
    macro_rules! at {
        ($level:ident) => {
            tracing::$level!(
                request = request.as_deref(),
                result = result.as_deref(),
                outcome,
                code,
                cell,
                ms,
                path = path.as_deref(),
                reason = reason.as_deref(),
                "{transition}"
            )
        };
    }
    match transition.level() {
        Level::ERROR => at!(error),
        Level::WARN => at!(warn),
        Level::INFO => at!(info),
        _ => at!(debug),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(act: impl FnOnce()) -> String {
        let kept = Kept::default();
        let writer = kept.clone();
        let lines = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .finish();
        tracing::subscriber::with_default(lines, act);
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_transition_is_one_line_with_the_fields_that_are_known() {
        let said = lines(|| {
            let fields = Fields {
                request: Some("TR-1"),
                outcome: Some("ok"),
                time: Some(Duration::from_micros(12_900)),
                ..Fields::default()
            };
            log(Transition::Published, &fields);
        });
        assert_eq!(said, " INFO published request=\"TR-1\" outcome=\"ok\" ms=12\n");
    }

    #[test]
    fn nothing_from_outside_begins_a_line_of_its_own() {
        let said = lines(|| {
            let fields = Fields { request: Some("a\nERROR halted"), ..Fields::default() };
            log(Transition::Refused, &fields);
        });
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with(" WARN refused request="), "{said}");
    }

    #[test]
    fn every_transition_has_a_word_of_its_own() {
        let mut words: Vec<_> = Transition::ALL.iter().map(|one| one.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Transition::ALL.len());
    }
}
