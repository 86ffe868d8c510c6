//! Tests of the order in which a signed draft is placed, and of what stays after a failure.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use policies::SignatureFile;

use super::*;

const ID: &str = "TR-20260209-160501Z-one";

struct SignedDraftScene {
    top: PathBuf,
    drafts: Inbox,
    approved: Inbox,
}

impl Drop for SignedDraftScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl SignedDraftScene {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("signed-drafts-{name}-{}", std::process::id()));
        let open = |name: &str| {
            fs::create_dir_all(top.join(name)).unwrap();
            Inbox::open(&top.join(name)).unwrap()
        };
        let (drafts, approved) = (open("drafts"), open("approved"));
        Self { top, drafts, approved }
    }

    /// Adds a draft with an input.
    fn draft(&self) {
        fs::write(self.top.join(format!("drafts/{ID}.md")), "draft").unwrap();
        fs::create_dir(self.top.join(format!("drafts/{ID}.inputs"))).unwrap();
        fs::write(self.top.join(format!("drafts/{ID}.inputs/data")), "x").unwrap();
    }

    fn read(&self) -> Result<Option<SignedDraft>, SpoolError> {
        self.drafts.read_draft(&ID.parse().unwrap())
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.top.join(directory)).unwrap();
        let mut names: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn counted() -> CountedDocument {
    let name = format!("{ID}.md.action-0.sig");
    CountedDocument {
        target: ID.parse().unwrap(),
        bytes: b"filled".to_vec(),
        signature: SignatureFile { name, bytes: b"signature".to_vec() },
    }
}

#[test]
fn a_signed_draft_is_moved_whole_and_once() {
    let scene = SignedDraftScene::new("whole");
    scene.draft();
    let draft = scene.read().unwrap().unwrap();
    assert_eq!(draft.bytes, b"draft");
    let documents = [counted()];
    scene.approved.check_signed(&scene.drafts, &documents).unwrap();
    scene.approved.take_signed_draft(&scene.drafts, &documents[0], &draft).unwrap();
    let all = [format!("{ID}.inputs"), format!("{ID}.md"), format!("{ID}.md.action-0.sig")];
    assert_eq!(scene.names("approved"), all);
    assert_eq!(fs::read(scene.top.join(format!("approved/{ID}.md"))).unwrap(), b"filled");
    assert_eq!(scene.names("drafts"), Vec::<String>::new());
    assert!(scene.read().unwrap().is_none(), "it is not a draft any more");
}

/// After an interruption at any point, the same action ends in the same files.
#[test]
fn an_interrupted_move_is_completed() {
    for done in 0..3 {
        let scene = SignedDraftScene::new(&format!("interrupted-{done}"));
        scene.draft();
        let document = counted();
        let place = |name: &str, bytes: &[u8]| {
            fs::write(scene.top.join(format!("approved/{name}")), bytes).unwrap();
        };
        place(&document.signature.name, &document.signature.bytes);
        if done > 0 {
            let inputs = format!("{ID}.inputs");
            let (from, to) = (scene.top.join("drafts"), scene.top.join("approved"));
            fs::rename(from.join(&inputs), to.join(inputs)).unwrap();
        }
        if done > 1 {
            place(&format!("{ID}.md"), b"filled");
        }
        let draft = scene.read().unwrap().unwrap();
        let documents = [document];
        scene.approved.check_signed(&scene.drafts, &documents).unwrap();
        scene.approved.take_signed_draft(&scene.drafts, &documents[0], &draft).unwrap();
        assert_eq!(scene.names("approved").len(), 3);
        assert_eq!(scene.names("drafts"), Vec::<String>::new());
    }
}

#[test]
fn another_file_of_the_name_is_left_and_so_is_the_draft() {
    let scene = SignedDraftScene::new("other");
    scene.draft();
    let draft = scene.read().unwrap().unwrap();
    let other = scene.top.join(format!("approved/{ID}.md"));
    fs::write(&other, "another").unwrap();
    let documents = [counted()];
    assert!(scene.approved.check_signed(&scene.drafts, &documents).is_err());
    assert!(scene.approved.take_signed_draft(&scene.drafts, &documents[0], &draft).is_err());
    assert_eq!(scene.names("approved"), [format!("{ID}.md")]);
    assert_eq!(fs::read_to_string(other).unwrap(), "another");
    assert_eq!(scene.names("drafts"), [format!("{ID}.inputs"), format!("{ID}.md")]);
}

#[test]
fn a_draft_that_changed_after_it_was_read_stays() {
    let scene = SignedDraftScene::new("changed");
    scene.draft();
    let draft = scene.read().unwrap().unwrap();
    let path = scene.top.join(format!("drafts/{ID}.md"));
    fs::remove_file(&path).unwrap();
    fs::write(scene.top.join("another"), "").unwrap();
    fs::write(&path, "a new draft").unwrap();
    scene.approved.take_signed_draft(&scene.drafts, &counted(), &draft).unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), "a new draft");
    assert_eq!(fs::read(scene.top.join(format!("approved/{ID}.md"))).unwrap(), b"filled");
}

/// The request may run, so the answer must not say that the action was refused. The superuser could
/// remove the draft.
#[test]
fn a_draft_that_cannot_be_removed_was_still_taken() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let scene = SignedDraftScene::new("unremovable");
    let drafts = scene.top.join("drafts");
    fs::write(drafts.join(format!("{ID}.md")), "draft").unwrap();
    let draft = scene.read().unwrap().unwrap();
    fs::set_permissions(&drafts, fs::Permissions::from_mode(0o555)).unwrap();
    let taken = scene.approved.take_signed_draft(&scene.drafts, &counted(), &draft);
    fs::set_permissions(&drafts, fs::Permissions::from_mode(0o755)).unwrap();
    taken.unwrap();
    assert_eq!(scene.names("drafts"), [format!("{ID}.md")]);
    assert_eq!(fs::read(scene.top.join(format!("approved/{ID}.md"))).unwrap(), b"filled");
}

#[test]
fn no_link_and_no_odd_object_is_a_draft() {
    let scene = SignedDraftScene::new("odd");
    let path = scene.top.join(format!("drafts/{ID}.md"));
    fs::write(scene.top.join("secret"), "x").unwrap();
    symlink(scene.top.join("secret"), &path).unwrap();
    assert!(scene.read().is_err());
    fs::remove_file(&path).unwrap();
    fs::hard_link(scene.top.join("secret"), &path).unwrap();
    assert!(scene.read().is_err());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(scene.read().is_err());
    fs::remove_dir(&path).unwrap();
    fs::write(&path, vec![b'x'; REQUEST_BYTES_MAX + 1]).unwrap();
    assert!(scene.read().is_err());
}
