//! Tests of the store's limits with small numbers, which the public constants do not allow.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use super::*;

struct StoreScene {
    top: PathBuf,
    store: InputStore,
}

impl Drop for StoreScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl StoreScene {
    fn new(name: &str, bytes_max: u64, files_max: usize) -> Self {
        let top = std::env::temp_dir().join(format!("store-{name}-{}", std::process::id()));
        fs::create_dir_all(top.join("store")).unwrap();
        let unused_max = Duration::from_secs(1000);
        let bounds = StoreLimits { bytes_max, files_max, unused_max };
        let store = InputStore::new(top.join("store"), bounds);
        Self { top, store }
    }

    /// Stores a file of this name and length, last used this many seconds ago.
    fn keep(&self, name: &str, len: usize, seconds: u64) {
        let (from, sha256) = (self.top.join(name), Sha256::of(name.as_bytes()));
        fs::write(&from, vec![0; len]).unwrap();
        self.store.store(&sha256, &from, u64::try_from(len).unwrap());
        let used = SystemTime::now() - Duration::from_secs(seconds);
        File::open(&from).unwrap().set_modified(used).unwrap();
        // Only the slot's name is removed; the stored file stays.
        fs::remove_file(&from).unwrap();
    }

    fn held(&self, names: &[&str]) -> Vec<bool> {
        let there = |name: &&str| self.store.path_of(&Sha256::of(name.as_bytes())).exists();
        names.iter().map(there).collect()
    }
}

#[test]
fn the_longest_unused_goes_first_when_bytes_run_out() {
    let scene = StoreScene::new("bytes", 100, 10);
    scene.keep("a", 40, 30);
    scene.keep("b", 40, 50);
    scene.keep("c", 20, 10);
    assert_eq!(scene.held(&["a", "b", "c"]), [true, true, true]);
    scene.keep("d", 30, 0);
    assert_eq!(scene.held(&["a", "b", "c", "d"]), [true, false, true, true]);
    scene.keep("e", 100, 0);
    assert_eq!(scene.held(&["a", "c", "d", "e"]), [false, false, false, true]);
    // A file that can never fit displaces nothing.
    scene.keep("f", 101, 0);
    assert_eq!(scene.held(&["e", "f"]), [true, false]);
}

#[test]
fn the_number_of_files_is_bounded_whatever_their_length() {
    let scene = StoreScene::new("files", 100, 3);
    for (name, seconds) in [("a", 40), ("b", 50), ("c", 30), ("d", 20)] {
        scene.keep(name, 0, seconds);
    }
    assert_eq!(scene.held(&["a", "b", "c", "d"]), [true, false, true, true]);
}

#[test]
fn what_an_earlier_process_left_counts() {
    let scene = StoreScene::new("earlier", 100, 10);
    scene.keep("a", 60, 40);
    scene.keep("stale", 1, 2000);
    let later = InputStore::new(scene.store.directory.clone(), scene.store.bounds);
    assert!(later.evict_for(60).is_ok());
    assert_eq!(scene.held(&["a", "stale"]), [false, false]);
}

#[test]
fn an_emptied_store_is_empty() {
    let scene = StoreScene::new("empty", 100, 10);
    scene.keep("a", 60, 40);
    scene.keep("b", 1, 40);
    scene.store.clear();
    assert_eq!(scene.held(&["a", "b"]), [false, false]);
}
