//! Trees that have no digest: each is refused with the path and the reason.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare fails")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use trees::{LinkRule, TreeError, TreeLimits, digest_content};

use crate::scene::{LIMITS, TreeScene, digest, while_it_grows};

/// Checks that a tree is refused with a message that begins and continues so.
fn check_refused(scene: &TreeScene, path: &str, reason: &str) {
    let error = scene.digest().unwrap_err();
    let message = error.to_string();
    assert_eq!(error.path(), path, "{message}");
    assert!(message.contains(reason) && message.contains("; help: "), "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
}

fn scene_with_directory() -> TreeScene {
    let scene = TreeScene::new();
    scene.directory("d");
    scene
}

#[test]
fn other_kinds_are_refused() {
    let scene = scene_with_directory();
    mknodat(CWD, scene.path("d/fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    check_refused(&scene, "d/fifo", "a FIFO cannot be part of a tree");

    let scene = scene_with_directory();
    let _listener = UnixListener::bind(scene.path("d/socket")).unwrap();
    check_refused(&scene, "d/socket", "a socket cannot be part of a tree");

    let scene = scene_with_directory();
    let (path, mode) = (scene.path("d/null"), Mode::from_raw_mode(0o600));
    match mknodat(CWD, path, FileType::CharacterDevice, mode, makedev(1, 3)) {
        Ok(()) => check_refused(&scene, "d/null", "a device cannot be part of a tree"),
        Err(errno) => println!("SKIPPED refused::other_kinds_are_refused: a device: {errno}"),
    }
}

#[test]
fn set_id_bits_of_files_are_refused() {
    for mode in [0o4755, 0o2755, 0o4644, 0o6600] {
        let scene = scene_with_directory();
        scene.file("d/tool", b"x", 0o755);
        scene.chmod("d/tool", mode);
        check_refused(&scene, "d/tool", "a set-user-ID or set-group-ID bit");
    }
}

#[test]
fn names_that_break_a_line_are_refused() {
    for name in ["a\nb", "a\tb", "\u{1}", "a\u{7f}", "a\u{85}b", "\u{9b}1m"] {
        let scene = scene_with_directory();
        scene.file(&format!("d/{name}"), b"", 0o644);
        check_refused(&scene, &format!("d/{name}"), "the name is not UTF-8 or has a control");
        let scene = scene_with_directory();
        scene.link("d/link", name);
        check_refused(&scene, "d/link", "the link's target is not UTF-8 or has a control");
    }
    let raw = OsStr::from_bytes(b"a\xffb");
    let scene = scene_with_directory();
    match File::create(scene.path("d").join(raw)) {
        Ok(_) => check_refused(&scene, "d/a\u{fffd}b", "the name is not UTF-8"),
        Err(error) => println!("SKIPPED refused::names_that_break_a_line_are_refused: {error}"),
    }
    let scene = scene_with_directory();
    symlink(raw, scene.path("d/link")).unwrap();
    check_refused(&scene, "d/link", "the link's target is not UTF-8");
}

#[test]
fn links_that_may_leave_are_refused() {
    for target in ["/etc/passwd", "../..", "../../x", "d/..", "../d/../.."] {
        let scene = scene_with_directory();
        scene.link("d/link", target);
        check_refused(&scene, "d/link", &format!("the link to `{target}` may leave the tree"));
        assert_eq!(digest(&scene.top, LinkRule::Root, &LIMITS).unwrap().links, 1);
    }
}

/// A tool sees only `tree/` of an environment.
#[test]
fn links_out_of_an_environment_are_refused() {
    let scene = TreeScene::new();
    scene.directory("tree");
    scene.directory("tree/bin");
    scene.link("tree/bin/up", "../lib");
    let content = |rule| {
        let top = File::open(&scene.top).unwrap();
        digest_content(top.as_fd(), rule, &LIMITS, &mut |_| {})
    };
    assert_eq!(content(LinkRule::Inside).unwrap(), scene.digest().unwrap());
    scene.link("tree/out", "../environment.json");
    let error = content(LinkRule::Inside).unwrap_err();
    assert!(matches!(&error, TreeError::LinkLeaves { path, .. } if path == "tree/out"), "{error}");
    assert_eq!(content(LinkRule::Root).unwrap(), scene.digest().unwrap());
}

#[test]
fn limits_are_exact() {
    let scene = TreeScene::new();
    scene.directory("d");
    scene.directory("d/e");
    scene.file("d/e/a", b"1234", 0o644);
    scene.file("d/e/b", b"5678", 0o644);
    let limits = TreeLimits { entries_max: 4, bytes_max: 8, depth_max: 3 };
    assert_eq!(digest(&scene.top, LinkRule::Inside, &limits).unwrap().bytes, 8);
    let refused = |limits| digest(&scene.top, LinkRule::Inside, &limits).unwrap_err();
    let entries = refused(TreeLimits { entries_max: 3, ..limits });
    assert!(matches!(&entries, TreeError::TooManyEntries { path, .. } if path == "d/e"));
    let bytes = refused(TreeLimits { bytes_max: 7, ..limits });
    assert!(matches!(&bytes, TreeError::TooManyBytes { path, .. } if path == "d/e/b"));
    let depth = refused(TreeLimits { depth_max: 2, ..limits });
    assert!(matches!(&depth, TreeError::TooDeep { path, .. } if path == "d/e/a"));
    for error in [entries, bytes, depth] {
        assert!(error.to_string().contains("; help: "), "{error}");
    }
}

/// The kernel bounds a path, not a tree.
#[test]
fn depth_is_bounded_by_the_crate() {
    let scene = TreeScene::new();
    let path = ["d"; 300].join("/");
    fs::create_dir_all(scene.path(&path)).unwrap();
    let limits = TreeLimits { depth_max: u32::MAX, ..LIMITS };
    let error = digest(&scene.top, LinkRule::Inside, &limits).unwrap_err();
    assert!(matches!(error, TreeError::TooDeep { depth_max: 256, .. }), "{error}");
}

#[test]
fn a_file_that_grows_while_it_is_read_is_refused() {
    let scene = scene_with_directory();
    let error = while_it_grows(&scene.path("d/log"), || scene.digest()).unwrap_err();
    assert!(matches!(&error, TreeError::Changed { path } if path == "d/log"), "{error}");
}

#[test]
fn an_unreadable_file_is_named() {
    let scene = scene_with_directory();
    scene.file("d/secret", b"x", 0o000);
    if rustix::process::geteuid().is_root() {
        println!("SKIPPED refused::an_unreadable_file_is_named: root reads all files");
        return;
    }
    let error = scene.digest().unwrap_err();
    assert!(error.to_string().starts_with("d/secret: open: "), "{error}");
}
