//! Exactly the entries that a simple reading of the bounds selects are removed, in a safe order.

#![allow(clippy::disallowed_methods, reason = "a test that cannot prepare its files must fail")]

use std::fs::{self, File};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use model::{Sha256, UtcTime};
use proptest::prelude::*;
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::size::bytes_in;
use super::{
    FLOOR_SEC, OldestEntries, RemovalOutcome, RetentionBound, RetentionBounds, RetentionEntry,
    RetentionPolicy, dry_run,
};
use crate::beneath::try_remove_tree;
use crate::paths::{Spool, SpoolPaths};
use crate::state::removed_results;

const NOW: i64 = 1_800_000_000;
const DAY: i64 = 24 * 60 * 60;

fn now() -> UtcTime {
    UtcTime::from_unix(NOW)
}

fn bounds() -> impl Strategy<Value = RetentionBounds> {
    let days = prop::option::of((1_u32..6).prop_map(|it| NonZero::new(it).unwrap()));
    let count = prop::option::of((1_u64..20).prop_map(|it| NonZero::new(it).unwrap()));
    let bytes = prop::option::of((1_u64..500).prop_map(|it| NonZero::new(it).unwrap()));
    (days, count, bytes).prop_map(|(days, count, bytes)| RetentionBounds { days, count, bytes })
}

fn entries() -> impl Strategy<Value = Vec<(RetentionEntry, bool)>> {
    let entry = (0..8 * DAY, 0_u64..60, any::<bool>());
    prop::collection::vec(entry, 0..30).prop_map(|them| {
        let entry = |(number, (age, bytes, may_go))| {
            let at = UtcTime::from_unix(NOW - age);
            (RetentionEntry { at, name: format!("{number}"), bytes }, may_go)
        };
        them.into_iter().enumerate().map(entry).collect()
    })
}

/// The simple reading: removes the oldest removable entry while any bound is exceeded.
fn plainly(entries: &[(RetentionEntry, bool)], bounds: &RetentionBounds) -> Vec<RetentionEntry> {
    let mut there: Vec<&(RetentionEntry, bool)> = entries.iter().collect();
    there.sort();
    let mut gone = Vec::new();
    loop {
        let can = |it: &&(RetentionEntry, bool)| it.1 && it.0.at.unix() <= NOW - FLOOR_SEC;
        let Some(place) = there.iter().position(can) else { return gone };
        let oldest = &there[place].0;
        let age = NOW - oldest.at.unix();
        let count = u64::try_from(there.len()).unwrap();
        let bytes: u64 = there.iter().map(|it| it.0.bytes).sum();
        let too_old = bounds.days.is_some_and(|days| age > i64::from(days.get()) * DAY);
        let too_many = bounds.count.is_some_and(|most| count > most.get());
        let too_much = bounds.bytes.is_some_and(|most| bytes > most.get());
        if !(too_old || too_many || too_much) {
            return gone;
        }
        gone.push(oldest.clone());
        there.remove(place);
    }
}

fn planned(
    entries: &[(RetentionEntry, bool)],
    bounds: &RetentionBounds,
    most: usize,
) -> Vec<(RetentionEntry, RetentionBound)> {
    let mut oldest = OldestEntries::new(most, now());
    for (entry, may_go) in entries {
        oldest.offer(entry.clone(), |_| *may_go);
    }
    oldest.expired(bounds)
}

proptest! {
    #[test]
    fn what_goes_is_what_the_bounds_say(entries in entries(), bounds in bounds()) {
        let going: Vec<RetentionEntry> =
            planned(&entries, &bounds, usize::MAX).into_iter().map(|(entry, _)| entry).collect();
        prop_assert_eq!(going, plainly(&entries, &bounds));
    }

    #[test]
    fn a_bounded_round_takes_the_oldest_of_what_goes(
        entries in entries(), bounds in bounds(), most in 1_usize..6,
    ) {
        let mut all = planned(&entries, &bounds, usize::MAX);
        all.truncate(most);
        prop_assert_eq!(planned(&entries, &bounds, most), all);
    }
}

