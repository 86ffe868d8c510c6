//! Git applies each patch to the tree that it was made from, and gets the other tree. `git apply
//! -R` gets the first one back.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare fails"
)]

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use patches::{PatchSummary, PatchWriter, PatchedFile, PatchedFileKind};

use crate::generator::{FixedRandom, GeneratedTree};

const PAIRS: u64 = 400;

/// A directory that is removed with the test.
struct PatchScene {
    top: PathBuf,
}

impl Drop for PatchScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl PatchScene {
    fn new() -> Self {
        let top = std::env::temp_dir().join(format!("toolexec-patches-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        Self { top }
    }

    fn tree(&self) -> PathBuf {
        self.top.join("tree")
    }

    /// Writes the tree in place of the last one.
    fn write(&self, tree: &GeneratedTree) {
        let top = self.tree();
        if top.exists() {
            fs::remove_dir_all(&top).unwrap();
        }
        fs::create_dir(&top).unwrap();
        for (path, (kind, bytes)) in tree {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mode = match kind {
                PatchedFileKind::Symlink => {
                    symlink(std::str::from_utf8(bytes).unwrap(), &path).unwrap();
                    continue;
                }
                PatchedFileKind::Executable => 0o755,
                PatchedFileKind::Regular => 0o644,
            };
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
    }

    fn read(&self) -> GeneratedTree {
        let mut tree = GeneratedTree::new();
        read_below(&self.tree(), "", &mut tree);
        tree
    }

    /// Runs `git apply` in the tree, which is in no repository.
    #[track_caller]
    fn git_apply(&self, options: &[&str], seed: u64) {
        let mut git = Command::new("git");
        git.arg("apply").arg("--whitespace=nowarn").args(options).arg(self.top.join("patch"));
        git.current_dir(self.tree()).env("GIT_CEILING_DIRECTORIES", &self.top);
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
        let output = git.output().unwrap();
        let (error, patch) = (output.stderr, fs::read(self.top.join("patch")).unwrap());
        let (error, patch) = (String::from_utf8_lossy(&error), String::from_utf8_lossy(&patch));
        assert!(output.status.success(), "seed {seed}: {options:?}: {error}\n{patch}");
    }
}

fn read_below(directory: &Path, above: &str, tree: &mut GeneratedTree) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{above}{}", entry.file_name().to_str().unwrap());
        let found = fs::symlink_metadata(entry.path()).unwrap();
        if found.is_dir() {
            read_below(&entry.path(), &format!("{path}/"), tree);
        } else if found.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            let target = target.as_os_str().as_bytes().to_vec();
            tree.insert(path, (PatchedFileKind::Symlink, target));
        } else {
            let kind = match found.permissions().mode() & 0o111 {
                0 => PatchedFileKind::Regular,
                _ => PatchedFileKind::Executable,
            };
            tree.insert(path, (kind, fs::read(entry.path()).unwrap()));
        }
    }
}

fn patch(before: &GeneratedTree, after: &GeneratedTree) -> (Vec<u8>, PatchSummary) {
    let mut out = Vec::new();
    let mut writer = PatchWriter::new(&mut out, u64::MAX);
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for path in paths {
        let [before, after] = [before, after]
            .map(|tree| tree.get(path).map(|(kind, bytes)| PatchedFile { kind: *kind, bytes }));
        writer.file(path, before, after).unwrap();
    }
    let summary = writer.finish().unwrap();
    (out, summary)
}

#[track_caller]
fn assert_same(found: &GeneratedTree, expected: &GeneratedTree, seed: u64) {
    for path in found.keys().chain(expected.keys()) {
        assert_eq!(found.get(path), expected.get(path), "seed {seed}: {path:?}");
    }
}

/// Compares a tree after `git apply -R` with the one before. Git 2.47, unlike 2.39, loses the mode of
/// a file that a patch deletes, also of patches of its own, and creates a regular file.
#[track_caller]
fn assert_taken_back(
    found: &GeneratedTree,
    mut before: GeneratedTree,
    after: &GeneratedTree,
    seed: u64,
) {
    let is_link = |kind: PatchedFileKind| kind == PatchedFileKind::Symlink;
    for (path, (kind, _)) in &mut before {
        let is_created = after.get(path).is_none_or(|(now, _)| is_link(*now) != is_link(*kind));
        let is_regular =
            found.get(path).is_some_and(|(found, _)| *found == PatchedFileKind::Regular);
        if is_created && is_regular {
            *kind = PatchedFileKind::Regular;
        }
    }
    assert_same(found, &before, seed);
}

#[test]
fn git_applies_each_patch_and_takes_it_back() {
    let scene = PatchScene::new();
    let mut applied = 0;
    for seed in 0..PAIRS {
        let mut random = FixedRandom(seed);
        let before = random.tree();
        let after = random.changed(&before);
        let (bytes, summary) = patch(&before, &after);
        assert_eq!(summary.bytes, u64::try_from(bytes.len()).unwrap());
        assert_eq!(summary.files == 0, before == after, "seed {seed}");
        if summary.files == 0 {
            continue;
        }
        fs::write(scene.top.join("patch"), bytes).unwrap();
        scene.write(&before);
        scene.git_apply(&["--check"], seed);
        scene.git_apply(&[], seed);
        assert_same(&scene.read(), &after, seed);
        scene.git_apply(&["-R"], seed);
        assert_taken_back(&scene.read(), before, &after, seed);
        applied += 1;
    }
    assert!(applied >= 300, "only {applied} patches");
}
