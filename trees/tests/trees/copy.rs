//! The copy of a tree: its digest is that of the copy, and nothing of another kind is copied.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare fails"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use trees::{LinkRule, TreeError, TreeLimits, TreeSummary};

use crate::scene::{LIMITS, TreeScene, copy, digest, while_it_grows};

/// A scene with the directories `from` and `to`.
fn scene() -> TreeScene {
    let scene = TreeScene::new();
    scene.directory("from");
    scene.directory("to");
    scene
}

fn copied(scene: &TreeScene, limits: &TreeLimits) -> Result<TreeSummary, TreeError> {
    copy(&scene.path("from"), &scene.path("to"), LinkRule::Inside, limits)
}

fn mode_of(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn modes_are_those_of_the_copy() {
    let scene = scene();
    scene.directory("from/d");
    scene.file("from/d/data", b"data", 0o600);
    scene.file("from/d/tool", b"tool", 0o710);
    scene.link("from/d/link", "data");
    scene.chmod("from/d", 0o700);
    let found = copied(&scene, &LIMITS).unwrap();
    assert_eq!(found, digest(&scene.path("from"), LinkRule::Inside, &LIMITS).unwrap());
    assert_eq!(found, digest(&scene.path("to"), LinkRule::Inside, &LIMITS).unwrap());
    assert_eq!(mode_of(&scene.path("to/d/data")), 0o444);
    assert_eq!(mode_of(&scene.path("to/d/tool")), 0o555);
    assert_eq!(mode_of(&scene.path("to/d")), 0o755);
    assert_eq!(fs::read_link(scene.path("to/d/link")).unwrap(), Path::new("data"));
    assert_eq!(fs::read(scene.path("to/d/tool")).unwrap(), b"tool");
}

/// The sizes around those of the buffer.
#[test]
fn files_of_all_sizes_are_copied() {
    let scene = scene();
    let chunk = 128 * 1024;
    for size in [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 7] {
        let bytes: Vec<u8> = (0..=250_u8).cycle().take(size).collect();
        scene.file(&format!("from/{size}"), &bytes, 0o644);
    }
    let found = copied(&scene, &LIMITS).unwrap();
    assert_eq!(found, digest(&scene.path("from"), LinkRule::Inside, &LIMITS).unwrap());
    for entry in fs::read_dir(scene.path("from")).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |top: &str| fs::read(scene.path(top).join(&name)).unwrap();
        assert_eq!(read("from"), read("to"), "{name:?}");
    }
}

/// Two threads divide each of these trees in another way.
#[test]
fn trees_of_all_shapes_are_copied() {
    let shapes: [&[&str]; 6] = [
        &[],
        &["a"],
        &["only", "only/inner", "only/inner/a", "only/inner/b"],
        &["only", "only/inner", "only/inner/more"],
        &["a", "b", "c", "c/inner", "c/other"],
        &["a", "a-b", "a.b", "a/z", "a-b/z"],
    ];
    for shape in shapes {
        let scene = scene();
        for directory in shape {
            scene.directory(&format!("from/{directory}"));
        }
        for directory in shape.iter().chain(&["."]) {
            for name in ["0", "Z", "f", "~"] {
                scene.file(&format!("from/{directory}/{name}"), name.as_bytes(), 0o644);
            }
        }
        let found = copied(&scene, &LIMITS).unwrap();
        assert_eq!(found, digest(&scene.path("from"), LinkRule::Inside, &LIMITS).unwrap());
        assert_eq!(found, digest(&scene.path("to"), LinkRule::Inside, &LIMITS).unwrap());
    }
}

fn check_refused(scene: &TreeScene, path: &str, reason: &str) {
    let error = copied(scene, &LIMITS).unwrap_err();
    assert_eq!(error.path(), path, "{error}");
    assert!(error.to_string().contains(reason), "{error}");
    let digested = digest(&scene.path("from"), LinkRule::Inside, &LIMITS).unwrap_err();
    assert_eq!(error.to_string(), digested.to_string());
}

fn scene_with_directory() -> TreeScene {
    let scene = scene();
    scene.directory("from/d");
    scene
}

#[test]
fn what_has_no_digest_is_refused() {
    let scene = scene_with_directory();
    let (fifo, mode) = (scene.path("from/d/fifo"), Mode::from_raw_mode(0o600));
    mknodat(CWD, fifo, FileType::Fifo, mode, 0).unwrap();
    check_refused(&scene, "d/fifo", "a FIFO cannot be part of a tree");

    let scene = scene_with_directory();
    let _listener = UnixListener::bind(scene.path("from/d/socket")).unwrap();
    check_refused(&scene, "d/socket", "a socket cannot be part of a tree");

    let scene = scene_with_directory();
    scene.file("from/d/tool", b"x", 0o755);
    scene.chmod("from/d/tool", 0o4755);
    check_refused(&scene, "d/tool", "a set-user-ID or set-group-ID bit");

    let scene = scene_with_directory();
    scene.file("from/d/a\nb", b"", 0o644);
    check_refused(&scene, "d/a\nb", "the name is not UTF-8 or has a control");

    for target in ["/etc/passwd", "../..", "d/.."] {
        let scene = scene_with_directory();
        scene.link("from/d/link", target);
        check_refused(&scene, "d/link", "may leave the tree");
        assert!(fs::symlink_metadata(scene.path("to/d/link")).is_err(), "{target}");
    }
}

