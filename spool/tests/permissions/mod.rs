//! Permissions on the disk give the same results as those in memory, across crashes, kills and
//! other processes. A damaged trail permits nothing.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod killed;
mod model;
mod scene;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::thread;

use policies::permissions::{PermissionError, PermissionManager, ToolAuthorizationState as State};
use scene::{StoreTestDir, calls, grant, noon, source, state, tool};
use spool::{FilingOutcome, PermissionStoreError};

#[test]
fn a_change_is_seen_by_every_process_that_has_it_open() {
    let place = StoreTestDir::new();
    let (mut one, mut other) = (place.open(), place.open());
    let mine = source(1);
    assert_eq!(state(&mut other, &mine, "a"), State::Requestable);
    grant(&mut one, &mine, &["a"], None);
    assert_eq!(state(&mut other, &mine, "a"), State::Approved);
    other.revoke(&mine, &tool("a"), None, &noon()).unwrap();
    assert_eq!(state(&mut one, &mine, "a"), State::Requestable);
    // The same after one of them has started a new trail file.
    grant(&mut one, &mine, &["b"], None);
    other.start_new_trail(&noon()).unwrap();
    grant(&mut other, &mine, &["c"], None);
    for store in [&mut one, &mut other, &mut place.open()] {
        assert_eq!(state(store, &mine, "b"), State::Approved);
        assert_eq!(state(store, &mine, "c"), State::Approved);
    }
    assert!(place.path("trail-00000000.jsonl").is_file(), "the old trail is kept");
}

#[test]
fn one_use_is_had_by_one_of_many() {
    let place = StoreTestDir::new();
    let mine = source(1);
    grant(&mut place.open(), &mine, &["a"], Some(5));
    let spend = || {
        let mut store = place.open();
        let tries = (0..5).map(|_| store.spend(&mine, &calls(&["a"]), &noon()));
        tries
            .filter(|tried| match tried {
                Ok(spent) => spent.is_some(),
                Err(PermissionStoreError::Refused(PermissionError::Blocked(..))) => false,
                Err(error) => panic!("{error}"),
            })
            .count()
    };
    let spent: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(spend)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(spent, 5);
    assert_eq!(state(&mut place.open(), &mine, "a"), State::Requestable);
}

#[test]
fn an_unfinished_last_line_is_as_if_it_were_never_begun() {
    let place = StoreTestDir::new();
    let mine = source(1);
    let mut store = place.open();
    grant(&mut store, &mine, &["a"], None);
    let whole = fs::read(place.trail()).unwrap();
    store.revoke(&mine, &tool("a"), None, &noon()).unwrap();
    let longer = fs::read(place.trail()).unwrap();
    for length in whole.len()..longer.len() {
        let place = StoreTestDir::of(&longer[..length]);
        assert_eq!(state(&mut place.open(), &mine, "a"), State::Approved, "{length}");
        let (mut reader, mut writer) = (place.open(), place.open());
        grant(&mut writer, &mine, &["b"], None);
        assert_eq!(state(&mut reader, &mine, "b"), State::Approved, "{length}");
        assert_eq!(state(&mut place.open(), &mine, "b"), State::Approved, "{length}");
    }
    assert_eq!(state(&mut StoreTestDir::of(&longer).open(), &mine, "a"), State::Requestable);
}

#[test]
fn a_trail_that_was_meddled_with_permits_nothing_and_says_where() {
    let place = StoreTestDir::new();
    let mine = source(1);
    for name in ["a", "b", "c"] {
        grant(&mut place.open(), &mine, &[name], None);
    }
    let good = fs::read(place.trail()).unwrap();
    let ends: Vec<usize> =
        good.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let refused = |bytes: &[u8], offset: usize| {
        let error = StoreTestDir::of(bytes).opened().err().expect("it was opened");
        let text = error.to_string();
        assert!(matches!(error, PermissionStoreError::Damaged { .. }), "{text}");
        assert!(
            text.contains("trail.jsonl") && text.contains(&format!("byte {offset}:")),
            "{text}"
        );
    };
    for at in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        let line = ends.iter().rev().find(|end| **end <= at).copied().unwrap_or(0);
        // Without the line feed at its end, the last line is unfinished.
        if at + 1 != good.len() && bad[at] != b'\n' {
            refused(&bad, line);
        }
    }
    // One line removed, and two lines swapped.
    refused(&[&good[..ends[1]], &good[ends[2]..]].concat(), ends[1]);
    let swapped =
        [&good[..ends[1]], &good[ends[2]..ends[3]], &good[ends[1]..ends[2]], &good[ends[3]..]];
    refused(&swapped.concat(), ends[1]);
    refused(&[&good[..], b"{}\n"].concat(), good.len());
    // A process that has the trail open notices it too.
    let mut store = place.open();
    let mut file = OpenOptions::new().append(true).open(place.trail()).unwrap();
    file.write_all(b"00 {}\n").unwrap();
    for _ in 0..2 {
        assert!(store.get(&mine, &calls(&["a"]), &noon()).is_err());
        assert!(store.spend(&mine, &calls(&["a"]), &noon()).is_err());
    }
    let shorter = StoreTestDir::of(&good);
    let mut store = shorter.open();
    OpenOptions::new().write(true).open(shorter.trail()).unwrap().set_len(100).unwrap();
    assert!(store.get(&mine, &calls(&["a"]), &noon()).is_err());
}

