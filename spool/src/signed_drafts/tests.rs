//! Tests of the order in which a signed draft is placed, and of what stays after a failure.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use policies::SignatureFile;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

const ID: &str = "TR-20260209-160501Z-one";
const BYTES_MAX: u64 = 1000;

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

    fn check(&self, documents: &[CountedDocument]) -> Result<(), SpoolError> {
        self.approved.check_signed(&self.drafts, documents, BYTES_MAX)
    }

    fn take(&self, document: &CountedDocument, draft: &SignedDraft) -> Result<(), SpoolError> {
        self.approved.take_signed_draft(&self.drafts, document, draft, BYTES_MAX)
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
    scene.check(&documents).unwrap();
    scene.take(&documents[0], &draft).unwrap();
    let all = [format!("{ID}.inputs"), format!("{ID}.md"), format!("{ID}.md.action-0.sig")];
    assert_eq!(scene.names("approved"), all);
    assert_eq!(fs::read(scene.top.join(format!("approved/{ID}.md"))).unwrap(), b"filled");
    assert_eq!(scene.names("drafts"), Vec::<String>::new());
    assert!(scene.read().unwrap().is_none(), "it is not a draft any more");
}

/// Until the inputs have their name, an interrupted action can be taken again.
#[test]
fn an_interrupted_move_is_completed() {
    for has_copy in [false, true] {
        let scene = SignedDraftScene::new(&format!("interrupted-{has_copy}"));
        scene.draft();
        let documents = [counted()];
        let signature = &documents[0].signature;
        let path = scene.top.join(format!("approved/{}", signature.name));
        fs::write(path, &signature.bytes).unwrap();
        if has_copy {
            let copy = scene.top.join(format!("approved/.{ID}.inputs.draft"));
            fs::create_dir(&copy).unwrap();
            fs::write(copy.join("data"), "half").unwrap();
        }
        let draft = scene.read().unwrap().unwrap();
        scene.check(&documents).unwrap();
        scene.take(&documents[0], &draft).unwrap();
        assert_eq!(scene.names("approved").len(), 3);
        let data = scene.top.join(format!("approved/{ID}.inputs/data"));
        assert_eq!(fs::read_to_string(data).unwrap(), "x");
        assert_eq!(scene.names("drafts"), Vec::<String>::new());
    }
}

#[test]
fn inputs_of_the_name_are_left_and_so_is_the_draft() {
    let scene = SignedDraftScene::new("inputs");
    scene.draft();
    let draft = scene.read().unwrap().unwrap();
    fs::create_dir(scene.top.join(format!("approved/{ID}.inputs"))).unwrap();
    let documents = [counted()];
    assert!(scene.check(&documents).is_err());
    assert!(scene.take(&documents[0], &draft).is_err());
    assert_eq!(scene.names("approved"), [format!("{ID}.inputs")]);
    assert_eq!(scene.names("drafts"), [format!("{ID}.inputs"), format!("{ID}.md")]);
}

/// An agent can hold the lock of a file of its own, so none of them gets into `approved/`.
#[test]
fn inputs_are_copied_with_their_modes() {
    let scene = SignedDraftScene::new("copied");
    scene.draft();
    let (from, to) = (format!("drafts/{ID}.inputs/data"), format!("approved/{ID}.inputs/data"));
    let (from, to) = (scene.top.join(from), scene.top.join(to));
    fs::set_permissions(&from, fs::Permissions::from_mode(0o700)).unwrap();
    let original = fs::metadata(&from).unwrap().ino();
    let draft = scene.read().unwrap().unwrap();
    scene.take(&counted(), &draft).unwrap();
    let copy = fs::metadata(&to).unwrap();
    assert_ne!(copy.ino(), original);
    assert_eq!(copy.permissions().mode() & 0o777, 0o555);
    let directory = fs::metadata(to.parent().unwrap()).unwrap();
    assert_eq!(directory.permissions().mode() & 0o777, 0o750);
}

#[test]
fn inputs_that_cannot_be_copied_keep_the_draft() {
    let scene = SignedDraftScene::new("uncopied");
    scene.draft();
    let draft = scene.read().unwrap().unwrap();
    let inputs = scene.top.join(format!("drafts/{ID}.inputs"));
    fs::write(inputs.join("large"), vec![b'x'; 1000]).unwrap();
    assert!(scene.check(&[counted()]).is_err());
    assert!(scene.take(&counted(), &draft).is_err());
    fs::remove_file(inputs.join("large")).unwrap();
    mknodat(CWD, inputs.join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let error = scene.take(&counted(), &draft).unwrap_err().to_string();
    assert!(error.contains("a FIFO"), "{error}");
    assert_eq!(scene.names("approved"), Vec::<String>::new());
    assert_eq!(scene.names("drafts").len(), 2);
}

#[test]
fn another_file_of_the_name_is_left_and_so_is_the_draft() {
    let scene = SignedDraftScene::new("other");
    scene.draft();
    let draft = scene.read().unwrap().unwrap();
    let other = scene.top.join(format!("approved/{ID}.md"));
    fs::write(&other, "another").unwrap();
    let documents = [counted()];
    assert!(scene.check(&documents).is_err());
    assert!(scene.take(&documents[0], &draft).is_err());
    assert_eq!(scene.names("approved"), [format!("{ID}.md")]);
    assert_eq!(fs::read_to_string(other).unwrap(), "another");
    assert_eq!(scene.names("drafts"), [format!("{ID}.inputs"), format!("{ID}.md")]);
}

/// Nothing would claim the document there, and the draft would be lost.
#[test]
fn a_directory_that_was_replaced_gets_no_document() {
    for has_inputs in [false, true] {
        let scene = SignedDraftScene::new(&format!("replaced-{has_inputs}"));
        scene.draft();
        if !has_inputs {
            fs::remove_dir_all(scene.top.join(format!("drafts/{ID}.inputs"))).unwrap();
        }
        let (drafts, draft) = (scene.names("drafts"), scene.read().unwrap().unwrap());
        fs::rename(scene.top.join("approved"), scene.top.join("old")).unwrap();
        fs::create_dir(scene.top.join("approved")).unwrap();
        let error = scene.take(&counted(), &draft).unwrap_err();
        assert!(error.is_momentary(), "{error}");
        assert_eq!(scene.names("drafts"), drafts);
        assert_eq!(scene.names("approved"), Vec::<String>::new());
        assert!(!scene.names("old").contains(&format!("{ID}.md")));
    }
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
    scene.take(&counted(), &draft).unwrap();
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
    let taken = scene.take(&counted(), &draft);
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
