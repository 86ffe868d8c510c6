//! Hostile messages of the collector, without a sandbox.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::*;
use crate::plan::{CHANGES_MAX, WORK_FILE_BYTES_MAX, WorkFolder};
use crate::report::{ChangedFile, WorkChanges};

const LIMITS: Limits = Limits { artifacts_max: 10, ..Limits::SMALL };

/// A result directory that is removed with the test, and files to send.
struct CollectorScratch(PathBuf);

impl CollectorScratch {
    fn new(name: &str) -> Self {
        let unique = format!("toolexec-collect-{name}-{}", std::process::id());
        let place = std::env::temp_dir().join(unique);
        fs::create_dir(&place).unwrap();
        Self(place)
    }

    fn collection(&self, work: Option<WorkCopy>) -> Collection {
        let result = File::open(&self.0).unwrap();
        Collection::new(result.as_fd(), &LIMITS, work).unwrap()
    }

    /// Returns a file of this size to send, opened for reading.
    fn file(&self, size: u64) -> OwnedFd {
        let path = self.0.join("sent");
        File::create(&path).unwrap().set_len(size).unwrap();
        File::open(&path).unwrap().into()
    }

    fn has(&self, path: impl AsRef<Path>) -> bool {
        self.0.join(path).symlink_metadata().is_ok()
    }
}

impl Drop for CollectorScratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn work_copy(patch: &str) -> Option<WorkCopy> {
    Some(WorkCopy { folder: WorkFolder::new("repo").unwrap(), patch: patch.to_owned() })
}

#[test]
fn endless_rejections_end_collecting() {
    let place = CollectorScratch::new("endless");
    let mut collection = place.collection(None);
    let name = vec![b'\n'; 4096];
    let believed = (0..100_000)
        .take_while(|_| collection.reject(&name, RejectReason::Fifo) == CollectorState::Trusted)
        .count();
    assert_eq!(believed, 10 + 1024);
    let collected = collection.into_collected();
    assert_eq!((collected.rejected.len(), collected.complete), (believed, false));
    let bytes: usize = collected.rejected.iter().map(|it| it.path.len()).sum();
    assert!(bytes <= believed * 512 * 6, "{bytes}");
}

#[test]
fn changed_files_are_numbered_and_private() {
    let place = CollectorScratch::new("numbered");
    let mut collection = place.collection(work_copy("changes.patch"));
    let file = place.file(7);
    for (path, mode) in [(".github/a", 0o755), ("b c", 0o600)] {
        let state = collection.changed(path.as_bytes(), mode, &file).unwrap();
        assert_eq!(state, CollectorState::Trusted, "{path}");
    }
    assert_eq!(collection.removed(b"gone"), CollectorState::Trusted);
    let mode = |path: &str| fs::metadata(place.0.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("work"), mode("work/0"), mode("work/1")), (0o700, 0o600, 0o600));
    let row =
        |path: &str, executable| ChangedFile { path: path.to_owned(), executable, size_bytes: 7 };
    let changed = vec![row(".github/a", true), row("b c", false)];
    let expected = WorkChanges { changed, removed: vec!["gone".to_owned()] };
    assert_eq!(collection.into_collected().work, Some(expected));
}

#[test]
fn a_path_that_no_collector_sends_ends_the_trust() {
    let place = CollectorScratch::new("trust");
    let mut collection = place.collection(work_copy("changes.patch"));
    let file = place.file(1);
    assert_eq!(collection.removed(b"a"), CollectorState::Trusted);
    let git = [&b".git"[..], b"d/.git/x", b"GIT~1", b".git:x"];
    let others = [&b"a"[..], b"../b", b"/b", b"b//c", b"b/", b"", b"b/./c", b"\xff"];
    for path in others.into_iter().chain(git) {
        assert_eq!(collection.removed(path), CollectorState::Untrusted, "{path:?}");
        let state = collection.changed(path, 0o644, &file).unwrap();
        assert_eq!(state, CollectorState::Untrusted, "{path:?}");
    }
    let mut without = CollectorScratch::new("without").collection(None);
    assert!(collection.has_work() && !without.has_work());
    assert_eq!(without.removed(b"a"), CollectorState::Untrusted);
    assert_eq!(without.changed(b"b", 0o644, &file).unwrap(), CollectorState::Untrusted);
    assert_eq!(without.into_collected().work, None);
}

#[test]
fn more_changes_than_the_maximum_end_the_trust() {
    let mut collection = CollectorScratch::new("many").collection(work_copy("changes.patch"));
    let believed = (0_u32..)
        .take_while(|n| collection.removed(n.to_string().as_bytes()) == CollectorState::Trusted)
        .count();
    assert_eq!(believed, usize::try_from(CHANGES_MAX).unwrap());
}

#[test]
fn a_changed_file_that_is_too_big_is_rejected() {
    let place = CollectorScratch::new("big");
    let mut collection = place.collection(work_copy("changes.patch"));
    for (path, size) in [("a", LIMITS.out_bytes_max + 1), ("b", WORK_FILE_BYTES_MAX + 1)] {
        let state = collection.changed(path.as_bytes(), 0o644, &place.file(size)).unwrap();
        assert_eq!(state, CollectorState::Trusted, "{path}");
    }
    assert!(!place.has("work/0"));
    let collected = collection.into_collected();
    let rejected = collected.rejected.iter().map(|row| (row.path.as_str(), row.reason));
    let expected = [("work/a", RejectReason::TooBig), ("work/b", RejectReason::TooBig)];
    assert!(rejected.eq(expected), "{:?}", collected.rejected);
    assert_eq!(collected.work, Some(WorkChanges::default()));
}

#[test]
fn the_path_of_the_patch_is_reserved() {
    let place = CollectorScratch::new("reserved");
    let limits = Limits { artifact_depth_max: 8, ..LIMITS };
    let result = File::open(&place.0).unwrap();
    let mut collection =
        Collection::new(result.as_fd(), &limits, work_copy("a/changes.patch")).unwrap();
    let file = place.file(1);
    let names = ["a", "a/changes.patch", "a/changes.patch/b", "a/changes", "a/changes.patch2"];
    for path in names {
        let state = collection.file(path.as_bytes(), 0o644, &file).unwrap();
        assert_eq!(state, CollectorState::Trusted, "{path}");
    }
    let collected = collection.into_collected();
    assert!(collected.rejected.iter().all(|row| row.reason == RejectReason::Reserved));
    let rejected: Vec<_> = collected.rejected.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(rejected, names[..3]);
    let kept: Vec<_> = collected.artifacts.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(kept, names[3..]);
}
