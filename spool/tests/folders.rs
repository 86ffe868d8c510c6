//! Folders as inputs: the slot has exactly the approved tree, and every other tree is refused with
//! the path of the entry.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail"
)]

use crate::scene;

use std::fs::{self, File, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use model::Sha256;
use scene::SpoolScene;
use spool::{Spool, Staged, SubmissionFiles, folder_limits};
use trees::{LinkRule, TreeSummary, digest_tree};
use validator::Violation;

/// A scene with the folder `repo/`, which has a file, a program, a hidden file and a link.
struct FolderScene {
    scene: SpoolScene,
    repo: PathBuf,
}

impl FolderScene {
    fn new() -> Self {
        let scene = SpoolScene::new();
        let repo = scene.top.join("inputs/repo");
        fs::create_dir_all(repo.join("src/deep")).unwrap();
        fs::create_dir(repo.join("empty")).unwrap();
        fs::write(repo.join("src/deep/main.py"), "print(1)\n").unwrap();
        fs::write(repo.join(".hidden"), "x").unwrap();
        fs::write(repo.join("run.sh"), "exit 0\n").unwrap();
        fs::set_permissions(repo.join("run.sh"), Permissions::from_mode(0o700)).unwrap();
        symlink("../run.sh", repo.join("src/link")).unwrap();
        Self { scene, repo }
    }

    fn stage(&self, spool: &Spool, sha256: &Sha256) -> Result<Staged, Vec<Violation>> {
        self.scene.stage_input(spool, "repo/", sha256)
    }

    /// Stages a folder that is not the approved one. Returns the only violation as a text.
    fn refusal(&self, spool: &Spool, sha256: &Sha256) -> String {
        let violations = self.stage(spool, sha256).err().unwrap();
        assert_eq!(violations.len(), 1, "{violations:#?}");
        format!("{}: {}", violations[0].code.as_str(), violations[0].message)
    }
}

fn digest(directory: &Path) -> TreeSummary {
    let opened = File::open(directory).unwrap();
    let limits = folder_limits(u64::MAX);
    digest_tree(opened.as_fd(), LinkRule::Inside, &limits, &mut |_| {}).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_folder_is_staged_as_it_is_and_read_only() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let tree = digest(&folder.repo);
    for _ in 0..2 {
        let staged = folder.stage(&spool, &tree.sha256).unwrap();
        let slot = spool.staging().join(staged.claimed().id().as_str());
        let copy = slot.join("repo");
        assert_eq!(digest(&copy), tree);
        assert_eq!(staged.input_sizes(), [tree.bytes]);
        let progress = staged.claimed().hash_progress();
        assert_eq!(progress.bytes(), Some((tree.bytes, tree.bytes)));
        for (name, wanted) in [
            ("", 0o555),
            ("src", 0o555),
            ("src/deep", 0o555),
            ("empty", 0o555),
            ("run.sh", 0o555),
            (".hidden", 0o444),
            ("src/deep/main.py", 0o444),
        ] {
            assert_eq!(mode(&copy.join(name)), wanted, "{name}");
        }
        spool.abandon(staged.into_parts().1);
        assert!(!slot.exists());
    }
    assert_eq!(digest(&folder.repo), tree);
}

/// Returns the inode of a file of the staged folder.
fn staged_inode(spool: &Spool, staged: &Staged) -> u64 {
    let slot = spool.staging().join(staged.claimed().slot().as_str());
    fs::metadata(slot.join("repo/src/deep/main.py")).unwrap().ino()
}

fn finish(spool: &Spool, staged: Staged) {
    spool.abandon(staged.into_parts().1);
}

#[test]
fn the_same_folder_is_not_copied_again() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let sha256 = digest(&folder.repo).sha256;
    let first = folder.stage(&spool, &sha256).unwrap();
    let inode = staged_inode(&spool, &first);
    // Two runs never share a tree.
    let second = folder.stage(&spool, &sha256).unwrap();
    assert_ne!(staged_inode(&spool, &second), inode);
    finish(&spool, first);
    finish(&spool, second);
    // Another process, later.
    drop(spool);
    let spool = folder.scene.spool();
    for _ in 0..2 {
        let again = folder.stage(&spool, &sha256).unwrap();
        assert_eq!(staged_inode(&spool, &again), inode);
        finish(&spool, again);
    }
    fs::write(folder.repo.join(".hidden"), "y").unwrap();
    let other = folder.stage(&spool, &digest(&folder.repo).sha256).unwrap();
    assert_ne!(staged_inode(&spool, &other), inode);
    finish(&spool, other);
    fs::remove_dir_all(&folder.repo).unwrap();
    assert!(folder.refusal(&spool, &sha256).starts_with("inputs.missing: "));
}

