//! Readiness after answers, failures and silence.

use fleet::model::HostName;

use super::*;

const LIMIT: Duration = Duration::from_secs(15);

fn answer() -> BeatAnswer {
    BeatAnswer {
        beats: 1,
        is_lost: false,
        lost_order_defect: None,
        disputed_by: Vec::new(),
        queued: 3,
        beat_age_sec: BTreeMap::from([("host-b".to_owned(), 1.5)]),
        witnesses: 1,
        disputed: Vec::new(),
    }
}

fn ready_at(now: Instant) -> Readiness {
    let mut readiness = Readiness::new("host-a", LIMIT);
    readiness.answered(now, now, answer());
    readiness
}

#[test]
fn a_host_is_ready_after_an_answer_and_not_before() {
    let now = Instant::now();
    assert!(
        Readiness::new("host-a", LIMIT).stop_reason(now).unwrap().contains("has not answered yet")
    );
    let readiness = ready_at(now);
    assert_eq!(readiness.stop_reason(now), None);
    assert_eq!((readiness.gauges().queued, readiness.gauges().witnesses), (3, 1));
}

#[test]
fn silence_stops_admission_after_the_limit() {
    let now = Instant::now();
    let mut readiness = ready_at(now);
    assert_eq!(readiness.stop_reason(now + LIMIT), None);
    let late = now + LIMIT + Duration::from_secs(1);
    assert!(readiness.stop_reason(late).unwrap().contains("for 16 s"));
    readiness.failed("database: connection refused; help: start it".to_owned(), true);
    assert_eq!(readiness.stop_reason(now + LIMIT), None, "a momentary failure may pass");
    assert!(readiness.stop_reason(late).unwrap().contains("connection refused"));
    readiness.answered(late, late, answer());
    assert_eq!(readiness.stop_reason(late), None);
}

#[test]
fn a_slow_answer_is_as_old_as_its_question() {
    let now = Instant::now();
    let mut readiness = Readiness::new("host-a", LIMIT);
    readiness.answered(now, now + LIMIT, answer());
    assert_eq!(readiness.stop_reason(now + LIMIT), None);
    assert!(readiness.stop_reason(now + LIMIT + Duration::from_secs(1)).is_some());
}

#[test]
fn a_lasting_failure_stops_admission_at_once() {
    let now = Instant::now();
    let mut readiness = ready_at(now);
    readiness.failed("database: version 9; help: update".to_owned(), false);
    assert!(readiness.stop_reason(now).unwrap().contains("version 9"));
}

#[test]
fn a_lost_or_disputed_host_is_not_ready() {
    let now = Instant::now();
    let mut readiness = Readiness::new("host-a", LIMIT);
    readiness.answered(now, now, BeatAnswer { is_lost: true, ..answer() });
    assert!(readiness.is_lost());
    assert!(readiness.stop_reason(now).unwrap().contains("declared it lost"));
    let witness = HostName::parse("host-b").unwrap();
    let disputed_by = vec![(witness, "a fork\nat 7".to_owned())];
    readiness.answered(now, now, BeatAnswer { disputed_by, ..answer() });
    let why = readiness.stop_reason(now).unwrap();
    assert!(why.contains("host-b") && why.contains("a fork\\u{a}at 7"), "{why}");
}

#[test]
fn an_order_that_does_not_count_stops_admission_and_declares_nothing() {
    let now = Instant::now();
    let mut readiness = Readiness::new("host-a", LIMIT);
    let lost_order_defect = Some("host host-b: order of a lost host: no; help: sign".to_owned());
    readiness.answered(now, now, BeatAnswer { is_lost: true, lost_order_defect, ..answer() });
    assert!(!readiness.is_lost());
    let why = readiness.stop_reason(now).unwrap();
    assert_eq!(why, "database: host host-b: order of a lost host: no; help: sign");
    assert_eq!(readiness.may_decide(), Ok(()), "starts of this host's own claims go on");
    readiness.answered(now, now, answer());
    assert_eq!(readiness.stop_reason(now), None);
    assert_eq!(readiness.lost_order_defect(), None);
}

#[test]
fn an_older_copy_of_the_database_is_never_believed_again() {
    let now = Instant::now();
    let mut readiness = ready_at(now);
    assert_eq!(readiness.may_decide(), Ok(()));
    readiness.found_older_copy("database: an older copy; help: check".to_owned());
    readiness.answered(now, now, answer());
    assert!(readiness.stop_reason(now).unwrap().contains("an older copy"));
    assert!(readiness.may_decide().is_err());
}

#[test]
fn a_daemon_that_is_silent_counts_as_stopped() {
    let now = Instant::now();
    let mut readiness = Readiness::new("host-a", LIMIT);
    assert!(!readiness.is_daemon_alive(now));
    assert!(readiness.daemon_asks(now), "it begins to ask");
    assert!(!readiness.daemon_asks(now + DAEMON_SILENT_MAX), "it goes on");
    let later = now + DAEMON_SILENT_MAX * 2 + Duration::from_secs(1);
    assert!(!readiness.is_daemon_alive(later));
    assert!(readiness.daemon_asks(later));
}
