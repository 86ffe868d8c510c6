//! Every file with a signature's name is read or reported as unread: it may be a rejection.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail"
)]

use crate::scene;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use model::ClaimId;
use scene::SpoolScene;
use spool::SubmissionFiles;

const NAME: &str = "TR-20260209-160501Z-stage.md";

/// Returns the read files and the reports of the others. Claiming and submitting give the same.
fn beside(scene: &SpoolScene) -> (Vec<String>, Vec<String>) {
    let path = scene.top.join(NAME);
    fs::write(&path, "a request").unwrap();
    let spool = scene.spool();
    let (draft, claimed) = spool.claim_file(&path, None, ClaimId::from_random([7; 16])).unwrap();
    drop(draft);
    let submission = SubmissionFiles::read(&path, None).unwrap();
    assert_eq!(claimed.signatures(), submission.signatures());
    assert_eq!(claimed.unread_signatures(), submission.unread_signatures());
    let read = claimed.signatures().iter().map(|file| file.name.clone()).collect();
    let unread = claimed.unread_signatures().to_vec();
    spool.abandon(claimed);
    (read, unread)
}

fn at(scene: &SpoolScene, ending: &str) -> PathBuf {
    scene.top.join(format!("{NAME}{ending}"))
}

type Placing = fn(&SpoolScene, PathBuf);

#[test]
fn any_label_is_one() {
    let scene = SpoolScene::new();
    let endings = [".alice smith.sig", ".jos\u{e9}.sig", ".sig", ".\u{1f58b}.sig", "-bob.sig"];
    for ending in endings {
        fs::write(at(&scene, ending), ending).unwrap();
    }
    fs::write(at(&scene, &format!(".{}.sig", "a".repeat(200))), "long").unwrap();
    fs::write(at(&scene, ".sig.txt"), "none").unwrap();
    let (read, unread) = beside(&scene);
    assert_eq!(unread, [""; 0]);
    assert_eq!(read.len(), endings.len() + 1, "{read:?}");
}

#[test]
fn what_cannot_be_read_is_reported() {
    let odd: [(&str, Placing); 5] = [
        ("a hard link", |scene, path| {
            fs::write(scene.top.join("kept"), "a rejection").unwrap();
            fs::hard_link(scene.top.join("kept"), path).unwrap();
        }),
        ("a FIFO", |_, path| {
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("a directory", |_, path| fs::create_dir(path).unwrap()),
        ("symbolic link", |_, path| symlink("/dev/null", path).unwrap()),
        ("bytes", |_, path| {
            fs::write(path, vec![b'x'; policies::SIGNATURE_BYTES_MAX + 1]).unwrap();
        }),
    ];
    for (what, make) in odd {
        let scene = SpoolScene::new();
        make(&scene, at(&scene, ".reject.sig"));
        fs::write(at(&scene, ".sig"), "an approval").unwrap();
        let (read, unread) = beside(&scene);
        assert_eq!(read, [format!("{NAME}.sig")], "{what}");
        assert_eq!(unread.len(), 1, "{what}: {unread:?}");
        assert!(unread[0].contains("md.reject.sig") && unread[0].contains(what), "{unread:?}");
    }
}

#[test]
fn a_name_that_cannot_be_shown_is_reported() {
    for label in [&b"\xff"[..], b"a\nb", "a\u{200b}b".as_bytes()] {
        let scene = SpoolScene::new();
        let name = [NAME.as_bytes(), b".", label, b".sig"].concat();
        fs::write(scene.top.join(OsStr::from_bytes(&name)), "a rejection").unwrap();
        let (read, unread) = beside(&scene);
        assert!(read.is_empty() && unread.len() == 1, "{read:?} {unread:?}");
        assert!(!unread[0].contains(['\n', '\u{200b}']), "{unread:?}");
    }
}

#[test]
fn names_beyond_the_limit_are_reported_although_others_cannot_be_read() {
    let scene = SpoolScene::new();
    let fifo = at(&scene, ".00.sig");
    assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
    for number in 1..17 {
        fs::write(at(&scene, &format!(".{number:02}.sig")), "x").unwrap();
    }
    fs::write(at(&scene, ".reject.sig"), "a rejection").unwrap();
    let (_, unread) = beside(&scene);
    assert!(unread[0].contains("reject.sig") && unread[0].contains("18 signature files"));
    assert!(unread[1].contains(".00.sig"), "{unread:?}");
}
