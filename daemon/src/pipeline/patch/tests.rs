//! A patch is made from the staged folder and the collected changes, without a sandbox.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs::{self, File, Permissions};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use model::{Outcome, Sha256};
use sandbox::outcome::{OutcomeFacts, ToolEnd};
use validator::Code;

use super::super::finished_tests::{QUIET, finished_with};
use super::fit::CopySize;
use super::*;

/// A slot with a folder and a result, in a directory that is removed with the test.
struct PatchDirectories {
    top: PathBuf,
    result: File,
    changes: WorkChanges,
}

impl Drop for PatchDirectories {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl PatchDirectories {
    fn new(test: &str) -> Self {
        let unique = format!("toolexec-patch-{test}-{}", std::process::id());
        let top = std::env::temp_dir().join(unique);
        for directory in ["slot/repo/d", "result/artifacts", "result/work"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        let result = File::open(top.join("result")).unwrap();
        Self { top, result, changes: WorkChanges::default() }
    }

    fn original(&self, path: &str, text: &str) {
        fs::write(self.top.join("slot/repo").join(path), text).unwrap();
    }

    fn link(&self, path: &str, target: &str) {
        symlink(target, self.top.join("slot/repo").join(path)).unwrap();
    }

    fn change(&mut self, path: &str, text: &str, executable: bool) {
        let number = self.changes.changed.len().to_string();
        fs::write(self.top.join("result/work").join(number), text).unwrap();
        let size_bytes = u64::try_from(text.len()).unwrap();
        self.changes.changed.push(ChangedFile { path: path.to_owned(), executable, size_bytes });
    }

    fn remove(&mut self, path: &str) {
        self.changes.removed.push(path.to_owned());
    }

    fn write(&self, bytes_max: u64) -> Result<CollectedArtifact, PatchError> {
        let original = OriginalFolder::open(&self.top.join("slot"), "repo").unwrap();
        let (result, path) = (self.result.as_fd(), "sub/changes.patch");
        PatchSources { original, result, path, bytes_max }.write(&self.changes)
    }

    fn patch(&self) -> String {
        let artifact = self.write(u64::MAX).unwrap();
        let bytes = fs::read(self.top.join("result/artifacts/sub/changes.patch")).unwrap();
        assert_eq!(artifact.size_bytes, u64::try_from(bytes.len()).unwrap());
        assert_eq!(artifact.sha256, *Sha256::of(&bytes).as_bytes());
        assert_eq!((artifact.path.as_str(), artifact.mode), ("sub/changes.patch", 0o644));
        String::from_utf8(bytes).unwrap()
    }
}

/// Returns the first lines of the files of a patch, and its added and removed lines.
fn parts(patch: &str) -> Vec<&str> {
    let is_part = |line: &&str| {
        let is_label = line.starts_with("---") || line.starts_with("+++");
        line.starts_with("diff") || (line.starts_with(['-', '+']) && !is_label)
    };
    patch.lines().filter(is_part).collect()
}

#[test]
fn a_patch_has_the_changes_in_the_order_of_their_paths() {
    let mut scene = PatchDirectories::new("order");
    scene.original("a", "1\n");
    scene.original("d/gone", "2\n");
    scene.original("same", "3\n");
    scene.change("new", "4\n", true);
    scene.change("a", "5\n", false);
    scene.remove("d/gone");
    let patch = scene.patch();
    let wanted = [
        "diff --git a/a b/a",
        "-1",
        "+5",
        "diff --git a/d/gone b/d/gone",
        "-2",
        "diff --git a/new b/new",
        "+4",
    ];
    assert_eq!(parts(&patch), wanted);
    assert!(patch.contains("\nnew file mode 100755\n"), "{patch}");
    assert!(!scene.top.join("result/work/patch").exists());
}

#[test]
fn execute_bits_are_those_of_both_versions() {
    let mut scene = PatchDirectories::new("bits");
    scene.original("run", "x\n");
    let run = scene.top.join("slot/repo/run");
    fs::set_permissions(run, Permissions::from_mode(0o555)).unwrap();
    scene.change("run", "x\n", false);
    assert_eq!(scene.patch(), "diff --git a/run b/run\nold mode 100755\nnew mode 100644\n");
}

#[test]
fn no_link_is_followed() {
    let mut scene = PatchDirectories::new("links");
    fs::write(scene.top.join("secret"), "secret\n").unwrap();
    scene.link("l", "../../secret");
    scene.link("up", "../..");
    scene.change("l", "file\n", false);
    scene.change("up/secret", "new\n", false);
    scene.remove("up");
    let patch = scene.patch();
    let wanted = [
        "diff --git a/l b/l",
        "-../../secret",
        "diff --git a/l b/l",
        "+file",
        "diff --git a/up b/up",
        "-../..",
        "diff --git a/up/secret b/up/secret",
        "+new",
    ];
    assert_eq!(parts(&patch), wanted);
}

#[test]
fn no_change_is_an_empty_patch() {
    assert_eq!(PatchDirectories::new("empty").patch(), "");
}

#[test]
fn a_patch_beyond_its_limit_leaves_nothing() {
    let mut scene = PatchDirectories::new("limit");
    scene.change("a", &"x".repeat(1000), false);
    assert!(matches!(scene.write(1000), Err(PatchError::TooLarge)));
    assert!(!scene.top.join("result/artifacts/sub").exists());
}

#[test]
fn a_patch_replaces_no_file() {
    let scene = PatchDirectories::new("replaces");
    let place = scene.top.join("result/artifacts/sub");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("changes.patch"), "kept").unwrap();
    assert!(matches!(scene.write(u64::MAX), Err(PatchError::Io(_))));
    assert_eq!(fs::read_to_string(place.join("changes.patch")).unwrap(), "kept");
}

/// Returns a run that ended with this status and was collected completely.
fn finished(status: u8) -> FinishedRun {
    finished_with(OutcomeFacts { tool: Some(ToolEnd::Exited(status)), ..QUIET })
}

#[test]
fn a_patch_that_cannot_be_written_keeps_the_end_of_the_run() {
    for (status, outcome) in [(0, Outcome::OutputRejected), (7, Outcome::ExitNonzero(7))] {
        let mut run = finished(status);
        let full = Err(PatchError::Io(io::ErrorKind::StorageFull.into()));
        assert!(settle(&mut run, "changes.patch", full).is_err());
        assert_eq!(run.outcome(), outcome);
        assert!(!run.collected.complete);
        assert!(run.collected.artifacts.is_empty() && run.collected.rejected.is_empty());
    }
}

#[test]
fn a_patch_that_is_too_large_is_rejected() {
    let mut run = finished(0);
    settle(&mut run, "changes.patch", Err(PatchError::TooLarge)).unwrap();
    assert_eq!(run.outcome(), Outcome::OutputRejected);
    assert_eq!(run.collected.rejected[0].reason, RejectReason::TooBig);
    assert!(run.collected.complete);
}

#[test]
fn a_patch_has_its_place_among_the_files() {
    let artifact = |path: &str| CollectedArtifact {
        path: path.to_owned(),
        size_bytes: 0,
        mode: 0o644,
        sha256: [0; 32],
    };
    for (paths, at) in [(&["a", "d"][..], 1), (&["a", "b"][..], 2), (&["d"][..], 0)] {
        let mut artifacts: Vec<_> = paths.iter().map(|path| artifact(path)).collect();
        insert(&mut artifacts, artifact("changes.patch"));
        assert_eq!(artifacts[at].path, "changes.patch", "{paths:?}");
    }
}

#[test]
fn some_of_the_changes_are_no_patch() {
    let collected = |path: &str, complete| CollectedOutput {
        rejected: vec![RejectedObject { path: path.to_owned(), reason: RejectReason::TooMany }],
        complete,
        ..CollectedOutput::default()
    };
    assert!(has_whole_walk(&collected("work/link", true)));
    assert!(!has_whole_walk(&collected("work", true)));
    assert!(!has_whole_walk(&collected("x", false)));
}

#[test]
fn a_copy_takes_whole_blocks() {
    let scene = PatchDirectories::new("size");
    let page = rustix::param::page_size();
    scene.original("empty", "");
    scene.original("d/small", "x");
    scene.original("d/large", &"x".repeat(page + 1));
    scene.link("short", "empty");
    scene.link("long", &"x".repeat(200));
    let folder = OriginalFolder::open(&scene.top.join("slot"), "repo").unwrap();
    let size = CopySize::of(folder.top()).unwrap();
    assert_eq!(size, CopySize { bytes: u64::try_from(4 * page).unwrap(), inodes: 8 });
}

#[test]
fn a_copy_that_does_not_fit_is_a_violation() {
    let size = CopySize { bytes: 8192, inodes: 9 };
    let violation = |bytes, inodes| size.violation("repo", CopySize { bytes, inodes });
    assert!(violation(8193, 10).is_none());
    for bytes in [8191, 8192] {
        let found = violation(bytes, 10).unwrap();
        assert_eq!(found.code, Code::LimitsOverPolicy);
        let wanted = format!(
            "the folder `repo/`: its copy needs 8192 bytes in /out, which holds {bytes} and must \
             not be full"
        );
        assert_eq!(found.message, wanted);
    }
    for inodes in [8, 9] {
        let found = violation(8193, inodes).unwrap();
        let wanted = format!(" 9 inodes in /out, which holds {inodes} and must not be full");
        assert!(found.message.ends_with(&wanted), "{}", found.message);
    }
}
