//! The stamp of a tree: equal as long as the tree is, and different after each kind of change.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare fails"
)]

use std::fs::{self, File};
use std::thread;
use std::time::Duration;

use trees::{TreeError, TreeLimits};

use crate::scene::{LIMITS, TreeScene, stamp};

type Change = fn(&TreeScene);

/// Changes that each leave another tree, or another inode.
const CHANGES: &[(&str, Change)] = &[
    ("a byte, with the old time", |scene| {
        let path = scene.path("tree/a/f");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, b"2").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    }),
    ("a longer file", |scene| fs::write(scene.path("tree/b/inner/f"), b"22").unwrap()),
    ("a new file", |scene| scene.file("tree/b/new", b"", 0o644)),
    ("a new directory", |scene| scene.directory("tree/a/new")),
    ("no file", |scene| fs::remove_file(scene.path("tree/a/f")).unwrap()),
    ("another name", |scene| {
        fs::rename(scene.path("tree/a/f"), scene.path("tree/a/g")).unwrap();
    }),
    ("an equal file in its place", |scene| {
        scene.file("tree/a/g", b"1", 0o644);
        fs::rename(scene.path("tree/a/g"), scene.path("tree/a/f")).unwrap();
    }),
    ("another mode", |scene| scene.chmod("tree/a/f", 0o755)),
    ("another link", |scene| {
        fs::remove_file(scene.path("tree/link")).unwrap();
        scene.link("tree/link", "b");
    }),
    ("a hard link", |scene| {
        fs::hard_link(scene.path("tree/a/f"), scene.path("tree/b/linked")).unwrap();
    }),
    ("the top level", |scene| scene.file("environment.json", b"{ }", 0o644)),
];

fn content() -> TreeScene {
    let scene = TreeScene::new();
    scene.file("environment.json", b"{}", 0o644);
    for directory in ["tree", "tree/a", "tree/b", "tree/b/inner"] {
        scene.directory(directory);
    }
    scene.file("tree/a/f", b"1", 0o644);
    scene.file("tree/b/inner/f", b"1", 0o644);
    scene.link("tree/link", "a");
    scene
}

#[test]
fn each_change_changes_the_stamp() {
    for (name, change) in CHANGES {
        let scene = content();
        let before = scene.stamp();
        assert_eq!(scene.stamp(), before, "{name}");
        // Older kernels count file times in ticks of up to 10 ms.
        thread::sleep(Duration::from_millis(20));
        change(&scene);
        assert_ne!(scene.stamp(), before, "{name}");
    }
}

#[test]
fn reading_and_moving_leave_the_stamp() {
    let scene = content();
    let before = stamp(&scene.path("tree"), &LIMITS).unwrap();
    fs::read(scene.path("tree/a/f")).unwrap();
    fs::rename(scene.path("tree"), scene.path("moved")).unwrap();
    assert_eq!(stamp(&scene.path("moved"), &LIMITS).unwrap(), before);
}

/// Two threads share the subdirectories, in an order that differs between runs.
#[test]
fn the_stamp_of_many_directories_is_stable() {
    let scene = TreeScene::new();
    for directory in 0..40 {
        scene.directory(&format!("d{directory}"));
        scene.directory(&format!("d{directory}/inner"));
        for file in 0..20 {
            scene.file(&format!("d{directory}/inner/{file}"), b"", 0o644);
        }
    }
    let before = scene.stamp();
    for _ in 0..50 {
        assert_eq!(scene.stamp(), before);
    }
    let limits = TreeLimits { entries_max: 880, bytes_max: 0, depth_max: 2 };
    assert_eq!(stamp(&scene.top, &limits).unwrap(), before);
    for _ in 0..20 {
        let error = stamp(&scene.top, &TreeLimits { entries_max: 879, ..limits }).unwrap_err();
        assert!(matches!(error, TreeError::TooManyEntries { .. }), "{error}");
    }
    let error = stamp(&scene.top, &TreeLimits { depth_max: 1, ..limits }).unwrap_err();
    let path = error.path();
    assert!(path.starts_with('d') && path.ends_with("/inner"), "{error}");
}

/// Prints the time for a tree of the size of a large environment; a bound would depend on the host.
#[test]
fn eight_thousand_entries_are_stamped() {
    let scene = TreeScene::new();
    scene.directory("tree");
    for directory in 0..100 {
        scene.directory(&format!("tree/{directory}"));
        for file in 0..79 {
            File::create(scene.path(&format!("tree/{directory}/{file}"))).unwrap();
        }
    }
    let before = scene.stamp();
    let begin = std::time::Instant::now();
    for _ in 0..10 {
        assert_eq!(scene.stamp(), before);
    }
    println!("8,000 entries: {} µs", begin.elapsed().as_micros() / 10);
}