/// Two threads find refused entries at the same time.
#[test]
fn the_first_refused_entry_is_reported() {
    for _ in 0..20 {
        let scene = scene();
        for directory in 10..40 {
            scene.directory(&format!("from/{directory}"));
            if directory >= 12 {
                scene.link(&format!("from/{directory}/link"), "/etc/passwd");
            }
        }
        // The other thread refuses the next directory meanwhile.
        for file in 0..50 {
            scene.file(&format!("from/12/{file}"), b"text", 0o644);
        }
        check_refused(&scene, "12/link", "may leave the tree");
    }
}

#[test]
fn a_root_keeps_its_links() {
    let scene = scene();
    scene.link("from/sh", "/bin/dash");
    let found = copy(&scene.path("from"), &scene.path("to"), LinkRule::Root, &LIMITS).unwrap();
    assert_eq!(found.links, 1);
    assert_eq!(fs::read_link(scene.path("to/sh")).unwrap(), Path::new("/bin/dash"));
}

#[test]
fn limits_are_exact() {
    let make = || {
        let scene = scene();
        scene.directory("from/d");
        scene.directory("from/d/e");
        scene.file("from/d/e/a", b"1234", 0o644);
        scene.file("from/d/e/b", b"5678", 0o644);
        scene
    };
    let limits = TreeLimits { entries_max: 4, bytes_max: 8, depth_max: 3 };
    assert_eq!(copied(&make(), &limits).unwrap().bytes, 8);
    let refused = |limits| copied(&make(), &limits).unwrap_err();
    let entries = refused(TreeLimits { entries_max: 3, ..limits });
    assert!(matches!(&entries, TreeError::TooManyEntries { path, .. } if path == "d/e"));
    let bytes = refused(TreeLimits { bytes_max: 7, ..limits });
    assert!(matches!(&bytes, TreeError::TooManyBytes { path, .. } if path.starts_with("d/e/")));
    let depth = refused(TreeLimits { depth_max: 2, ..limits });
    assert!(matches!(&depth, TreeError::TooDeep { path, .. } if path.starts_with("d/e/")));
}

/// Each kind of entry in the way of the copy, at the top and below.
#[test]
fn nothing_is_replaced() {
    type Obstacle = fn(&Path);
    let obstacles: [Obstacle; 4] = [
        |path| fs::write(path, b"old").unwrap(),
        |path| fs::create_dir(path).unwrap(),
        |path| symlink("/dev/null", path).unwrap(),
        |path| symlink("nowhere", path).unwrap(),
    ];
    for obstacle in obstacles {
        for (from, to) in [("file", "file"), ("d/file", "d"), ("link", "link")] {
            let scene = scene_with_directory();
            match from {
                "link" => scene.link("from/link", "d"),
                file => scene.file(&format!("from/{file}"), b"new", 0o644),
            }
            obstacle(&scene.path("to").join(to));
            let error = copied(&scene, &LIMITS).unwrap_err();
            assert_eq!(error.path(), to, "{error}");
            assert!(error.to_string().contains("create: File exists"), "{error}");
            assert!(fs::symlink_metadata(scene.path("to/nowhere")).is_err());
        }
    }
}

#[test]
fn a_file_that_grows_is_refused() {
    let scene = scene_with_directory();
    let error = while_it_grows(&scene.path("from/d/log"), || copied(&scene, &LIMITS)).unwrap_err();
    assert!(matches!(&error, TreeError::Changed { path } if path == "d/log"), "{error}");
}

/// The digest is that of the bytes in the copy, even if the original changed between two files.
#[test]
fn the_digest_is_that_of_the_copy() {
    let scene = scene();
    for file in 0..200 {
        scene.file(&format!("from/{file}"), b"old", 0o644);
    }
    let (stopped, (begun, is_begun)) = (AtomicBool::new(false), mpsc::channel());
    let paths: Vec<PathBuf> = (0..200).map(|file| scene.path(&format!("from/{file}"))).collect();
    let spare = scene.path("spare");
    thread::scope(|scope| {
        let stopped = &stopped;
        scope.spawn(move || {
            begun.send(()).unwrap();
            for path in paths.iter().cycle().take_while(|_| !stopped.load(Ordering::Relaxed)) {
                fs::write(&spare, b"another").unwrap();
                fs::rename(&spare, path).unwrap();
            }
        });
        is_begun.recv().unwrap();
        // A file that is replaced while it is read has a changed number of links.
        let found = copied(&scene, &LIMITS);
        stopped.store(true, Ordering::Relaxed);
        match found {
            Ok(found) => {
                let again = digest(&scene.path("to"), LinkRule::Inside, &LIMITS).unwrap();
                assert_eq!(found, again);
            }
            Err(error) => assert!(matches!(error, TreeError::Changed { .. }), "{error}"),
        }
    });
}

/// Prints the time for a folder of many small files; a bound would depend on the host.
#[test]
fn ten_thousand_files_are_copied() {
    let scene = scene();
    for directory in 0..100 {
        scene.directory(&format!("from/{directory}"));
        for file in 0..100 {
            let text = format!("{directory} {file}").repeat(100);
            scene.file(&format!("from/{directory}/{file}"), text.as_bytes(), 0o644);
        }
    }
    let begin = Instant::now();
    let found = copied(&scene, &LIMITS).unwrap();
    println!("10,000 files: {} ms", begin.elapsed().as_millis());
    assert_eq!(found.files, 10_000);
    assert_eq!(found, digest(&scene.path("from"), LinkRule::Inside, &LIMITS).unwrap());
}