/// The stored tree spares the copy, not the comparison.
#[test]
fn a_folder_that_differs_from_the_stored_one_is_refused() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let sha256 = digest(&folder.repo).sha256;
    let first = folder.stage(&spool, &sha256).unwrap();
    let inode = staged_inode(&spool, &first);
    finish(&spool, first);
    let stored = || fs::read_dir(folder.scene.top.join("state/input-trees")).unwrap().count();
    fs::write(folder.repo.join(".hidden"), "y").unwrap();
    let other = digest(&folder.repo).sha256;
    let wanted =
        format!("inputs.mismatch: input repo/: sha256 is {other}, the request says {sha256}");
    assert_eq!((folder.refusal(&spool, &sha256), stored()), (wanted, 1));
    fs::write(folder.repo.join(".hidden"), "x").unwrap();
    let socket = UnixListener::bind(folder.repo.join("src/s")).unwrap();
    let refused = folder.refusal(&spool, &sha256);
    assert!(refused.starts_with("spool.file-kind: input repo/: src/s: a socket "), "{refused}");
    drop(socket);
    fs::remove_file(folder.repo.join("src/s")).unwrap();
    let kept = folder.scene.top.join("kept");
    fs::rename(&folder.repo, &kept).unwrap();
    fs::create_dir(&folder.repo).unwrap();
    assert!(folder.refusal(&spool, &sha256).starts_with("inputs.mismatch: "));
    fs::remove_dir(&folder.repo).unwrap();
    fs::rename(&kept, &folder.repo).unwrap();
    let again = folder.stage(&spool, &sha256).unwrap();
    assert_eq!((staged_inode(&spool, &again), stored()), (inode, 0));
    finish(&spool, again);
}

/// The stored tree proves nothing by its name.
#[test]
fn a_stored_folder_that_changed_is_copied_again() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let tree = digest(&folder.repo);
    finish(&spool, folder.stage(&spool, &tree.sha256).unwrap());
    let trees = folder.scene.top.join("state/input-trees");
    let stored = fs::read_dir(trees).unwrap().next().unwrap().unwrap().path();
    // Older kernels count file times in ticks of up to 10 ms.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let file = stored.join("tree/.hidden");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    fs::write(&file, "y").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    let staged = folder.stage(&spool, &tree.sha256).unwrap();
    let slot = spool.staging().join(staged.claimed().slot().as_str());
    assert_eq!(digest(&slot.join("repo")), tree);
    finish(&spool, staged);
}

#[test]
fn a_folder_in_the_slot_of_a_killed_run_is_removed() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let sha256 = digest(&folder.repo).sha256;
    finish(&spool, folder.stage(&spool, &sha256).unwrap());
    // The run has the stored tree when its process ends.
    drop(folder.stage(&spool, &sha256).unwrap());
    drop(spool);
    let spool = folder.scene.spool();
    drop(spool.recover(&mut |_| Ok(true)).unwrap());
    assert_eq!(fs::read_dir(spool.staging()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(folder.scene.top.join("state/input-trees")).unwrap().count(), 0);
    finish(&spool, folder.stage(&spool, &sha256).unwrap());
}

