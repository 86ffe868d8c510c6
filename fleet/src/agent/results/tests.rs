//! After a refresh, the names are those of the directory. If the time of the last listing is the
//! same, the refresh only read events.

use std::fs::File;
use std::time::Duration;

use futures_util::future::poll_immediate;
use rustix::fs::{CWD, RenameFlags, rename, renameat_with};
use tokio::runtime::{Builder, Runtime};

use super::super::result_events::EVENTS_MAX;
use super::*;

const REQUEST: &str = "TR-20261127-080000Z-a";

/// A spool with a directory of results, removed at the end.
struct ResultsScene {
    top: PathBuf,
    watch: ResultWatch,
    runtime: Runtime,
}

impl ResultsScene {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-fleet-results-{name}-{}", std::process::id());
        let top = std::env::temp_dir().join(name);
        fs::create_dir_all(top.join("spool/results")).unwrap();
        let watch = ResultWatch::new(top.join("spool/results"));
        let runtime = Builder::new_current_thread().build().unwrap();
        let scene = Self { top, watch, runtime };
        scene.set_changed_at(1);
        scene
    }

    /// A scene after its first listing, with the time of it.
    fn listed(name: &str) -> (Self, Instant) {
        let scene = Self::new(name);
        scene.refresh().unwrap();
        let at = scene.listed_at();
        (scene, at)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.watch.path(name)
    }

    fn make(&self, second: u32) {
        fs::create_dir(self.path(&name(second))).unwrap();
    }

    /// Sets the modification time of the directory, which causes no event that is read.
    fn set_changed_at(&self, hour: u64) {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(hour * 3600);
        File::open(&self.watch.results).unwrap().set_modified(at).unwrap();
    }

    fn refresh(&self) -> Result<(), FleetAgentError> {
        self.runtime.block_on(self.watch.refresh())
    }

    fn listed_at(&self) -> Instant {
        self.watch.last.try_lock().unwrap().as_ref().unwrap().at
    }

    /// Returns the names after a refresh. They must be those that a listing has.
    fn names(&self) -> Vec<String> {
        self.refresh().unwrap();
        let listed = ResultIndex::of(&self.watch.results).unwrap();
        assert_eq!(*self.watch.names.borrow(), listed);
        self.watch.names_of(REQUEST, "")
    }
}

impl Drop for ResultsScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

fn name(second: u32) -> String {
    format!("TS-20261127-0800{second:02}Z-{REQUEST}")
}

#[test]
fn a_refresh_without_events_lists_nothing() {
    let (scene, at) = ResultsScene::listed("idle");
    assert!(scene.names().is_empty());
    assert_eq!(scene.listed_at(), at);
    scene.make(1);
    assert_eq!(scene.names(), [name(1)]);
    assert_eq!(scene.names(), [name(1)]);
    assert_eq!(scene.listed_at(), at, "one name was looked at");
}

#[test]
fn names_appear_and_leave_without_a_listing() {
    let (scene, at) = ResultsScene::listed("names");
    fs::create_dir(scene.path(".collected")).unwrap();
    rename(scene.path(".collected"), scene.path(&name(1))).unwrap();
    scene.make(2);
    scene.make(3);
    scene.make(4);
    File::create(scene.path(&name(5))).unwrap();
    fs::create_dir(scene.path("other")).unwrap();
    assert_eq!(scene.names(), [name(1), name(2), name(3), name(4)]);
    fs::remove_dir(scene.path(&name(1))).unwrap();
    rename(scene.path(&name(2)), scene.top.join("away")).unwrap();
    rename(scene.path(&name(3)), scene.path(&name(6))).unwrap();
    scene.make(7);
    fs::remove_dir(scene.path(&name(7))).unwrap();
    assert_eq!(scene.names(), [name(4), name(6)]);
    assert_eq!(scene.listed_at(), at);
}

#[test]
fn a_name_that_is_replaced_is_what_it_is_now() {
    let (scene, at) = ResultsScene::listed("replaced");
    scene.make(1);
    File::create(scene.path(&name(2))).unwrap();
    assert_eq!(scene.names(), [name(1)]);
    let (one, two) = (scene.path(&name(1)), scene.path(&name(2)));
    renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).unwrap();
    assert_eq!(scene.names(), [name(2)]);
    fs::create_dir(scene.path(".collected")).unwrap();
    rename(scene.path(".collected"), &two).unwrap();
    assert_eq!(scene.names(), [name(2)], "an empty directory was renamed over");
    assert_eq!(scene.listed_at(), at);
}