struct RetentionTestDir(PathBuf);

impl Drop for RetentionTestDir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

impl RetentionTestDir {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        Self(top)
    }

    fn places(&self) -> SpoolPaths {
        let [state, spool, results] =
            ["state", "spool", "spool/results"].map(|name| self.0.join(name));
        SpoolPaths { log: spool.join("log"), state, spool, results }
    }

    /// Sets the entry's time as if it had been published this many days ago.
    fn touch(&self, kind: &str, id: &str, days: i64) {
        let at_sec = u64::try_from(NOW - days * DAY - 1).unwrap();
        let place = File::open(self.0.join("spool").join(kind).join(id)).unwrap();
        place.set_modified(UNIX_EPOCH + Duration::from_secs(at_sec)).unwrap();
    }

    fn make(&self, kind: &str, days: i64, files: &[&str]) -> String {
        let at = UtcTime::from_unix(NOW - days * DAY - 1).compact();
        let id = format!("TS-{at}-TR-20260209-160501Z-{days}");
        let place = self.0.join("spool").join(kind).join(&id);
        fs::create_dir(&place).unwrap();
        for ending in files {
            fs::write(place.join(format!("{id}{ending}")), "0123456789").unwrap();
        }
        self.touch(kind, &id, days);
        id
    }
}

const WHOLE: [&str; 5] = [".md", ".md.sig", ".bundle.json", ".tlog-proof", ".txt"];

fn one_day() -> RetentionPolicy {
    let days = RetentionBounds { days: NonZero::new(1), ..RetentionBounds::default() };
    RetentionPolicy { results: days, archive: days, quarantine: days }
}