#[test]
fn a_trail_that_was_removed_or_cut_or_is_older_permits_nothing() {
    let place = StoreTestDir::new();
    let mine = source(1);
    let mut store = place.open();
    grant(&mut store, &mine, &["a"], Some(1));
    let granted = fs::read(place.trail()).unwrap();
    assert!(store.spend(&mine, &calls(&["a"]), &noon()).unwrap().is_some());
    drop(store);
    let spent = fs::read(place.trail()).unwrap();
    let refused = |what: &str| {
        let error = place.opened().err().unwrap_or_else(|| panic!("{what}: it was opened"));
        let text = error.to_string();
        assert!(text.contains("trail.jsonl") && text.contains("store.head"), "{what}: {text}");
    };
    fs::write(place.trail(), &granted).unwrap();
    refused("older");
    fs::write(place.trail(), &spent[..spent.len() - 1]).unwrap();
    refused("cut within its last line");
    fs::write(place.trail(), "").unwrap();
    refused("emptied");
    fs::remove_dir_all(place.store()).unwrap();
    refused("removed");
    fs::create_dir_all(place.store()).unwrap();
    fs::write(place.trail(), &spent).unwrap();
    assert_eq!(state(&mut place.open(), &mine, "a"), State::Requestable);
    // The operator removes the head, which accepts the existing trail.
    fs::write(place.trail(), &granted).unwrap();
    fs::remove_file(place.path("store.head")).unwrap();
    assert_eq!(state(&mut place.open(), &mine, "a"), State::Approved);
}

#[test]
fn a_trail_that_was_begun_anew_is_gone_on_with_wherever_that_was_interrupted() {
    let place = StoreTestDir::new();
    let mine = source(1);
    let mut store = place.open();
    grant(&mut store, &mine, &["a"], None);
    let head = fs::read(place.path("store.head")).unwrap();
    store.start_new_trail(&noon()).unwrap();
    drop(store);
    // The new file is in place, but the head is that of the previous file.
    fs::write(place.path("store.head"), head).unwrap();
    let mut store = place.open();
    assert_eq!(state(&mut store, &mine, "a"), State::Approved);
    grant(&mut store, &mine, &["b"], None);
    drop(store);
    assert_eq!(state(&mut place.open(), &mine, "b"), State::Approved);
    // The previous file is now an older copy.
    fs::copy(place.path("trail-00000000.jsonl"), place.trail()).unwrap();
    assert!(place.opened().is_err());
}

/// The line of the change is durable before the head is written.
#[test]
fn a_change_without_its_head_has_its_effect_and_its_number() {
    let place = StoreTestDir::new();
    let mine = source(1);
    let mut store = place.open();
    grant(&mut store, &mine, &["a"], None);
    let (head, aside) = (place.path("store.head"), place.path("aside"));
    fs::rename(&head, &aside).unwrap();
    fs::create_dir(&head).unwrap();
    store.revoke(&mine, &tool("a"), None, &noon()).unwrap_err();
    assert_eq!(state(&mut store, &mine, "a"), State::Requestable);
    fs::remove_dir(&head).unwrap();
    fs::rename(&aside, &head).unwrap();
    grant(&mut store, &mine, &["b"], None);
    assert_eq!(state(&mut place.open(), &mine, "b"), State::Approved);
}

#[test]
fn a_new_trail_that_cannot_be_opened_at_once_is_read_later() {
    let place = StoreTestDir::new();
    let mine = source(1);
    let (mut one, mut other) = (place.open(), place.open());
    grant(&mut one, &mine, &["a"], None);
    one.start_new_trail(&noon()).unwrap();
    fs::rename(place.trail(), place.path("aside")).unwrap();
    other.look_up(&mine, &calls(&["a"]), &noon()).unwrap_err();
    fs::rename(place.path("aside"), place.trail()).unwrap();
    grant(&mut one, &mine, &["b"], None);
    assert_eq!(state(&mut other, &mine, "b"), State::Approved);
}

#[test]
fn a_question_is_filed_once_and_again_where_its_file_is_gone() {
    let place = StoreTestDir::new();
    let mine = source(1);
    let drafts = place.path("drafts");
    let (mut one, mut other) = (place.open(), place.open());
    let requested = calls(&["a"]);
    let first = one.file_request(&mine, &requested, &noon(), &drafts).unwrap();
    let (filed, paths) = first.parts();
    assert!(matches!(first, FilingOutcome::New(..)));
    assert_eq!(fs::read(&paths[0]).unwrap(), *filed.file.as_ref().unwrap());
    let again = other.file_request(&mine, &requested, &noon(), &drafts).unwrap();
    assert!(matches!(&again, FilingOutcome::Waiting(waits, _) if waits.ask == filed.ask));
    assert_eq!(fs::read_dir(drafts.join("permissions")).unwrap().count(), 1);
    fs::remove_file(&paths[0]).unwrap();
    let anew = other.file_request(&mine, &requested, &noon(), &drafts).unwrap();
    assert!(matches!(&anew, FilingOutcome::New(new, _) if new.ask.id != filed.ask.id));
    // If it cannot be filed, no request is waiting.
    let file = place.path("no-directory");
    fs::write(&file, "").unwrap();
    assert!(one.file_request(&mine, &calls(&["b"]), &noon(), &file).is_err());
    let waiting = one.register().unwrap().open().count();
    assert_eq!(waiting, 1);
}
