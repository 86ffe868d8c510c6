//! Log events: one line for each transition of a request and of the daemon, with the same names and
//! fields for every destination. `docs/operating.md` lists them; a test compares the two. No
//! decision depends on them.

use std::time::Duration;

use tracing::Level;

model::closed_set! {
    /// A log event.
    pub enum LogEvent {
        /// The daemon begins to recover the claims of an earlier process.
        Starting = "starting",
        /// An interrupted request was cleaned up, published, or recorded as `indeterminate`.
        Recovered = "recovered",
        /// The daemon takes submissions.
        Ready = "ready",
        /// The daemon has claimed a request.
        Claimed = "claimed",
        /// A request waits for an approval, a permission or an operator.
        Held = "held",
        /// A request was granted; it may still wait for capacity.
        Granted = "granted",
        /// The start is durable in the ledger: the request is used up.
        Begun = "begun",
        /// The tool was started.
        Started = "started",
        /// The tool ended, or its end is unknown.
        Ended = "ended",
        /// The result of a run is durable and visible.
        Published = "published",
        /// The result of a refusal is durable and visible.
        Refused = "refused",
        /// The submitted file is gone from `approved/`; its copy is in `archive/` or `quarantine/`.
        Archived = "archived",
        /// A file in `approved/` is ignored until it changes.
        Ignored = "ignored",
        /// An operator cancelled the request.
        Cancelled = "cancelled",
        /// A standing approval is stored and can be used.
        StandingAdmitted = "standing-admitted",
        /// A standing approval was rejected and cannot be used any more.
        StandingRevoked = "standing-revoked",
        /// Nothing is admitted until the cause is fixed.
        AdmissionStopped = "admission-stopped",
        /// Requests are admitted again.
        AdmissionResumed = "admission-resumed",
        /// Policy, trust store and keys were read again and are in use.
        Reloaded = "reloaded",
        /// A key was replaced, and the log has an entry about it.
        KeyChanged = "key-changed",
        /// The files were read again and are not valid; the previous ones stay in use.
        ReloadRefused = "reload-refused",
        /// Nothing new is taken; running requests finish.
        Draining = "draining",
        /// The daemon stopped normally.
        Stopped = "stopped",
        /// The daemon's own disk, keys or kernel failed.
        Halted = "halted",
    }
}

impl LogEvent {
    /// An error stops a part of the service, a warning is an unwanted outcome.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Self::AdmissionStopped | Self::ReloadRefused | Self::Halted => Level::ERROR,
            Self::Recovered
            | Self::Refused
            | Self::Ignored
            | Self::Cancelled
            | Self::StandingRevoked => Level::WARN,
            Self::Claimed | Self::Granted | Self::Begun | Self::Archived => Level::DEBUG,
            _ => Level::INFO,
        }
    }
}

/// The fields of a log line; an unknown field is left out. Untrusted texts are escaped here.
#[derive(Clone, Copy, Default, Debug)]
pub struct LogEventFields<'a> {
    /// The request id, or the file name if the request has no id.
    pub request: Option<&'a str>,
    /// The result id.
    pub result: Option<&'a str>,
    /// The outcome, as text.
    pub outcome: Option<&'a str>,
    /// The code of the first violation.
    pub code: Option<&'a str>,
    /// `prewarmed` if the run's sandbox was prewarmed, else `cold`.
    pub sandbox: Option<&'a str>,
    /// The duration of the part that ended; logged in whole milliseconds.
    pub time: Option<Duration>,
    /// The path of the result, or of the subject of the line.
    pub path: Option<&'a str>,
    /// The reason, as text.
    pub reason: Option<&'a str>,
}

/// Logs an event.
pub fn log(transition: LogEvent, fields: &LogEventFields<'_>) {
    let text = |text: Option<&str>| text.map(model::escape_line);
    let (request, result) = (text(fields.request), text(fields.result));
    let (outcome, code, sandbox) = (fields.outcome, fields.code, fields.sandbox);
    let ms = fields.time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let (path, reason) = (text(fields.path), text(fields.reason));
    // `tracing` needs the level of an event at compile time.
    macro_rules! at {
        ($level:ident) => {
            tracing::$level!(
                request = request.as_deref(),
                result = result.as_deref(),
                outcome,
                code,
                sandbox,
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
    struct CapturedLog(Arc<Mutex<Vec<u8>>>);

    impl Write for CapturedLog {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(act: impl FnOnce()) -> String {
        let kept = CapturedLog::default();
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
    fn event_is_one_line_with_known_fields() {
        let output = lines(|| {
            let fields = LogEventFields {
                request: Some("TR-1"),
                outcome: Some("ok"),
                time: Some(Duration::from_micros(12_900)),
                ..LogEventFields::default()
            };
            log(LogEvent::Published, &fields);
        });
        assert_eq!(output, " INFO published request=\"TR-1\" outcome=\"ok\" ms=12\n");
    }

    #[test]
    fn untrusted_text_cannot_begin_a_line() {
        let output = lines(|| {
            let fields =
                LogEventFields { request: Some("a\nERROR halted"), ..LogEventFields::default() };
            log(LogEvent::Refused, &fields);
        });
        assert_eq!(output.lines().count(), 1, "{output}");
        assert!(output.starts_with(" WARN refused request="), "{output}");
    }

    #[test]
    fn every_event_has_a_unique_name() {
        let mut words: Vec<_> = LogEvent::ALL.iter().map(|one| one.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), LogEvent::ALL.len());
    }
}
