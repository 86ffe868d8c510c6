//! The notices about a thread of drafts that is late. One comes when a file or directory has not
//! answered for some time, and one when the thread goes on. Pure: times are arguments.

use std::time::{Duration, Instant};

use super::draft_signals::DraftStep;

/// A step that takes longer is reported.
pub(super) const STEP_TIME_MAX: Duration = Duration::from_secs(10);

/// A notice for the log.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum DraftNotice {
    Late(String),
    Over(String),
}

#[derive(Default)]
pub(super) struct DraftDelay {
    /// The step that was reported as late.
    reported: Option<DraftStep>,
}

impl DraftDelay {
    /// Returns the notice that the present step causes, if any.
    pub(super) fn notice(&mut self, step: Option<&DraftStep>, now: Instant) -> Option<DraftNotice> {
        if let Some(reported) = &self.reported {
            if step == Some(reported) {
                return None;
            }
            let text = format!("{}: answers again", reported.object);
            self.reported = None;
            return Some(DraftNotice::Over(text));
        }
        let late = step.filter(|step| step.since + STEP_TIME_MAX <= now)?;
        self.reported = Some(late.clone());
        let (object, seconds) = (&late.object, STEP_TIME_MAX.as_secs());
        Some(DraftNotice::Late(format!(
            "{object}: no answer for {seconds} s; signed actions and drafts wait until it answers; \
             help: end the program that writes to it or to its directory"
        )))
    }

    /// Returns the time at which the present step is late.
    pub(super) fn due(&self, step: Option<&DraftStep>) -> Option<Instant> {
        match self.reported {
            Some(_) => None,
            None => step.map(|step| step.since + STEP_TIME_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_step_is_reported_once_and_so_is_its_end() {
        let since = Instant::now();
        let step = |object: &str, since| DraftStep { object: object.to_owned(), since };
        let (one, late) = (step("one", since), since + STEP_TIME_MAX);
        let mut delay = DraftDelay::default();
        assert_eq!(delay.notice(None, late), None);
        assert_eq!(delay.due(None), None);
        assert_eq!(delay.due(Some(&one)), Some(late));
        assert_eq!(delay.notice(Some(&one), late - Duration::from_millis(1)), None);
        let Some(DraftNotice::Late(text)) = delay.notice(Some(&one), late) else {
            panic!("it is not reported")
        };
        assert!(text.starts_with("one: ") && text.contains("; help: "), "{text}");
        assert_eq!(delay.notice(Some(&one), late + STEP_TIME_MAX), None);
        assert_eq!(delay.due(Some(&one)), None);
        // The next step begins when the late one has ended.
        let two = step("two", late + STEP_TIME_MAX);
        let over = Some(DraftNotice::Over("one: answers again".to_owned()));
        assert_eq!(delay.notice(Some(&two), two.since), over);
        assert_eq!(delay.notice(Some(&two), two.since), None);
        assert!(matches!(
            delay.notice(Some(&two), two.since + STEP_TIME_MAX),
            Some(DraftNotice::Late(_))
        ));
        assert!(matches!(delay.notice(None, two.since), Some(DraftNotice::Over(_))));
    }
}