#[test]
fn another_tree_is_refused() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let tree = digest(&folder.repo);
    fs::write(folder.repo.join(".hidden"), "y").unwrap();
    let other = digest(&folder.repo).sha256;
    let sha256 = tree.sha256;
    let wanted =
        format!("inputs.mismatch: input repo/: sha256 is {other}, the request says {sha256}");
    assert_eq!(folder.refusal(&spool, &sha256), wanted);
    fs::write(folder.repo.join(".hidden"), "x").unwrap();
    fs::set_permissions(folder.repo.join(".hidden"), Permissions::from_mode(0o755)).unwrap();
    assert!(folder.refusal(&spool, &sha256).starts_with("inputs.mismatch: "));
    fs::remove_dir_all(&folder.repo).unwrap();
    let missing = folder.refusal(&spool, &sha256);
    assert!(missing.starts_with("inputs.missing: input repo/: "), "{missing}");
    assert!(missing.ends_with("inputs/repo: no such directory"), "{missing}");
    symlink("..", &folder.repo).unwrap();
    assert!(folder.refusal(&spool, &sha256).starts_with("inputs.missing: "));
}

#[test]
fn a_refused_entry_is_named_by_its_path_in_the_folder() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let sha256 = digest(&folder.repo).sha256;
    let _socket = UnixListener::bind(folder.repo.join("src/s")).unwrap();
    let refused = folder.refusal(&spool, &sha256);
    assert!(refused.starts_with("spool.file-kind: input repo/: src/s: a socket "), "{refused}");
    fs::remove_file(folder.repo.join("src/s")).unwrap();
    symlink("../../x", folder.repo.join("src/out")).unwrap();
    let refused = folder.refusal(&spool, &sha256);
    assert!(refused.starts_with("spool.file-kind: input repo/: src/out: the link "), "{refused}");
    fs::remove_file(folder.repo.join("src/out")).unwrap();
    // A sparse file: reading it would take minutes.
    File::create(folder.repo.join("large")).unwrap().set_len(1 << 40).unwrap();
    assert!(folder.refusal(&spool, &sha256).starts_with("limits.over-policy: input repo/: "));
}

#[test]
fn a_file_beside_the_folder_is_undeclared() {
    let folder = FolderScene::new();
    let spool = folder.scene.spool();
    let sha256 = digest(&folder.repo).sha256;
    fs::write(folder.scene.top.join("inputs/repo.txt"), "x").unwrap();
    let refused = folder.refusal(&spool, &sha256);
    assert_eq!(refused, "inputs.undeclared: input repo.txt: not declared in the front matter");
}

/// The daemon, in the group of the copy, must be able to read and to remove it.
#[test]
fn a_folder_is_submitted_as_it_is() {
    let folder = FolderScene::new();
    let tree = digest(&folder.repo);
    let name = "TR-20260209-160501Z-submit";
    let path = folder.scene.top.join(format!("{name}.md"));
    let approved = folder.scene.top.join("approved");
    fs::create_dir(&approved).unwrap();
    fs::write(&path, "request").unwrap();
    let files = SubmissionFiles::read(&path, Some(&folder.scene.top.join("inputs"))).unwrap();
    files.submit_to(&approved, &["repo/"]).unwrap();
    let copy = approved.join(format!("{name}.inputs/repo"));
    assert_eq!(digest(&copy), tree);
    for (name, wanted) in [("src/deep", 0o770), ("run.sh", 0o750), (".hidden", 0o640)] {
        assert_eq!(mode(&copy.join(name)), wanted, "{name}");
    }
}

/// The daemon would refuse it, so its copy must not fill the spool.
#[test]
fn a_folder_beyond_a_limit_is_not_submitted() {
    let folder = FolderScene::new();
    let deep = ["d"; 64].join("/");
    fs::create_dir_all(folder.repo.join(&deep)).unwrap();
    let name = "TR-20260209-160501Z-submit";
    let path = folder.scene.top.join(format!("{name}.md"));
    let approved = folder.scene.top.join("approved");
    fs::create_dir(&approved).unwrap();
    fs::write(&path, "request").unwrap();
    let files = SubmissionFiles::read(&path, Some(&folder.scene.top.join("inputs"))).unwrap();
    let file = folder.repo.join(deep).join("f");
    fs::write(&file, "x").unwrap();
    let error = files.submit_to(&approved, &["repo/"]).unwrap_err();
    assert!(error.to_string().contains("too many entries or levels; help: "), "{error}");
    assert_eq!(error.path(), file);
    assert_eq!(fs::read_dir(&approved).unwrap().count(), 0);
    fs::remove_file(&file).unwrap();
    files.submit_to(&approved, &["repo/"]).unwrap();
}