fn names(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = names.map(|it| it.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_goes_is_marked_first_and_what_is_not_whole_or_promised_stays() {
    let dir = RetentionTestDir::new("retain");
    let spool = Spool::open_for_daemon(&dir.places()).unwrap();
    let old = dir.make("results", 3, &WHOLE);
    let unsigned = dir.make("results", 4, &[".md", ".bundle.json", ".tlog-proof"]);
    let unlogged = dir.make("results", 5, &[".md", ".md.sig", ".bundle.json"]);
    let promised = dir.make("results", 6, &WHOLE);
    let just_published = dir.make("results", 7, &WHOLE);
    dir.touch("results", &just_published, 0);
    let young = dir.make("results", 0, &WHOLE);
    let archived = dir.make("archive", 3, &["", ".md"]);
    let quarantined = dir.make("quarantine", 9, &[]);
    let results = dir.places().results;
    for name in ["lost+found", ".new-TS-20200101-000000Z-TR-20260209-160501Z-1", ".gone-x"] {
        fs::create_dir(results.join(name)).unwrap();
    }
    let work = dir.places().spool.join("work").join("0".repeat(32));
    fs::create_dir(&work).unwrap();
    fs::write(work.join("result.json"), format!("{{\"result_id\":\"{promised}\"}}")).unwrap();

    let seen = dry_run(&dir.places(), &one_day(), now()).unwrap();
    assert_eq!(names(&results).len(), 9, "a look changed something");
    let removal = spool.remove_expired(&one_day(), now(), 100, &|| false).unwrap();
    assert!(!removal.may_have_more);
    let gone: Vec<_> = removal
        .outcomes
        .into_iter()
        .map(|(one, gone)| {
            assert!(matches!(gone, RemovalOutcome::Removed));
            one
        })
        .collect();
    assert_eq!(gone, seen);
    let ids: Vec<_> = gone.iter().map(|one| (one.result_id.clone(), one.bytes)).collect();
    assert_eq!(ids, [(old.clone(), 50), (archived, 20), (quarantined, 0)]);
    let mut left =
        vec![unsigned, unlogged, promised, just_published, young, "lost+found".to_owned()];
    left.push(".new-TS-20200101-000000Z-TR-20260209-160501Z-1".to_owned());
    left.sort();
    assert_eq!(names(&results), left);
    let marks = removed_results(&dir.places().state).unwrap();
    assert!(marks.len() == 1 && marks.contains(&old), "{marks:?}");
    let lines = fs::read_to_string(dir.places().state.join("removed")).unwrap();
    let sha256 = Sha256::of(b"0123456789");
    let line = format!(
        "{{\"result_id\":\"{old}\",\"at\":\"{}\",\"record_sha256\":\"{sha256}\"}}\n",
        now()
    );
    assert_eq!(lines, line);
}

#[test]
fn rounds_are_bounded_and_end_on_request_and_a_torn_mark_is_cut() {
    let dir = RetentionTestDir::new("rounds");
    let spool = Spool::open_for_daemon(&dir.places()).unwrap();
    let ids: Vec<String> = (2..7).map(|days| dir.make("results", days, &WHOLE)).collect();
    let removed = dir.places().state.join("removed");
    let whole =
        format!("{{\"result_id\":\"{}\",\"at\":\"{}\",\"record_sha256\":\"0\"}}\n", ids[0], now());
    fs::write(&removed, format!("{whole}{{\"result_id\":\"TS-")).unwrap();
    let stopped = spool.remove_expired(&one_day(), now(), 2, &|| true).unwrap();
    assert!(stopped.outcomes.is_empty());
    let first = spool.remove_expired(&one_day(), now(), 2, &|| false).unwrap();
    assert!(first.may_have_more && first.outcomes.len() == 2);
    assert_eq!(first.outcomes[0].0.result_id, ids[4]);
    let second = spool.remove_expired(&one_day(), now(), 4, &|| false).unwrap();
    assert!(!second.may_have_more && second.outcomes.len() == 3);
    assert_eq!(removed_results(&dir.places().state).unwrap().len(), 5);
    assert!(names(&dir.places().results).is_empty());
}

/// Makes directories in each other, each with a file of 10 bytes.
fn make_chain(top: &Path, levels: usize) {
    let mut at = File::open(top).unwrap();
    for _ in 0..levels {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        at = openat(&at, "d", flags, Mode::empty()).unwrap().into();
        let flags = OFlags::CREATE | OFlags::WRONLY;
        let file = File::from(openat(&at, "f", flags, Mode::RUSR | Mode::WUSR).unwrap());
        file.set_len(10).unwrap();
    }
}

/// A submitter can leave such directories in a quarantined request.
#[test]
fn a_directory_that_cannot_be_read_stops_nothing() {
    let dir = RetentionTestDir::new("unreadable");
    let spool = Spool::open_for_daemon(&dir.places()).unwrap();
    let old = dir.make("results", 3, &WHOLE);
    let quarantine = dir.places().spool.join("quarantine");
    let [closed, deep] = [4, 5].map(|days| quarantine.join(dir.make("quarantine", days, &[".md"])));
    fs::create_dir(closed.join("closed")).unwrap();
    fs::set_permissions(closed.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    make_chain(&deep, 3000);
    assert_eq!(bytes_in(&closed), 10);
    // The file at the top, and that of each level below it that is listed.
    assert_eq!(bytes_in(&deep), 80 * 10);

    let bytes = RetentionBounds { bytes: NonZero::new(1 << 30), ..RetentionBounds::default() };
    let keep = RetentionPolicy { quarantine: bytes, ..one_day() };
    let removal = spool.remove_expired(&keep, now(), 100, &|| false).unwrap();
    let gone: Vec<_> = removal.outcomes.iter().map(|(one, _)| one.result_id.clone()).collect();
    assert_eq!(gone, [old]);
    assert!(names(&dir.places().results).is_empty());
    assert_eq!(names(&quarantine).len(), 2);
    fs::set_permissions(closed.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    try_remove_tree(&deep).unwrap();
}