#[test]
fn too_many_events_cause_a_listing() {
    let (scene, at) = ResultsScene::listed("many");
    scene.make(1);
    for _ in 0..=EVENTS_MAX / 2 {
        scene.make(2);
        fs::remove_dir(scene.path(&name(2))).unwrap();
    }
    assert_eq!(scene.names(), [name(1)]);
    let later = scene.listed_at();
    assert_ne!(later, at);
    scene.make(3);
    assert_eq!(scene.names(), [name(1), name(3)]);
    assert_eq!(scene.listed_at(), later, "the new watch works");
}

#[test]
fn a_directory_that_replaces_the_first_one_is_listed_and_watched() {
    for replaced in ["spool/results", "spool"] {
        let (scene, at) = ResultsScene::listed(&format!("other-{}", replaced.len()));
        scene.make(1);
        assert_eq!(scene.names(), [name(1)]);
        rename(scene.top.join(replaced), scene.top.join("away")).unwrap();
        fs::create_dir_all(&scene.watch.results).unwrap();
        scene.make(2);
        assert_eq!(scene.names(), [name(2)], "{replaced}");
        assert_ne!(scene.listed_at(), at, "{replaced}");
        scene.make(3);
        assert_eq!(scene.names(), [name(2), name(3)], "{replaced}");
    }
}

#[test]
fn a_directory_may_be_missing_only_before_its_first_listing() {
    let scene = ResultsScene::new("missing");
    fs::remove_dir(&scene.watch.results).unwrap();
    scene.refresh().unwrap();
    fs::create_dir(&scene.watch.results).unwrap();
    scene.make(1);
    assert_eq!(scene.names(), [name(1)]);
    fs::remove_dir_all(&scene.watch.results).unwrap();
    assert!(scene.refresh().is_err());
    assert!(scene.refresh().is_err(), "the error stays");
    fs::create_dir(&scene.watch.results).unwrap();
    scene.make(2);
    assert_eq!(scene.names(), [name(2)]);
}

#[test]
fn a_change_between_the_events_and_the_look_at_the_directory_is_reported() {
    let (scene, _) = ResultsScene::listed("between");
    let last = scene.watch.last.try_lock().unwrap();
    let listing = last.as_ref().unwrap();
    let changes = listing.take_changes();
    scene.make(1);
    let found = ResultsStamp::of(&fs::metadata(&scene.watch.results).unwrap());
    assert!(changes.as_ref().unwrap().is_empty());
    let names = listing.with_later(changes, found).unwrap().names;
    assert_eq!(names.into_iter().collect::<Vec<_>>(), [OsString::from(name(1))]);
}

#[test]
fn a_change_without_an_event_causes_a_listing() {
    let (scene, at) = ResultsScene::listed("silent");
    scene.set_changed_at(2);
    assert!(scene.names().is_empty());
    assert_ne!(scene.listed_at(), at);
}

#[test]
fn without_a_watch_a_change_causes_a_listing() {
    let (scene, at) = ResultsScene::listed("unwatched");
    scene.watch.last.try_lock().unwrap().as_mut().unwrap().events = None;
    assert!(scene.names().is_empty());
    assert_eq!(scene.listed_at(), at);
    scene.make(1);
    assert_eq!(scene.names(), [name(1)]);
    assert_ne!(scene.listed_at(), at);
}

#[test]
fn a_refresh_waits_for_the_listing_of_another() {
    let (scene, _) = ResultsScene::listed("waits");
    let watch = &scene.watch;
    scene.runtime.block_on(async {
        let listing = watch.last.lock().await;
        assert!(poll_immediate(watch.refresh()).await.is_none());
        drop(listing);
        assert!(poll_immediate(watch.refresh()).await.is_some(), "the directory is unchanged");
    });
}

#[test]
fn a_listing_that_is_abandoned_is_repeated() {
    let (scene, at) = ResultsScene::listed("abandoned");
    scene.make(1);
    // The events say that the directory moved. Its time is the one before.
    rename(&scene.watch.results, scene.top.join("away")).unwrap();
    rename(scene.top.join("away"), &scene.watch.results).unwrap();
    scene.set_changed_at(1);
    scene.runtime.block_on(async { drop(poll_immediate(scene.watch.refresh()).await) });
    assert_eq!(scene.names(), [name(1)]);
    assert_ne!(scene.listed_at(), at);
}
