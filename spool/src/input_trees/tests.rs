//! Tests of the store's limits, of damage, and of what killed processes left.

use std::fs::{File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::thread;
use std::time::SystemTime;

use super::*;
use crate::disk_space::free_stored_inputs;
use crate::input_store::{InputStore, StoreLimits};

const BOUNDS: InputTreeLimits = InputTreeLimits {
    bytes_max: 100,
    entries_max: 20,
    trees_max: 3,
    unused_max: Duration::from_secs(1000),
    hidden_max: Duration::from_secs(1000),
};
const UNLIMITED: TreeLimits =
    TreeLimits { entries_max: u64::MAX, bytes_max: u64::MAX, depth_max: u32::MAX };

/// A store, and a slot beside it.
struct InputTreeScene {
    top: PathBuf,
    store: InputTreeStore,
    claim: ClaimId,
}

impl Drop for InputTreeScene {
    fn drop(&mut self) {
        // Its directories may be sealed.
        remove_tree(&self.top);
    }
}

impl InputTreeScene {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("input-trees-{name}-{}", std::process::id()));
        for directory in ["store", "slot"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        let store = InputTreeStore::new(top.join("store"), BOUNDS);
        Self { top, store, claim: ClaimId::from_random([7; 16]) }
    }

    fn key(name: &str) -> Sha256 {
        Sha256::of(name.as_bytes())
    }

    fn slot(&self, name: &str) -> PathBuf {
        self.top.join("slot").join(name)
    }

    /// Makes a sealed folder with one file in the slot. Returns `None` if it cannot be kept.
    fn staged(&self, name: &str, bytes: usize) -> Option<StagedTree> {
        let folder = self.slot(name);
        fs::create_dir(&folder).unwrap();
        File::create(folder.join("file")).unwrap().write_all(&vec![0; bytes]).unwrap();
        set_mode(&folder, SEALED);
        let (opened, bytes) = (File::open(&folder).unwrap(), u64::try_from(bytes).unwrap());
        self.store.examine_new(Self::key(name), (folder.as_path(), opened.as_fd()), (bytes, 1))
    }

    /// Stores a folder that was used this many seconds ago. Returns the inode of its file.
    fn keep(&self, name: &str, bytes: usize, seconds: u64) -> u64 {
        let staged = self.staged(name, bytes).unwrap();
        let inode = fs::metadata(self.slot(name).join("file")).unwrap().ino();
        self.store.keep(&staged, &self.claim);
        let used = SystemTime::now() - Duration::from_secs(seconds);
        File::open(self.stored(name)).unwrap().set_modified(used).unwrap();
        inode
    }

    fn take(&self, name: &str) -> Option<StagedTree> {
        let to = self.slot(name);
        fs::create_dir_all(&to).unwrap();
        self.store.take(Self::key(name), &to, &self.claim, &UNLIMITED)
    }

    fn stored(&self, name: &str) -> PathBuf {
        self.store.path_of(Self::key(name))
    }

    fn held(&self, names: &[&str]) -> Vec<bool> {
        names.iter().map(|name| self.stored(name).exists()).collect()
    }

    fn count(&self) -> usize {
        fs::read_dir(self.top.join("store")).unwrap().count()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_tree_moves_into_a_slot_and_back() {
    let scene = InputTreeScene::new("moves");
    let inode = scene.keep("a", 10, 0);
    for _ in 0..3 {
        assert!(!scene.slot("a").exists());
        let taken = scene.take("a").unwrap();
        assert_eq!((taken.bytes(), taken.entries()), (10, 1));
        let found = fs::metadata(scene.slot("a")).unwrap();
        assert_eq!(found.mode() & 0o7777, SEALED);
        assert_eq!(fs::metadata(scene.slot("a").join("file")).unwrap().ino(), inode);
        assert_eq!(scene.count(), 0);
        scene.store.keep(&taken, &scene.claim);
    }
}

#[test]
fn two_runs_never_get_one_tree() {
    let scene = InputTreeScene::new("two");
    scene.keep("a", 10, 0);
    let taken: usize = thread::scope(|scope| {
        let takes: Vec<_> = (1..9_u8)
            .map(|at| {
                let (store, to) = (&scene.store, scene.top.join(format!("slot-{at}")));
                scope.spawn(move || {
                    fs::create_dir(&to).unwrap();
                    let claim = ClaimId::from_random([at; 16]);
                    let taken = store.take(InputTreeScene::key("a"), &to, &claim, &UNLIMITED);
                    usize::from(taken.is_some())
                })
            })
            .collect();
        takes.into_iter().map(|take| take.join().unwrap()).sum()
    });
    assert_eq!((taken, scene.count()), (1, 0));
}

#[test]
fn smaller_limits_get_no_tree() {
    let scene = InputTreeScene::new("limits");
    scene.keep("a", 10, 0);
    let to = scene.slot("other");
    fs::create_dir(&to).unwrap();
    let key = InputTreeScene::key("a");
    let take = |limits: &TreeLimits| scene.store.take(key, &to, &scene.claim, limits);
    for limits in
        [TreeLimits { bytes_max: 9, ..UNLIMITED }, TreeLimits { entries_max: 0, ..UNLIMITED }]
    {
        assert!(take(&limits).is_none());
        assert_eq!(scene.held(&["a"]), [true]);
    }
    assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
    assert!(take(&UNLIMITED).is_some());
}

#[test]
fn a_tree_that_changed_is_removed() {
    let scene = InputTreeScene::new("changed");
    let changes: [fn(&Path); 4] = [
        |entry| set_mode(&entry.join("tree/file"), 0o600),
        |entry| {
            set_mode(&entry.join("tree"), WRITABLE);
            File::create(entry.join("tree/more")).unwrap();
        },
        |entry| fs::remove_file(entry.join("facts")).unwrap(),
        |entry| {
            let facts = InputTreeFacts::read(&entry.join("facts")).unwrap();
            let facts = InputTreeFacts { boot: "earlier".to_owned(), ..facts };
            let mut file = File::create(entry.join("facts")).unwrap();
            file.write_all(facts.render().as_bytes()).unwrap();
        },
    ];
    for change in changes {
        scene.keep("a", 10, 0);
        // Older kernels count file times in ticks of up to 10 ms.
        thread::sleep(Duration::from_millis(20));
        change(&scene.stored("a"));
        assert!(scene.take("a").is_none());
        assert_eq!(fs::read_dir(scene.slot("a")).unwrap().count(), 0);
        assert_eq!(scene.count(), 0);
        fs::remove_dir(scene.slot("a")).unwrap();
    }
}

#[test]
fn the_longest_unused_goes_first() {
    let scene = InputTreeScene::new("bounds");
    for (name, bytes, seconds) in [("a", 40, 30), ("b", 40, 50), ("c", 10, 10)] {
        scene.keep(name, bytes, seconds);
    }
    scene.keep("d", 10, 0);
    assert_eq!(scene.held(&["a", "b", "c", "d"]), [true, false, true, true], "too many trees");
    scene.keep("e", 80, 0);
    assert_eq!(scene.held(&["a", "c", "d", "e"]), [false, true, true, true], "too many bytes");
    assert!(scene.staged("f", 101).is_none(), "it can never fit");
}

#[test]
fn what_is_stale_or_was_left_expires() {
    let scene = InputTreeScene::new("stale");
    scene.keep("old", 1, 2000);
    scene.keep("new", 1, 10);
    // A process of this moment may still use it.
    fs::create_dir(scene.top.join("store/.taken-1")).unwrap();
    // A process was killed between two steps of a removal.
    let name = scene.stored("old").file_name().unwrap().to_str().unwrap().to_owned();
    let gone = scene.store.hidden("gone", &format!("{name}-{}", std::process::id()));
    sync::rename_new(&scene.stored("old"), &gone).unwrap();
    scene.keep("old", 1, 2000);
    scene.store.expire();
    assert!(!gone.exists());
    assert_eq!(scene.held(&["old", "new"]), [false, true]);
    assert!(scene.top.join("store/.taken-1").exists());
    scene.store.clear();
    assert_eq!(scene.held(&["new"]), [false]);
}

#[test]
fn what_killed_processes_hid_is_removed_after_its_time() {
    let scene = InputTreeScene::new("hidden");
    scene.keep("a", 1, 0);
    for name in [".new-1", ".taken-2", ".gone-3-4", ".gone-taken-5-6"] {
        let tree = scene.top.join("store").join(name).join("tree");
        fs::create_dir_all(&tree).unwrap();
        File::create(tree.join("file")).unwrap();
        set_mode(&tree, SEALED);
    }
    scene.store.expire();
    assert_eq!(scene.count(), 5);
    let bounds = InputTreeLimits { hidden_max: Duration::ZERO, ..BOUNDS };
    InputTreeStore::new(scene.top.join("store"), bounds).expire();
    assert_eq!((scene.count(), scene.held(&["a"])), (1, vec![true]));
}

#[test]
fn a_full_disk_takes_stored_files_and_trees() {
    let scene = InputTreeScene::new("full");
    scene.keep("a", 1, 0);
    let (files, from) = (scene.top.join("files"), scene.top.join("file"));
    fs::create_dir(&files).unwrap();
    File::create(&from).unwrap();
    let unused_max = Duration::from_secs(1000);
    let bounds = StoreLimits { bytes_max: 10, files_max: 10, unused_max };
    let store = InputStore::new(files.clone(), bounds);
    store.store(&Sha256::of(b""), &from, 0);
    assert_eq!(fs::read_dir(&files).unwrap().count(), 1);
    free_stored_inputs(&store, &scene.store);
    assert_eq!((fs::read_dir(&files).unwrap().count(), scene.count()), (0, 0));
}

/// The folder is copied into it then.
#[test]
fn a_directory_of_a_slot_is_empty_after_a_failed_move() {
    let scene = InputTreeScene::new("failed");
    scene.staged("a", 1).unwrap();
    for _ in 0..2 {
        empty_directory(&scene.slot("a"));
        assert_eq!(fs::read_dir(scene.slot("a")).unwrap().count(), 0);
        fs::remove_dir(scene.slot("a")).unwrap();
    }
}

/// A folder that has left the slot leaves nothing here.
#[test]
fn a_folder_that_cannot_be_moved_leaves_nothing() {
    let scene = InputTreeScene::new("gone");
    let staged = scene.staged("a", 1).unwrap();
    remove_tree(&scene.slot("a"));
    scene.store.keep(&staged, &scene.claim);
    assert_eq!(scene.count(), 0);
}
