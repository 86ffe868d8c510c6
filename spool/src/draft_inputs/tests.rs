//! Tests of the copies that a killed daemon left.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// Copies of inputs, as a killed daemon leaves them.
const COPIES: [&str; 2] =
    [".TR-20260209-160501Z-one.inputs.draft", ".SA-20260209-160501Z-means.inputs.draft"];

/// Directories that no copy has made.
const OTHERS: [&str; 5] = [
    ".TR-20260209-160501Z-one.draft",
    ".TR-20260209-160501Z-one.inputs.new-0",
    ".upload.inputs.draft",
    "TR-20260209-160501Z-one.inputs",
    "TR-20260209-160501Z-one.inputs.draft",
];

#[test]
fn only_the_copies_of_a_killed_daemon_are_removed() {
    let top = std::env::temp_dir().join(format!("draft-copies-{}", std::process::id()));
    for name in COPIES.iter().chain(&OTHERS) {
        fs::create_dir_all(top.join(name).join("repo")).unwrap();
        fs::write(top.join(name).join("repo/half"), "x").unwrap();
    }
    let file = ".TR-20260209-160501Z-file.inputs.draft";
    fs::write(top.join(file), "x").unwrap();
    let link = ".TR-20260209-160501Z-link.inputs.draft";
    symlink("TR-20260209-160501Z-one.inputs", top.join(link)).unwrap();
    Inbox::open(&top).unwrap().remove_interrupted_copies();
    let is_left = |name: &str| fs::symlink_metadata(top.join(name)).is_ok();
    assert_eq!(COPIES.map(is_left), [false; 2]);
    assert_eq!(OTHERS.map(is_left), [true; 5]);
    assert!(is_left(file) && is_left(link));
    assert!(top.join("TR-20260209-160501Z-one.inputs/repo/half").exists());
    // Nothing is left to remove.
    Inbox::open(&top).unwrap().remove_interrupted_copies();
    assert_eq!(OTHERS.map(is_left), [true; 5]);
    fs::remove_dir_all(&top).unwrap();
}
